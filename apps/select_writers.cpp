#include "apps/select_writers.hpp"

#include "apps/result_json.hpp"

namespace fwsr::app {

const Writers<SelectResult>& select_writers() {
  static const Writers<SelectResult> table = {{{".csv", "CSV"}, write_picks_csv},
                                              {{".json", "JSON"}, write_picks_json}};
  return table;
}

const Writers<SelectResult>& codes_writers() {
  static const Writers<SelectResult> table = {{{".npy", "npy"}, write_codes_npy}};
  return table;
}

const Writers<SelectResult>& assignment_writers() {
  static const Writers<SelectResult> table = {{{".npy", "npy"}, write_assignment_npy},
                                              {{".csv", "CSV"}, write_assignment_csv}};
  return table;
}

void write_picks_json(std::ostream& out, const SelectResult& result, const WriteStyle&) {
  write_json(out, result_json(result));
}

}  // namespace fwsr::app
