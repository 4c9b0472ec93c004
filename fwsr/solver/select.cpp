#include "fwsr/solver/select.hpp"

#include <memory>

#include <fmt/format.h>

#include "fwsr/base/check_view.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/describe_run.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/refine.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/time_limit.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

void to_global_indices(std::span<const Index> subset, Selection& result) {
  if (subset.empty()) return;
  const auto original = [&](Index i) { return i < 0 ? i : subset[static_cast<std::size_t>(i)]; };
  for (Index& e : result.exemplars) e = original(e);
  for (Step& s : result.trace) s.pick = original(s.pick);
  if (result.coefficients)
    for (Index& b : result.coefficients->basis) b = original(b);
}

Selection run_prepared(const std::function<PreparedProblem(const KeepGoing&)>& prepare,
                       const SelectOptions& options, const Plan& plan, const Observer& observer) {
  const SerialBlas serial;
  make_room_for_products(threads_of(options));
  Selection result;
  result.plan = plan;
  const auto start = Clock::now();
  Watch watch(observer, options.exemplars);
  TimeLimit limit(options.time_limit, start);
  const KeepGoing keep_going = limit.beside(watch.keep_going());
  bool ready = false;
  try {
    limit.count(TimeLimit::Counts::after_second);
    PreparedProblem prepared = prepare(keep_going);
    std::unique_ptr<Form> form = make_form(prepared, options, plan, keep_going);
    limit.count(TimeLimit::Counts::never);  // steps look at the clock themselves
    ready = true;
    result.seconds.setup = seconds_since(start);

    const auto stepping = Clock::now();
    const double unit = prepared.kernel().unit();
    Run run =
        frank_wolfe(*form, run_options(options, prepared, form->objective(), plan.threads, start),
                    [&](const Progress& p) {
                      return watch.tell([&](Progress& told) { told = in_units(p, unit); });
                    });
    result.seconds.steps = seconds_since(stepping);
    RunProducts products = form->take_products();
    form.reset();
    const auto exchanging = Clock::now();
    if (options.refine != Refine::none) watch.enter(Progress::Stage::exchange);
    const std::optional<Exchanged> refined = refine_run(
        run, products, prepared, options, plan.threads, keep_going, watch.exchanges(), &limit);
    result.seconds.exchange = refined ? seconds_since(exchanging) : 0;
    watch.enter(Progress::Stage::certificate);
    describe_run(std::move(run), refined, products, prepared, options, keep_going, result);
  } catch (const Interrupted&) {
    if (!ready && limit.over() && !watch.stopped())
      throw Error(fmt::format(
          "the time limit of {} came before the first step could be taken: the set-up takes about "
          "{}; allow more, or take fewer points",
          words_for_seconds(*options.time_limit), words_for_seconds(estimated(plan).setup)));
    result.status = Status::interrupted;
    result.certificate.reset();
  }
  return result;
}

Selection select_points(const PointsView& view, std::span<const Index> subset,
                        const SelectOptions& given, const Plan& plan, const Observer& observer) {
  const SelectOptions options = with_limit(given, plan.points);
  Selection result = run_prepared(
      [&](const KeepGoing& keep_going) {
        return prepare_as_planned(view, subset, options, plan, keep_going);
      },
      options, plan, observer);
  to_global_indices(subset, result);
  return result;
}

void refuse_unsuitable(const SelectOptions& options, const PointsView& points) {
  if (const auto problem = find_problem(options, rows_of(points), cols_of(points)))
    throw OptionError(*problem);
}

Plan plan(const PointsView& points, const SelectOptions& options) {
  refuse_unsuitable(options, points);
  return make_plan(facts_of(points, threads_of(options)), with_limit(options, rows_of(points)));
}

void refuse_other_plan(const PointsView& points, const SelectOptions& options, const Plan& plan) {
  check_view(points);
  refuse_unsuitable(options, points);
  if (plan.points != rows_of(points) || plan.features != cols_of(points))
    throw Error(
        fmt::format("the plan is for {} points of {} features, and these are {} of {}; make "
                    "one for them",
                    plan.points, plan.features, rows_of(points), cols_of(points)));
  if (plan.exemplars != with_limit(options, rows_of(points)).exemplars)
    throw Error(fmt::format("the plan is for {} exemplars, and the options ask for {}",
                            plan.exemplars, options.exemplars));
}

Selection select_as_planned(const PointsView& points, const SelectOptions& options,
                            const Plan& plan, const Observer& observer) {
  refuse_other_plan(points, options, plan);
  const KernelFormula& kernel = formula_of(options.kernel.type);
  const bool covariance = plan.form == FormKind::covariance;
  const bool given = plan.kernel_by == KernelBy::given;
  if (plan.form == FormKind::none || given != (kernel.of == KernelOf::matrix) ||
      (plan.kernel_by == KernelBy::factor && options.rank == 0) ||
      (covariance && (options.q != Norm::two || options.nonneg)) ||
      (covariance && plan.kernel_by == KernelBy::none && !kernel.linear))
    throw Error("the plan is for other options, or for another method; make one for these");
  return select_points(points, {}, options, plan, observer);
}

PlanFacts facts_of(const DeviceView& points, int threads) {
  if (points.rows < 1 || points.cols < 1 || !points.data || points.stride < points.cols)
    throw Error(fmt::format(
        "a view of {} x {} points on a card, {} numbers from one row to the next: there must be "
        "points, and a row may not be longer than the way to the next",
        points.rows, points.cols, points.stride));
  return {.points = points.rows,
          .features = points.cols,
          .entries = points.rows * points.cols,
          .single = points.number != DeviceNumber::float64,
          .on_card = true,
          .threads = threads};
}

SelectOptions on_card_of(const DeviceView& points, SelectOptions options) {
  if (const auto problem = find_problem(options, points.rows, points.cols))
    throw OptionError(*problem);
  options = with_limit(options, points.rows);
  options.device = {.kind = DeviceChoice::Kind::cuda, .number = points.device};
  return options;
}

Plan plan(const DeviceView& points, const SelectOptions& options) {
  const PlanFacts facts = facts_of(points, threads_of(options));
  return make_plan(facts, on_card_of(points, options));
}

Selection select_planned_on_card(const DeviceView& points, const SelectOptions& options,
                                 const Plan& plan, const Observer& observer) {
  const SelectOptions own = on_card_of(points, options);
  return run_prepared(
      [&](const KeepGoing& keep_going) {
        return prepare_on_card(points, {}, own, plan, keep_going);
      },
      own, plan, observer);
}

Selection select(const DeviceView& points, const SelectOptions& options, const Observer& observer) {
  return select_planned_on_card(points, options, plan(points, options), observer);
}

Selection select(const PointsView& points, const SelectOptions& options, const Observer& observer) {
  return select_as_planned(points, options, plan(points, options), observer);
}

}  // namespace fwsr
