#include "fwsr/solver/on_card.hpp"

#include <algorithm>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/landmarks.hpp"

namespace fwsr {

std::optional<std::string> not_on_card(const PlanFacts& facts, const SelectOptions& o) {
  if (facts.sparse) return "takes dense points";
  if (facts.streamed) return "takes points in memory";
  const KernelFormula& kernel = formula_of(o.kernel.type);
  if (!kernel.linear && o.kernel.type != KernelType::rbf)
    return "serves the linear, cosine and rbf kernels";
  if (!kernel.linear && o.rank == 0)
    return "serves rbf by a factor of the kernel; give a rank, such as 512";
  if (o.q != Norm::two || o.nonneg) return "serves q = 2 without a sign constraint";
  if (o.fill) return "cannot fill an answer up";
  if (o.rho) return "cannot tell the boolean objective";
  if (is_conditional(o)) return "cannot keep conditions; time_limit is the only one";
  return std::nullopt;
}

double card_bytes(const PlanFacts& facts, const SelectOptions& o) {
  const auto n = static_cast<double>(facts.points), d = static_cast<double>(facts.features);
  const double number = facts.single ? 4 : 8;
  constexpr double at_once = 1.5 * (1 << 30),
                   program = 512.0 * (1 << 20);  // blocks of rows; CUDA itself
  const auto rank = static_cast<double>(std::min(o.rank, facts.points));
  const double dim = o.rank > 0 ? rank : d;  // of what the steps work on
  const double each = 6 + (effective_center(o) == Center::point) + (o.scale == Scale::unit) +
                      formula_of(o.kernel.type).normalize;
  const double rows = n * (rank * (facts.single && !o.precise ? 4 : 8) + 24);  // of a factor
  return (facts.on_card ? 0 : n * (d * number + 16)) + (o.rank > 0 ? rows : 0) + 8 * n * each +
         8 * 6 * dim * dim +
         std::min(at_once, 8 * n * (2 * std::max(d, dim) + 8 * static_cast<double>(o.exemplars))) +
         program;
}

double host_bytes_beside_card(const PlanFacts& facts, const SelectOptions& o) {
  const auto n = static_cast<double>(facts.points), d = static_cast<double>(facts.features);
  const auto k = static_cast<double>(o.exemplars),
             rank = static_cast<double>(std::min(o.rank, facts.points));
  const double dim = o.rank > 0 ? rank : d;
  constexpr double copies = 64 << 20;  // on their way to the card
  const double sample =
      o.rank > 0
          ? static_cast<double>(landmark_sample(facts.points, std::min(o.rank, facts.points)))
          : 0;
  return copies + 8 * (6 * dim * dim + 8 * k * (dim + k)) + 8 * sample * (rank + d) +
         gamma_bytes(n, d, false, o.kernel) + (o.refine == Refine::middle ? 12 * n : 0) +
         (o.assignment ? 12 * n : 0) + (o.codes ? 8 * n * k : 0);
}

}  // namespace fwsr
