#include "apps/select_writers.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr::app {

void write_assignment_csv(std::ostream& out, const SelectResult& result, const WriteStyle& style) {
  const std::vector<Pick> picks = picks_of(result);
  const bool ids = !result.data.ids.empty();
  const std::vector<Index> assignment = assignment_of(result);
  out << "index" << (ids ? ",id" : "") << ",position,exemplar\n";
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    out << i;
    if (ids) out << ',' << csv_field(result.data.ids[i], style.quote_formulas);
    const Index position = assignment[i];
    const Index exemplar = position < 0 ? -1 : picks[static_cast<std::size_t>(position)].index;
    out << ',' << position << ',' << exemplar << '\n';
  }
}

}  // namespace fwsr::app
