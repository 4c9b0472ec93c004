// How long a plan takes: its operations by what limits them, at the rates of this processor.
#pragma once

#include <string>
#include <vector>

#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr {

/// Fills in the operations of a plan that make_plan chose.
void count_operations(const PlanFacts& facts, const SelectOptions& options, Plan& plan);

/// Beyond this many seconds people are told before a run begins.
inline constexpr double long_run = 60;

/// "0.012 s", "3.4 s", "2 minutes", "9 days": two digits, as becomes an estimate.
std::string words_for_seconds(double seconds);

/// How long the plan takes, and which rank would do in how long where the kernel is what takes the time; empty where it
/// is not longer than `long_run`.
std::string warning_of_long_run(const PlanFacts& facts, const SelectOptions& options,
                                const Plan& plan);
/// Of all classes, or settings, together.
std::string warning_of_long_run(const std::vector<ClassPlan>& plans, int threads);
std::string warning_of_long_run(const SweepPlan& plan);

}  // namespace fwsr
