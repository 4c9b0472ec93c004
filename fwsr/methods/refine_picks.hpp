// Exchange behind a method's choice.
#pragma once

#include "fwsr/methods/task.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr {

/// Whether it works on vectors: two inner products with every exemplar a visit, and d x d numbers; else by products with
/// the kernel.
inline bool exchanges_in_set(bool linear, bool sparse, double d, double n) {
  return linear && !sparse && d <= n;
}

/// Exemplars, strength and, where the method has codes, codes are those after it: codes of least squares with a ridge.
/// `prepared`: what the task is of.
void refine_picks(const Task& task, const PreparedProblem& prepared, const SelectOptions& options,
                  Picks& picks);

}  // namespace fwsr
