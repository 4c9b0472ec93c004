// Exchange behind a run or another method's choice, where it was asked for (exchange.hpp).
#pragma once

#include <memory>
#include <optional>

#include "fwsr/base/blocks.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/run_products.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/time_limit.hpp"

namespace fwsr {

/// What was asked for, in the kernel's units.
ExchangeOptions exchange_options(const SelectOptions& o, const ExchangePoints& points, bool single);
/// What is told of it, in the user's units.
Refinement refinement_of(const Exchanged& found, double unit);

/// Where exemplars move afterwards; null: that was not asked for.
std::unique_ptr<MiddlePoints> middle_for(const SelectOptions& o, const PreparedProblem& prepared,
                                         int threads, const KeepGoing& keep_going);

/// What it takes, before it is begun: beside what the run takes, which ends before it begins.
struct RefineCost {
  double bytes = 0, per_thread = 0;
  Operations work = {};
  double passes = 0;  // over the points themselves, about
};
/// @pre exchange was asked for. `in_set`: of vectors of d numbers, not by products with a kernel.
RefineCost refine_cost(const PlanFacts& facts, const SelectOptions& options, bool in_set,
                       KernelBy kernel_by);

/// Nothing where it was not asked for, where there is nothing to exchange, or where no time is left. Else exemplars, radius,
/// status and what outlives the form are those after it: X is then the codes of least squares with a ridge, M K_T. A run
/// that ended because its exemplars leave no more than `until_error` unexplained ends with such exemplars. `limit`: one
/// that `keep_going` knows, which is to count while exemplars are exchanged.
std::optional<Exchanged> refine_run(Run& run, RunProducts& products,
                                    const PreparedProblem& prepared, const SelectOptions& options,
                                    int threads, const KeepGoing& keep_going,
                                    const WatchExchange& watch = {}, TimeLimit* limit = nullptr);

}  // namespace fwsr
