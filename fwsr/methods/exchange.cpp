// What people get who give only k: Frank-Wolfe selection in the space of a kernel, then exchanges of one exemplar for one
// other point until none helps (solver/exchange.hpp). docs/choosing.md has the study it was chosen by. With rbf, where to
// be near and to be alike are the same, exemplars then move to the middle of what they stand for (solver/middle.hpp); with
// the inner product short texts are near to everything, and the middle of such a group is no text in particular.
//
// Kernel and width come from the points. Dense ones: rbf, with gamma = 2 / the squared distance that nine tenths of all
// pairs keep to; few far points then leave the others apart, as the median would not. Sparse ones, which are text more
// often than not: the inner product, because short texts are near to everything. Many points: a factor of the kernel,
// so that the work grows with n and not with its square.
#include <algorithm>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/methods/method.hpp"
#include "fwsr/methods/taken_conditions.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"

namespace fwsr {

namespace {

constexpr Index exact_up_to = 4096;  // points: the kernel of more takes longer than a factor of it
constexpr Index least_rank = 256;
constexpr Index rank_per_exemplar = 4;

void complete(SelectOptions& o) {
  if (o.refine == Refine::none) o.refine = Refine::exchange, o.refine_suits = true;
  o.kernel.width = {.times = 2, .quantile = 0.9};
  if (o.kernel.type == KernelType::linear && (o.kernel.gamma || o.rank > 0))
    o.kernel.type = KernelType::rbf;
}

/// How many exemplars will be chosen, about: a budget sets no number.
Index expected(const PlanFacts& facts, const SelectOptions& o) {
  if (!o.budget) return o.exemplars;
  const double paid = *o.budget / mean_cost(o.conditions, facts.points);
  return paid < static_cast<double>(o.exemplars) ? static_cast<Index>(paid) : o.exemplars;
}

/// Columns of a factor; 0: the kernel itself, where that is less work or the factor would be no smaller, or what is
/// asked for is more than a card does with one.
Index rank_for(const PlanFacts& facts, const SelectOptions& o) {
  const Index n = facts.points, included = std::ssize(o.conditions.included);
  if (n <= exact_up_to) return 0;
  const Index rank = std::max(least_rank, included + rank_per_exemplar * expected(facts, o));
  constexpr Index held_up_to = 30'000;
  const bool large = rank > n / 4;
  if (large && n <= held_up_to) return 0;
  if (o.device.kind == DeviceChoice::Kind::cuda) {
    SelectOptions by_factor = o;
    by_factor.rank = std::min(n, rank);
    if (not_on_card(facts, by_factor) && !not_on_card(facts, o)) return 0;
  }
  return std::min(n, rank);
}

void suit(const PlanFacts& facts, SelectOptions& o) {
  if (o.kernel.type == KernelType::linear && !facts.sparse) o.kernel.type = KernelType::rbf;
  if (o.refine_suits && !is_conditional(o) &&
      formula_of(o.kernel.type).of == KernelOf::squared_distances)
    o.refine = Refine::middle;
  if (formula_of(o.kernel.type).computed() && o.rank == 0) o.rank = rank_for(facts, o);
}

}  // namespace

Method exchange_method() {
  return {.name = "exchange",
          .title = "Frank-Wolfe, then exchange",
          .about =
              "k-fwsr (sparse points: fwsr), then exemplars exchanged for other points until none "
              "would help, and moved to the middle of what they stand for (the default)",
          .any_kernel = true,
          .uses_rbf = true,
          .factors = true,
          .streams = true,
          .conditions = all_conditions(),
          .complete = complete,
          .suit = suit};
}

}  // namespace fwsr
