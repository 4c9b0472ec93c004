// The methods by name, and a selection by any of them: the front door for people who compare.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fwsr/methods/method.hpp"
#include "fwsr/methods/settings.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {

/// All methods, in the order of lists.
const std::vector<Method>& methods();
/// Throws Error, with the names there are, when there is none.
const Method& find_method(std::string_view name);

/// Which method, and how.
struct MethodChoice {
  std::string name = "fwsr";
  std::map<std::string, std::string> settings = {};  // of its knobs, as text: "12", "yes", "lab"
  std::uint64_t seed = 0;                            // of methods that draw at random
};

/// As select, plan, plan_per_class and select_per_class (solver/select.hpp), by any method.
Selection select(const PointsView& points, const SelectOptions& options, const MethodChoice& choice,
                 const Observer& observer = {});
Plan plan(const PointsView& points, const SelectOptions& options, const MethodChoice& choice);
/// A sentence for people who begin a run that takes longer than a minute: how long, and what would take less. Empty: it
/// does not.
std::string warning_of_long_run(const PointsView& points, const SelectOptions& options,
                                const MethodChoice& choice);
std::vector<ClassPlan> plan_per_class(const PointsView& points,
                                      const std::vector<std::string>& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const MethodChoice& choice);
std::vector<ClassSelection> select_per_class(
    const PointsView& points, const std::vector<std::string>& labels, const ClassCounts& counts,
    const SelectOptions& options, const MethodChoice& choice, const Observer& observer = {});

}  // namespace fwsr
