#include "fwsr/solver/refine.hpp"

#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/plan_parts.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

ExchangeOptions exchange_options(const SelectOptions& o, const ExchangePoints& points,
                                 bool single) {
  return {.mu = o.ridge * points.trace() / static_cast<double>(points.size()),
          .tie = single ? tie_single : tie_double,
          .rounds = o.refine_rounds};
}

Refinement refinement_of(const Exchanged& found, double unit) {
  return {.before = found.before / unit / unit,
          .after = found.after / unit / unit,
          .mu = found.mu / unit / unit,
          .exchanges = found.exchanges,
          .rounds = found.rounds,
          .local_optimum = found.local_optimum};
}

RefineCost refine_cost(const PlanFacts& facts, const SelectOptions& o, bool in_set,
                       KernelBy kernel_by) {
  constexpr double visits = 8, rows = 256;  // until nothing changes, about; of a block
  const Pieces p(facts, o);
  const double d = o.rank > 0 ? static_cast<double>(o.rank) : p.d;
  RefineCost cost{.bytes = 8 * 16 * p.k * p.k, .per_thread = 8 * rows * 8 * p.k};
  cost.work = {.products = visits * 6 * p.n * p.k * p.k, .loops = visits * 12 * p.n * p.k};
  if (in_set) {
    cost.bytes += 8 * (4 * p.k * d + 2 * d * d + p.n);  // C and r in double
    cost.per_thread += 8 * rows * d;
    cost.work += {.products = 4 * p.n * d * (visits * p.k + (p.single ? d : 0.0)),
                  .bytes = visits * p.number * p.n * d};
    return cost;
  }
  cost.bytes += 8 * 5 * p.k * p.n;  // products of the exemplars, and of as many candidates again
  cost.work += visits * p.kernel_entries(p.n * p.k, false);
  const double products = 2 * p.k;
  if (kernel_by == KernelBy::tiles)
    cost.work += visits * p.kernel_entries(p.n * p.n, p.single) +
                 Operations{.products = products * 2 * p.n * p.n};
  else if (kernel_by == KernelBy::products)
    cost.work += products * 2 * p.visit();
  else
    cost.work += {.loops = products * 2 * p.n * p.n, .bytes = products * p.number * p.n * p.n};
  return cost;
}

std::optional<Exchanged> refine_run(Run& run, RunProducts& products,
                                    const PreparedProblem& prepared, const SelectOptions& o,
                                    int threads, const KeepGoing& keep_going) {
  if (o.refine != Refine::exchange || run.status == Status::interrupted || run.exemplars.empty())
    return std::nullopt;
  const KernelMatrix& kernel = prepared.kernel();
  Exchanged found;
  try {
    if (products.covariance) {
      ExchangeInSet points(*prepared.set);
      found = exchange(points, run.exemplars, exchange_options(o, points, false));
    } else {
      ExchangeInKernel points(kernel, products.kernel.value_or(KernelProducts{}), threads,
                              keep_going);
      found = exchange(points, run.exemplars, exchange_options(o, points, kernel.single()));
      if (products.kernel) products.kernel = points.products_of(found.exemplars);
    }
  } catch (const Interrupted&) {  // before it began: the exemplars are those of the run
    run.status = Status::interrupted;
    return std::nullopt;
  }
  run.exemplars = found.exemplars;
  run.beta = found.radius;
  if (found.interrupted) run.status = Status::interrupted;
  return found;
}

}  // namespace fwsr
