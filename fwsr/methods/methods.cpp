#include "fwsr/methods/methods.hpp"

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/methods/method_plan.hpp"
#include "fwsr/methods/run_method.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"

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

namespace {

SelectOptions options_for(const MethodChoice& choice, const SelectOptions& options) {
  const Method& method = find_method(choice.name);
  return options_for(method, settings_of(method, choice.settings), options);
}

/// The method's name with its settings, ready to plan and to run.
Chooser chooser_for(const MethodChoice& choice) {
  const Method& method = find_method(choice.name);
  if (!method.choose) {
    settings_of(method, choice.settings);  // refuses all of them
    const auto named = [&method](const PlanFacts& facts, const SelectOptions& o) {
      Plan plan = make_plan(facts, o);
      plan.method = method.name;
      return plan;
    };
    return {.plan = named, .run = select_points};
  }
  const Settings settings = settings_of(method, choice.settings);
  return {.plan = [&method, settings](
                      const PlanFacts& facts,
                      const SelectOptions& o) { return plan_method(method, settings, facts, o); },
          .run =
              [&method, settings, seed = choice.seed](
                  const PointsView& view, std::span<const Index> subset, const SelectOptions& o,
                  const Plan& plan, const Observer& observer) {
                return run_method(method, settings, seed, view, subset, o, plan, observer);
              }};
}

}  // namespace

Plan plan(const PointsView& points, const SelectOptions& options, const MethodChoice& choice) {
  const SelectOptions own = options_for(choice, options);
  if (const auto problem = find_problem(own, rows_of(points), cols_of(points)))
    throw Error(*problem);
  return chooser_for(choice).plan(facts_of(points, threads_of(own)), own);
}

std::string warning_of_long_run(const PointsView& points, const SelectOptions& options,
                                const MethodChoice& choice) {
  const Plan own = plan(points, options, choice);
  const SelectOptions as_run = options_for(choice, options);
  return warning_of_long_run(facts_of(points, threads_of(as_run)), as_run, own);
}

Selection select(const PointsView& points, const SelectOptions& options, const MethodChoice& choice,
                 const Observer& observer) {
  const SelectOptions own = options_for(choice, options);
  return chooser_for(choice).run(points, {}, own, plan(points, options, choice), observer);
}

std::vector<ClassPlan> plan_per_class(const PointsView& points,
                                      const std::vector<std::string>& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const MethodChoice& choice) {
  return plan_per_class(points, labels, counts, options_for(choice, options), chooser_for(choice));
}

std::vector<ClassSelection> select_per_class(const PointsView& points,
                                             const std::vector<std::string>& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options,
                                             const MethodChoice& choice, const Observer& observer) {
  return select_per_class(points, labels, counts, options_for(choice, options), chooser_for(choice),
                          observer);
}

}  // namespace fwsr
