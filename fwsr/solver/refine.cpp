#include "fwsr/solver/refine.hpp"

#include <cmath>
#include <utility>

#include "fwsr/base/segments.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/plan_parts.hpp"
#include "fwsr/solver/scores.hpp"
#include "fwsr/solver/unexplained.hpp"

namespace fwsr {

ExchangeOptions exchange_options(const SelectOptions& o, const ExchangePoints& points,
                                 bool single) {
  return {.mu = o.ridge * points.whole() / points.weight(),
          .tie = single ? tie_single : tie_double,
          .rounds = o.refine_rounds};
}

Refinement refinement_of(const Exchanged& found, double unit) {
  return {.before = found.before / unit / unit,
          .after_exchange = found.after_exchange / unit / unit,
          .after = found.after / unit / unit,
          .mu = found.mu / unit / unit,
          .exchanges = found.exchanges,
          .rounds = found.rounds,
          .local_optimum = found.local_optimum,
          .moves = found.moves,
          .middle_rounds = found.middle_rounds};
}

namespace {

/// What moving to the middle takes on top: two visits to the points a round.
void count_middle(const Pieces& p, const PlanFacts& facts, KernelType kernel, RefineCost& cost) {
  constexpr double rounds = 3;  // until none moves, about
  const bool of_points = middle_of_points(kernel) && facts.features > 0;
  if (of_points && !facts.sparse) {
    const Portion all(facts.points);
    const double sum = 8 * p.k * (p.d + 1);
    const double segments = std::ceil(p.n / static_cast<double>(all.segment()));
    const auto in_a_row =
        static_cast<double>(segments_in_a_row(all, sum, 2 * p.n * p.k * p.d / segments));
    cost.bytes += 8 * p.n + 3 * sum + (in_a_row > 0 ? 0 : segments * sum);
    cost.per_thread += in_a_row * sum + 8 * 256 * p.d;
    cost.passes += 2 * rounds;
    cost.work += {.products = rounds * 2 * p.n * p.k * p.d,
                  .loops = rounds * p.n * (6 * p.d + 4 * p.k),
                  .bytes = rounds * 2 * p.number * p.n * p.d};
    return;
  }
  cost.bytes += 8 * 5 * p.n;  // groups and their members, sums, a product
  cost.work += rounds * p.kernel_entries(p.n * p.k, false);
  cost.work += of_points ? rounds * p.k * 2 * p.visit()
                         : rounds * p.kernel_entries(p.n * p.n / p.k, false);  // of equal groups
}

}  // namespace

RefineCost refine_cost(const PlanFacts& facts, const SelectOptions& o, bool in_set,
                       KernelBy kernel_by) {
  constexpr double rows = 256;  // of a block
  const Pieces p(facts, o);
  const double visits =
      8 + p.k / 10;  // until nothing changes, about: 9 to 18 for k = 50, 25 for 200
  const double d = o.rank > 0 ? static_cast<double>(o.rank) : p.d;
  RefineCost cost{.bytes = 8 * 16 * p.k * p.k, .per_thread = 8 * rows * 8 * p.k};
  cost.work = {.products = visits * 6 * p.n * p.k * p.k, .loops = visits * 12 * p.n * p.k};
  if (in_set) {
    cost.bytes += 8 * (4 * p.k * d + 2 * d * d + p.n);  // C and r in double
    cost.per_thread += 8 * rows * d;
    cost.passes += o.rank > 0 ? 0 : visits;
    cost.work += {.products = 4 * p.n * d * (visits * p.k + (p.single ? d : 0.0)),
                  .bytes = visits * p.number * p.n * d};
    if (o.refine == Refine::middle) count_middle(p, facts, o.kernel.type, cost);
    return cost;
  }
  cost.bytes +=
      8 * 6 * p.k * p.n;  // products of the first exemplars, these, and as many candidates again
  cost.work += visits * p.kernel_entries(p.n * p.k, false);
  const double products = 2 * p.k;
  if (kernel_by == KernelBy::tiles)
    cost.work += visits * p.kernel_entries(p.n * p.n, p.single) +
                 Operations{.products = products * 2 * p.n * p.n};
  else if (kernel_by == KernelBy::products)
    cost.work += products * 2 * p.visit();
  else
    cost.work += {.loops = products * 2 * p.n * p.n, .bytes = products * p.number * p.n * p.n};
  if (o.refine == Refine::middle) count_middle(p, facts, o.kernel.type, cost);
  return cost;
}

std::unique_ptr<MiddlePoints> middle_for(const SelectOptions& o, const PreparedProblem& prepared,
                                         int threads, const KeepGoing& keep_going) {
  if (o.refine != Refine::middle) return nullptr;
  return middle_points(prepared, threads, keep_going);
}

std::optional<Exchanged> refine_run(Run& run, RunProducts& products,
                                    const PreparedProblem& prepared, const SelectOptions& o,
                                    int threads, const KeepGoing& keep_going,
                                    const WatchExchange& watch, TimeLimit* limit) {
  if (o.refine == Refine::none || run.status == Status::interrupted ||
      run.status == Status::time_limit || run.exemplars.empty())
    return std::nullopt;
  bool late = false;
  const WatchExchange in_time = [&](Index rounds, Index exchanges, double g) {
    late = run.deadline && Clock::now() >= *run.deadline;
    return !late && (!watch || watch(rounds, exchanges, g));
  };
  const auto begin = [&](ExchangePoints& points, bool single) {
    const std::unique_ptr<MiddlePoints> middle = middle_for(o, prepared, threads, keep_going);
    ExchangeOptions own = exchange_options(o, points, single);
    own.permitted = Permitted(o, prepared.terms, run.exemplars);
    if (run.status == Status::error_reached)
      own.keeps = [share = make_unexplained(prepared, threads), most = *o.until_error](
                      const std::vector<Index>& exemplars) { return share->of(exemplars) <= most; };
    else
      own.recorder = o.recorder;
    if (limit) limit->count(TimeLimit::Counts::at_once);
    Exchanged answer = exchange(points, run.exemplars, own, in_time, middle.get());
    if (limit) limit->count(TimeLimit::Counts::never);
    return answer;
  };
  Exchanged found;
  try {
    if (products.covariance) {
      ExchangeInSet points(*prepared.set, prepared.terms, threads);
      found = begin(points, false);
    } else {
      const KernelMatrix& kernel = prepared.form_kernel();
      const bool wanted = products.kernel.has_value();
      ExchangeInKernel points({kernel, prepared.kernel(), prepared.terms},
                              std::exchange(products.kernel, {}).value_or(KernelProducts{}),
                              threads, keep_going);
      found = begin(points, kernel.single());
      if (wanted) products.kernel = points.products_of(found.exemplars);
    }
  } catch (const Interrupted&) {  // before it began: the exemplars are those of the run
    run.status = Status::interrupted;
    return std::nullopt;
  }
  run.exemplars = found.exemplars;
  run.beta = found.radius;
  if (found.interrupted)
    run.status = late || (limit && limit->over()) ? Status::time_limit : Status::interrupted;
  return found;
}

}  // namespace fwsr
