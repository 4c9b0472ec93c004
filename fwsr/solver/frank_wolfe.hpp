// Algorithm 1 of the paper, over any Form.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// What the loop needs to know, in the form's own (scaled) units.
struct RunOptions {
  Index exemplars = 0;  // k
  double beta = 0;      // infinity: the matching-pursuit limit
  double delta = 0;     // the gap is closed when gap <= delta
  WhenConverged when_converged = WhenConverged::grow;
  Index max_iterations = 0;
};

struct Run {
  std::vector<Index> exemplars;  // non-zero rows of X, in the order of choosing
  std::vector<Step> trace;
  Status status = Status::interrupted;
  double f_at_zero = 0;
  double beta = 0;  // at the end
};

/// One step of exact line search from X towards S (paper section 4.1.4).
struct Move {
  double gap = 0;        // 2 <S - X, P>
  double curvature = 0;  // ||A (S - X)||^2
  double gamma = 0;      // line 15
  double length = 0;     // gamma beta
};
Move exact_step(const Probe& probe, double beta);

/// Runs until k rows of X are non-zero, or as `Status` says. `observer` may be empty.
Run frank_wolfe(Form& form, const RunOptions& options, const Observer& observer);

}  // namespace fwsr
