#include "fwsr/solver/check_record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"

namespace fwsr {

namespace {

/// Exemplars that are no points would be read out of bounds.
void refuse_other_rows(const std::vector<Index>& rows, Index n) {
  for (const Index i : rows)
    if (i < 0 || i >= n) throw Error(fmt::format("it names point {}, of {}", i, n));
}

void refuse_repeated(std::vector<Index> rows) {
  std::sort(rows.begin(), rows.end());
  if (const auto twice = std::adjacent_find(rows.begin(), rows.end()); twice != rows.end())
    throw Error(fmt::format("it names point {} twice", *twice));
}

}  // namespace

void check_record(const RunRecord& record, Index n) {
  for (const RecordedStep& step : record.steps) refuse_other_rows({step.pick}, n);
  if (!record.exchange) return;
  const RecordedExchange& e = *record.exchange;
  for (const auto* rows : {&e.exemplars, &e.exemplars_of_exchange, &e.refused})
    refuse_other_rows(*rows, n);
  for (const auto* rows : {&e.exemplars, &e.exemplars_of_exchange}) refuse_repeated(*rows);
}

}  // namespace fwsr
