#include "fwsr/methods/methods.hpp"

#include <fmt/format.h>

#include "fwsr/base/result.hpp"

namespace fwsr {

#define METHOD(name) Method name##_method();
#include "fwsr/methods/table.def"
#undef METHOD

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
#define METHOD(name) name##_method(),
#include "fwsr/methods/table.def"
#undef METHOD
  };
  return table;
}

const Method& find_method(std::string_view name) {
  std::string names;
  for (const Method& m : methods()) {
    if (m.name == name) return m;
    names += (names.empty() ? "" : ", ") + m.name;
  }
  throw Error(fmt::format("there is no method '{}'; the methods are {}", name, names));
}

Plan plan(const PointsView& points, const SelectOptions& options, const MethodChoice& choice) {
  return Request(options, choice).plan(points);
}

Selection select(const PointsView& points, const SelectOptions& options, const MethodChoice& choice,
                 const Observer& observer) {
  const Request request(options, choice);
  return request.run(points, request.plan(points), observer);
}

std::vector<ClassPlan> plan_per_class(const PointsView& points, const Labels& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const MethodChoice& choice) {
  return Request(options, choice).plan_per_class(points, labels, counts);
}

std::vector<ClassSelection> select_per_class(const PointsView& points, const Labels& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const MethodChoice& choice, const Observer& observer) {
  const Request request(options, choice);
  // Plan everything first: what does not fit is refused before any work.
  return request.run_per_class(points, request.plan_per_class(points, labels, counts), observer);
}

}  // namespace fwsr
