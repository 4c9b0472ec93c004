// The methods by name, and a selection by any of them: the front door for people who compare.
#pragma once

#include <string>
#include <vector>

#include "fwsr/methods/method.hpp"
#include "fwsr/methods/request.hpp"
#include "fwsr/methods/settings.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {

/// That of people who give only k: of the command line, and of Python's functions.
inline constexpr const char* default_method = "exchange";

/// All methods, in the order of lists.
const std::vector<Method>& methods();
/// Throws Error, with the names there are, when there is none.
const Method& find_method(std::string_view name);

/// As select, plan, plan_per_class and select_per_class (solver/select.hpp), by any method: a Request, its plan, its run.
Selection select(const PointsView& points, const SelectOptions& options, const MethodChoice& choice,
                 const Observer& observer = {});
Plan plan(const PointsView& points, const SelectOptions& options, const MethodChoice& choice);
std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const MethodChoice& choice);
std::vector<ClassSelection> select_per_class(const PointsView& points, const Labels& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const MethodChoice& choice,
                                             const Observer& observer = {});

}  // namespace fwsr
