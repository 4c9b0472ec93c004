// One selection on some of the points, and its parts: what every front door (all points, class by
// class, many settings) is made of.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/kernel/kernel.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// `subset` chooses points by index; empty means all. Indices in the result refer to all points,
/// except `assignment` and `codes`, which follow the subset. @pre find_problem found none
Selection select_points(const PointsView& view, std::span<const Index> subset,
                        const SelectOptions& given, const Plan& plan, const Observer& observer);

/// The same on points that `prepare` has made ready, wherever they live.
Selection run_prepared(const std::function<PreparedProblem(const KeepGoing&)>& prepare,
                       const SelectOptions& options, const Plan& plan, const Observer& observer);

/// Of points that are on a card already. Throws Error for a view of none.
PlanFacts facts_of(const DeviceView& points, int threads);
/// The same options, for the card that the points are on. Throws OptionError.
SelectOptions on_card_of(const DeviceView& points, SelectOptions options);
/// @pre `plan` was made for these points and options
Selection select_planned_on_card(const DeviceView& points, const SelectOptions& options,
                                 const Plan& plan, const Observer& observer);

/// How one problem is planned and solved: by make_plan and select_points, or by another method.
struct Chooser {
  std::function<Plan(const PlanFacts& facts, const SelectOptions& options)> plan;
  std::function<Selection(const PointsView& view, std::span<const Index> subset,
                          const SelectOptions& options, const Plan& plan, const Observer& observer)>
      run;
};
/// plan_per_class and select_per_class (select.hpp), by any method.
std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const Chooser& chooser);
std::vector<ClassSelection> select_per_class(const PointsView& points,
                                             const std::vector<ClassPlan>& plans,
                                             const SelectOptions& options, const Chooser& chooser,
                                             const Observer& observer);

/// Points of `subset` by their number among all points. An empty subset is all of them.
void to_global_indices(std::span<const Index> subset, Selection& result);

}  // namespace fwsr
