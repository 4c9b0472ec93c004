// What a run of a method takes, before it is begun.
#pragma once

#include "fwsr/methods/method.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// As make_plan (solver/planner.hpp), for a method that is not the solver. Throws MemoryError when the memory
/// that may be used is not enough.
Plan plan_method(const Method& method, const Settings& settings, const PlanFacts& facts,
                 const SelectOptions& options);

/// Options with what the plan settled for these points, where the method leaves something to them.
SelectOptions as_planned(const Method& method, SelectOptions options, const Plan& plan);

}  // namespace fwsr
