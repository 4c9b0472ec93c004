// Exchange behind a method's choice.
#pragma once

#include <optional>

#include "fwsr/methods/task.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr {

/// Whether it works on vectors: two inner products with every exemplar a visit, and d x d numbers; else by products with
/// the kernel.
inline bool exchanges_in_set(bool linear, bool sparse, double d, double n) {
  return linear && !sparse && d <= n;
}

/// Exemplars are those after it, in `picks` too; strengths and assignment go. `prepared`: what the task is of. None: there
/// was nothing to exchange, or it was interrupted before it began.
std::optional<Exchanged> refine_picks(const Task& task, const PreparedProblem& prepared,
                                      const SelectOptions& options, const WatchExchange& watch,
                                      Picks& picks);
/// Where the method has codes, those after exchange: of least squares with a ridge.
void replace_codes(const Task& task, const Exchanged& found, Picks& picks);

}  // namespace fwsr
