#include <fmt/format.h>

#include "apps/select_writers.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr::app {

void write_picks_csv(std::ostream& out, const SelectResult& result, const WriteStyle& style) {
  const bool ids = !result.data.ids.empty(), classes = !result.data.labels.empty();
  const bool filled = shows_filled(result), included = shows_included(result);
  const bool defuse = style.quote_formulas;
  out << "rank,index" << (ids ? ",id" : "") << (classes ? ",class" : "") << ",weight,strength"
      << (filled ? ",filled" : "") << (included ? ",included" : "") << '\n';
  for (const Pick& pick : picks_of(result)) {
    const auto point = static_cast<std::size_t>(pick.index);
    out << fmt::format("{},{}", pick.rank, pick.index);
    if (ids) out << ',' << csv_field(result.data.ids[point], defuse);
    if (classes) out << ',' << csv_field(result.data.labels[point], defuse);
    out << fmt::format(",{},{}", pick.weight, pick.strength);
    if (filled) out << ',' << (pick.filled ? "yes" : "no");
    if (included) out << ',' << (pick.included ? "yes" : "no");
    out << '\n';
  }
}

}  // namespace fwsr::app
