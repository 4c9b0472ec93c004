// The answer of `fwsr sweep`: a selection for every setting, and the table that sets them side by
// side.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "apps/output.hpp"
#include "apps/select_result.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr::app {

struct SweepResult {
  const Dataset& data;
  const SelectOptions& options;
  std::string exemplars;  // -k as given
  bool per_class = false;
  std::vector<NumberOrAuto> alphas;      // as given; empty for the default
  std::vector<double> etas;              // the same
  std::deque<SelectOptions> options_of;  // of every setting
  std::vector<SelectResult> settings;    // in the order of the library
  Seconds seconds;
  int threads = 1;
};

/// One line of the table.
struct SweepRow {
  NumberOrAuto alpha;
  double eta = 0;
  Status status = Status::interrupted;
  Index exemplars = 0, steps = 0;
  double f = 0, f_at_zero = 0, gap = 0;  // of classes the sum
  std::optional<double> error;           // reconstruction error; of classes the largest
  double seconds = 0;
};
std::vector<SweepRow> rows_of_sweep(const SweepResult& result);

/// The row with the smallest reconstruction error, the first of equal ones.
std::optional<std::size_t> best_of(const std::vector<SweepRow>& rows);

/// One line per setting for a person to read, the best one marked.
std::string sweep_table(const SweepResult& result);
/// The same as CSV, with the picks.
void write_sweep_csv(std::ostream& out, const SweepResult& result);
/// Everything, every selection included.
Json sweep_json(const SweepResult& result);

/// What the user should know, each thing once however many settings say it.
std::string sweep_warnings(const SweepResult& result, bool colour);

/// What the sweep would do.
std::string sweep_plan_text(const SweepPlan& plan);
Json sweep_plan_json(const SweepPlan& plan);
Json sweep_asked_json(const SweepResult& result);

}  // namespace fwsr::app
