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
  if (!o.conditions.at_least.empty()) return "cannot keep floors of groups (at_least)";
  if (!kernel.linear && o.until_error)
    return "tells the error (until_error) with the linear and cosine kernels";
  if (!kernel.linear && !(o.conditions.weights.empty() && o.conditions.included.empty()))
    return "keeps weights and included exemplars with the linear and cosine kernels";
  return std::nullopt;
}

namespace {

/// What is taken of a card.
struct CardBytes {
  double points = 0;  // a copy of them
  double beside = 0;  // numbers of the points, rows of a factor, small matrices
  double blocks = 0;  // of rows that are worked on at a time; less where less may be taken
};
constexpr double of_cuda = 512.0 * (1 << 20);  // by CUDA itself

CardBytes parts_of(const PlanFacts& facts, const SelectOptions& o) {
  const auto n = static_cast<double>(facts.points), d = static_cast<double>(facts.features);
  const auto number = static_cast<double>(facts.narrow_bytes > 0 ? facts.narrow_bytes
                                          : facts.single         ? 4
                                                                 : 8);
  constexpr double at_once = 1.5 * (1 << 30);
  const auto rank = static_cast<double>(std::min(o.rank, facts.points));
  const double dim = o.rank > 0 ? rank : d;  // of what the steps work on
  const Conditions& under = o.conditions;
  const double each = 6 + !under.weights.empty() + 7 * !under.candidates.empty() +
                      2 * !under.costs.empty() + !under.groups.empty() + !under.included.empty() +
                      (effective_center(o) == Center::point) + (o.scale == Scale::unit) +
                      formula_of(o.kernel.type).normalize;
  const double rows = n * (rank * (facts.single && !o.precise ? 4 : 8) + 24);  // of a factor
  return {.points = facts.on_card ? 0 : n * (d * number + 16),
          .beside = (o.rank > 0 ? rows : 0) + 8 * n * each + 8 * 6 * dim * dim,
          .blocks = std::min(
              at_once, 8 * n * (2 * std::max(d, dim) + 8 * static_cast<double>(o.exemplars)))};
}

}  // namespace

double card_bytes(const PlanFacts& facts, const SelectOptions& o, bool reads_host) {
  const CardBytes taken = parts_of(facts, o);
  return (reads_host ? 0 : taken.points) + taken.beside + taken.blocks + of_cuda;
}

bool reads_host(const PlanFacts& facts, const SelectOptions& o, Index card_memory) {
  const CardBytes taken = parts_of(facts, o);
  constexpr double usable = 0.95;  // the rest is lost between blocks
  if (o.device_memory == 0)
    return taken.points > 0 &&
           card_bytes(facts, o, false) > usable * static_cast<double>(card_memory);
  const auto room = static_cast<double>(o.device_memory);
  return taken.points > 0 && taken.points + taken.beside + std::min(taken.blocks, room / 4) > room;
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
