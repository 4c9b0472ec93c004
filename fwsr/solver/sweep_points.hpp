// A sweep on some of the points: what its front doors (all points, class by class) call.
#pragma once

#include <functional>
#include <memory>

#include <optional>
#include <span>
#include <vector>

#include "fwsr/prep/preprocessing.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr {

/// Throws Error for lists that make no sense, and for options that a sweep sets itself.
Grid make_grid(const SelectOptions& options, const std::vector<NumberOrAuto>& alphas,
               const std::vector<double>& etas);

/// Throws OptionError when some setting does not suit n points of d features.
void refuse_settings(const SelectOptions& options, const Grid& grid, Index n, Index d);

/// `each` is the plan of one setting; so many sweeps run `side_by_side`. Throws MemoryError when what
/// was asked for of every setting does not fit.
SweepPlan plan_settings(const Plan& each, const SelectOptions& options, const Grid& grid,
                        int side_by_side);

/// The options of one setting.
SelectOptions options_of(const SelectOptions& options, const NumberOrAuto& alpha, double eta);

/// What all settings share that run together, and what those of one eta do; forms ask one at a time.
class SweepSetUp {
 public:
  virtual ~SweepSetUp() = default;
  /// The points without eta: one pass over them serves all settings.
  virtual PointSet& plain() = 0;
  /// Points and kernel of one eta; their C and r come from those without.
  virtual std::unique_ptr<PreparedProblem> prepare(double eta) = 0;
};
using MakeSetUp = std::function<std::unique_ptr<SweepSetUp>(const KeepGoing& keep_going)>;
Preprocessing without_eta(const SelectOptions& options);
std::vector<SweepEntry> sweep_together(const MakeSetUp& make, const SelectOptions& options,
                                       const SweepPlan& plan, const Grid& grid,
                                       const Observer& observer);

/// Settings one after the other, those of one eta on one problem.
using PrepareFor = std::function<PreparedProblem(const SelectOptions& of_one_eta, const Plan& plan,
                                                 const KeepGoing& keep_going)>;
std::vector<SweepEntry> sweep_one_by_one(const PrepareFor& prepare, const SelectOptions& options,
                                         const SweepPlan& plan, const Grid& grid,
                                         const Observer& observer);

/// `subset` as in select_points.
std::vector<SweepEntry> sweep_points(const PointsView& view, std::span<const Index> subset,
                                     const SelectOptions& options, const SweepPlan& plan,
                                     const Observer& observer);

}  // namespace fwsr
