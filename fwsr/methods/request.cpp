#include "fwsr/methods/request.hpp"

#include <fmt/format.h>

#include "fwsr/base/check_view.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/methods/method_plan.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/run_method.hpp"
#include "fwsr/methods/settings.hpp"
#include "fwsr/methods/taken_conditions.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sharded_points.hpp"

namespace fwsr {

SelectOptions as_planned(const Method& method, SelectOptions o, const Plan& plan) {
  if (!method.suit) return o;
  o.kernel.type = plan.kernel;
  o.rank = plan.rank;
  o.refine = plan.refine;
  return o;
}

namespace {

void refuse_card(const Method& method, const SelectOptions& o) {
  if (is_solver(method) || o.device.kind == DeviceChoice::Kind::cpu) return;
  throw OptionError(
      fmt::format("{} works on the processor; use device cpu, or method fwsr", method.name));
}

/// How the request's method plans and runs one problem.
Chooser chooser_of(const Request& request) {
  const Method& method = *request.method;
  if (request.elsewhere) return *request.elsewhere;
  if (is_solver(method)) {
    const auto suited = [&method](const PlanFacts& facts, SelectOptions o) {
      if (method.suit) method.suit(facts, o);
      try {
        Plan plan = make_plan(facts, o);
        plan.method = method.name;
        return plan;
      } catch (const MemoryError& e) {
        if (!method.suit) throw;
        throw MemoryError(fmt::format(
            "{}; or choose by method fwsr, which takes least and reads files in blocks", e.what()));
      }
    };
    const auto run = [&method](const PointsView& view, std::span<const Index> subset,
                               const SelectOptions& o, const Plan& plan, const Observer& observer) {
      return select_points(view, subset, as_planned(method, o, plan), plan, observer);
    };
    return {.plan = suited, .run = run};
  }
  return {.plan =
              [&request](const PlanFacts& facts, const SelectOptions& o) {
                return plan_method(*request.method, request.settings, facts, o);
              },
          .run =
              [&request](const PointsView& view, std::span<const Index> subset,
                         const SelectOptions& o, const Plan& plan, const Observer& observer) {
                return run_method(*request.method, request.settings, request.seed, view, subset, o,
                                  plan, observer);
              }};
}

}  // namespace

Request::Request(const SelectOptions& given, const MethodChoice& choice)
    : method(&find_method(choice.name)),
      settings(settings_of(*method, choice.settings)),
      options(options_for(*method, settings, given)),
      seed(choice.seed) {}

Plan Request::plan(const PointsView& points) const {
  refuse_card(*method, options);
  refuse_conditions(*method, settings, options);
  refuse_unsuitable(options, points);
  return chooser_of(*this).plan(facts_of(points, threads_of(options)),
                                with_limit(options, rows_of(points)));
}

Selection Request::run(const PointsView& points, const Plan& plan, const Observer& observer) const {
  refuse_other_plan(points, options, plan);
  if (elsewhere) return elsewhere->run(points, {}, options, plan, observer);
  if (is_solver(*method))
    return select_as_planned(points, as_planned(*method, options, plan), plan, observer);
  if ((plan.kernel_by == KernelBy::factor) != (options.rank > 0))
    throw Error("the plan is for another rank; make one for these options");
  return chooser_of(*this).run(points, {}, options, plan, observer);
}

Plan Request::plan(const DeviceView& points) const {
  const SelectOptions own = on_card_of(points, options);
  refuse_card(*method, own);
  refuse_conditions(*method, settings, own);
  return chooser_of(*this).plan(facts_of(points, threads_of(own)), own);
}

Selection Request::run(const DeviceView& points, const Plan& plan, const Observer& observer) const {
  return select_planned_on_card(points, as_planned(*method, options, plan), plan, observer);
}

SelectOptions Request::settled_for(const PointsShape& shape) const {
  if (!is_solver(*method))
    throw OptionError(fmt::format(
        "{} needs all points in one place; of points that live in several choose by method fwsr",
        method->name));
  if (options.device.kind == DeviceChoice::Kind::cuda)
    throw OptionError(
        "points that live in several places are worked on by processors; use device cpu");
  refuse_conditions(*method, settings, options);
  SelectOptions settled = options;
  if (method->suit) {
    const Index entries = checked_bytes(shape.size, shape.features, 1);
    method->suit({.points = shape.size,
                  .features = shape.features,
                  .entries = entries,
                  .sparse = shape.sparse,
                  .single = shape.single,
                  .data_bytes = checked_bytes(entries, shape.single ? 4 : 8, 1),
                  .threads = threads_of(options)},
                 settled);
  }
  plan_sharded(shape, settled);  // what is not served is said before anybody is asked
  return settled;
}

Selection Request::run(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                       const Observer& observer) const {
  Selection found = select_sharded(std::move(shards), shape, settled_for(shape), observer);
  found.plan.method = method->name;
  return found;
}

std::string Request::warning_of_long_run(const PointsView& points, const Plan& plan) const {
  return fwsr::warning_of_long_run(facts_of(points, threads_of(options)),
                                   as_planned(*method, options, plan), plan);
}

std::vector<ClassPlan> Request::plan_per_class(const PointsView& points, const Labels& labels,
                                               const ClassCounts& counts) const {
  refuse_card(*method, options);
  refuse_conditions(*method, settings, options);
  return fwsr::plan_per_class(points, labels, counts, options, chooser_of(*this));
}

std::vector<ClassSelection> Request::run_per_class(const PointsView& points,
                                                   const std::vector<ClassPlan>& plans,
                                                   const Observer& observer) const {
  check_view(points);
  for (const ClassPlan& p : plans)
    for (const Index i : p.members)
      if (i < 0 || i >= rows_of(points))
        throw Error(fmt::format("the plan is for other points: class {} has point {}, of {}",
                                in_quotes(p.name), i, rows_of(points)));
  return fwsr::select_per_class(points, plans, options, chooser_of(*this), observer);
}

}  // namespace fwsr
