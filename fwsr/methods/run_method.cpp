#include "fwsr/methods/run_method.hpp"

#include <utility>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/methods/describe_picks.hpp"
#include "fwsr/methods/refine_picks.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/warnings.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

namespace {

/// Classes of one run draw different numbers, whatever their order.
std::uint64_t seed_for(std::uint64_t seed, std::span<const Index> subset) {
  if (subset.empty()) return seed;
  return Rng(seed).split(static_cast<std::uint64_t>(subset.front()) + 1).next();
}

}  // namespace

Index Task::size() const {
  if (kernel) return kernel->size();
  return subset.empty() ? rows_of(*given) : static_cast<Index>(subset.size());
}

Selection run_method(const Method& method, const Settings& settings, std::uint64_t seed,
                     const PointsView& view, std::span<const Index> subset, const SelectOptions& o,
                     const Plan& plan, const Observer& observer) {
  const SerialBlas serial;
  make_room_for_products(threads_of(o));
  Selection result;
  result.plan = plan;
  const auto start = Clock::now();
  Watch watch(observer, o.exemplars);
  const KeepGoing keep_going = watch.keep_going();
  try {
    Task task{.subset = subset,
              .exemplars = o.exemplars,
              .codes = o.codes,
              .settings = settings,
              .seed = seed_for(seed, subset),
              .threads = plan.threads,
              .keep_going = keep_going};
    task.report = [&](Index found) {
      if (!watch.tell([&](Progress& told) {
            told.stage = Progress::Stage::steps;
            told.exemplars = told.step = found;
          }))
        throw Interrupted{};
    };
    PreparedProblem prepared;
    if (takes_dissimilarities(settings)) {
      task.given = &view;
      task.terms = terms_of(o.conditions, task.size());
    } else {
      prepared = prepare_problem(view, subset, o, plan, keep_going);
      task.points = prepared.points ? &prepared.feature_rows() : nullptr;
      task.kernel = &prepared.kernel();
      task.linear =
          prepared.points && (prepared.factor || prepared.type.type == KernelType::linear);
      task.terms = prepared.terms;
      result.gamma = prepared.gamma();
    }
    task.open = OpenRows(o, task.terms, task.size());
    throw_if_cancelled(keep_going);
    result.seconds.setup = seconds_since(start);
    const auto choosing = Clock::now();
    Picks picks = method.choose(task);
    result.seconds.steps = seconds_since(choosing);
    std::optional<Exchanged> refined;
    if (o.refine != Refine::none) {
      const auto exchanging = Clock::now();
      watch.enter(Progress::Stage::exchange);
      refined = refine_picks(task, prepared, o, watch.exchanges(), picks);
      result.seconds.exchange = seconds_since(exchanging);
    }
    const auto describing = Clock::now();
    watch.enter(Progress::Stage::certificate);
    if (picks.status == Status::interrupted && !watch.go_on()) {
      // Who stops does not wait for weights; who ends the exchanges does.
      list_exemplars(task, std::move(picks.exemplars), result);
      result.refinement = picks.refinement;
      throw Interrupted{};
    }
    if (refined) replace_codes(task, *refined, picks);
    describe_picks(task, prepared, std::move(picks), o, result);
    if (result.status == Status::interrupted)
      result.warnings.push_back(words_of_interruption(result.refinement));
    result.seconds.certificate = seconds_since(describing);
  } catch (const Interrupted&) {
    result.status = Status::interrupted;
    result.certificate.reset();
  }
  to_global_indices(subset, result);
  return result;
}

}  // namespace fwsr
