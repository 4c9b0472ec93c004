// The answer of `fwsr sweep`: a selection for every setting, and the table that sets them side by
// side.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "apps/result_json.hpp"
#include "apps/select_result.hpp"
#include "apps/writers.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr::app {

struct SweepResult {
  const Dataset& data;
  const SelectOptions& options;
  ExemplarCount count;  // -k
  bool per_class = false;
  std::vector<NumberOrAuto> alphas;    // as given; empty for the default
  std::vector<double> etas;            // the same
  std::deque<Request> requests;        // of every setting
  std::vector<SelectResult> settings;  // in the order of the library
  Seconds seconds;
  int threads = 1;
};

/// What is to be run: of all points, or of every class.
struct SweepPlans {
  SweepPlan all = {};
  std::vector<ClassSweepPlan> classes = {};
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
/// As result_fields.hpp does for a run: the columns of the CSV, and of JSON the keys beside those of a selection.
template <MaybeConst<SweepRow> Given, class Visit>
void describe(Given& r, Visit&& visit) {
  visit("alpha", r.alpha, "a number or auto");
  visit("eta", r.eta, "as given");
  visit("status", r.status, "exemplars_reached, or of classes the first that is not");
  visit("exemplars", r.exemplars, "how many");
  visit("steps", r.steps, "how many steps it took");
  visit("f", r.f, "the objective; of classes their sum");
  visit("f_at_zero", r.f_at_zero, "the objective for X = 0; of classes their sum");
  visit("gap", r.gap, "the gap; of classes their sum");
  visit("reconstruction_error", r.error, "of classes the largest");
}
std::vector<SweepRow> rows_of_sweep(const SweepResult& result);

/// The row with the smallest reconstruction error, the first of equal ones.
std::optional<std::size_t> best_of(const std::vector<SweepRow>& rows);

/// One line per setting for a person to read, the best one marked.
std::string sweep_table(const SweepResult& result);
/// To a file: the same as CSV, with the picks, or everything as JSON, every selection included.
const Writers<SweepResult>& sweep_writers();

/// What the user should know, each thing once however many settings say it.
std::string sweep_warnings(const SweepResult& result, bool colour);

/// What the sweep would do.
std::string sweep_plan_text(const SweepPlan& plan);
Json sweep_plan_json(const SweepPlan& plan);
Json sweep_asked_json(const SweepResult& result);

}  // namespace fwsr::app
