#include "fwsr/solver/on_card.hpp"

#include "fwsr/kernel/formula.hpp"

namespace fwsr {

std::optional<std::string> not_on_card(const PlanFacts& facts, const SelectOptions& o) {
  if (facts.sparse) return "takes dense points";
  if (facts.streamed) return "takes points in memory";
  if (!formula_of(o.kernel.type).linear)
    return "serves the linear and cosine kernels (method fwsr)";
  if (o.q != Norm::two || o.nonneg) return "serves q = 2 without a sign constraint";
  if (o.fill) return "cannot fill an answer up";
  if (o.rho) return "cannot tell the boolean objective";
  if (is_conditional(o)) return "cannot keep conditions; time_limit is the only one";
  if (o.refine == Refine::middle)
    return "exchanges exemplars, but does not move them to the middle";
  return std::nullopt;
}

double card_bytes(const PlanFacts& facts, const SelectOptions& o, bool points_are_there) {
  const auto n = static_cast<double>(facts.points), d = static_cast<double>(facts.features);
  const double number = facts.single ? 4 : 8;
  constexpr double at_once = 2.0 * (1 << 30),
                   program = 512.0 * (1 << 20);  // blocks of rows; CUDA itself
  const double each = 6 + (effective_center(o) == Center::point) + (o.scale == Scale::unit) +
                      formula_of(o.kernel.type).normalize;
  return (points_are_there ? 0 : n * (d * number + 16)) + 8 * n * each + 8 * 6 * d * d +
         std::min(at_once, 8 * n * (2 * d + 8 * static_cast<double>(o.exemplars))) + program;
}

}  // namespace fwsr
