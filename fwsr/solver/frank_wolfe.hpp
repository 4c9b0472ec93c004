// Algorithm 1 of the paper, over any Form.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/open_rows.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/recorder.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// What the loop needs to know, in the form's own (scaled) units.
struct RunOptions {
  Index exemplars = 0;  // k
  double beta = 0;      // infinity: the matching-pursuit limit
  double delta = 0;     // the gap is closed when gap <= delta
  WhenConverged when_converged = WhenConverged::grow;
  Index max_iterations = 0;
  OpenRows open = {};                                          // who may be picked
  std::function<bool(const std::vector<Index>&)> enough = {};  // whether these exemplars do
  std::optional<Clock::time_point> deadline = {};  // no step is begun after it, but the first
  Recorder* recorder = nullptr;
};

struct Run {
  std::vector<Index> exemplars;  // non-zero rows of X, in the order of choosing
  std::vector<Step> trace;
  Status status = Status::interrupted;
  double f_at_zero = 0;
  double beta = 0;                                 // at the end
  std::optional<Clock::time_point> deadline = {};  // of the options
};

/// The loop of Algorithm 1, resumable at the step itself: whoever drives it lets the form take the
/// step, alone or together with the forms of other runs.
///
///   while (const auto next = loop.next()) {
///     form.step(next->pick, next->gamma, next->length);
///     loop.record_step();
///   }
class FrankWolfe {
 public:
  /// `form` stays the caller's.
  FrankWolfe(Form& form, const RunOptions& options);

  struct Next {
    Pick pick;
    double gamma = 0, length = 0;
  };
  /// Lines 9 to 15: the step to take, or nothing when the run has ended. `known`: who will be picked.
  std::optional<Next> next(const RecordedStep* known = nullptr);
  /// Books the step that next() answered. @pre the form has taken it
  Progress record_step();

  bool ended() const { return ended_; }
  void interrupt() { end(Status::interrupted); }
  /// How far it has come.
  const Run& run() const { return run_; }

 private:
  std::optional<Next> end(Status status);
  std::optional<Status> ended_by_conditions(bool recalling);
  void tell_form(double closed);

  Form& form_;
  RunOptions options_;
  bool pursuit_, grow_;
  Run run_;
  Index idle_ = 0;  // steps in a row without a new exemplar
  Pick pick_;       // of the step under way, and what was found for it
  double score_ = 0;
  Move move_;
  bool ended_ = false;
};

/// Runs until k rows of X are non-zero, or as `Status` says. `observer` may be empty.
Run frank_wolfe(Form& form, const RunOptions& options, const Observer& observer);

}  // namespace fwsr
