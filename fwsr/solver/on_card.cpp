#include "fwsr/solver/on_card.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/landmarks.hpp"

namespace fwsr {

std::optional<std::string> not_on_card(const PlanFacts& facts, const SelectOptions& o) {
  if (facts.streamed && holds_kernel_on_card(facts, o))
    return "holds the kernel of points in memory; give a rank, such as 512";
  if (o.q != Norm::two || o.nonneg) return "serves q = 2 without a sign constraint";
  if (holds_kernel_on_card(facts, o) || formula_of(o.kernel.type).linear) return std::nullopt;
  // By a factor.
  if (facts.sparse) return "takes sparse points without a rank";
  if (o.kernel.type != KernelType::rbf)
    return "has factors of the rbf kernel; leave the rank out, and it holds the kernel itself";
  const auto itself = [](const char* what) {
    return std::string(what) + " where it holds the kernel itself; leave the rank out";
  };
  if (o.rho) return itself("tells the boolean objective");
  if (o.until_error) return itself("tells the error (until_error)");
  if (!(o.conditions.weights.empty() && o.conditions.included.empty()))
    return itself("keeps weights and included exemplars");
  return std::nullopt;
}

bool holds_kernel_on_card(const PlanFacts& facts, const SelectOptions& o) {
  const KernelFormula& kernel = formula_of(o.kernel.type);
  if (kernel.of == KernelOf::matrix) return true;
  if (!kernel.linear) return o.rank == 0;
  return facts.sparse || o.rho;
}

namespace {

/// What is taken of a card.
struct CardBytes {
  double points = 0;  // a copy of them
  double beside = 0;  // numbers of the points, rows of a factor, small matrices
  double blocks = 0;  // of rows that are worked on at a time; less where less may be taken
};
constexpr double of_cuda = 512.0 * (1 << 20);  // by CUDA itself
constexpr double places = 128.0 * (1 << 20);   // for points on their way, on the card and in memory

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
          .beside = (o.rank > 0 ? rows : 0) + 8 * n * each + 8 * 8 * dim * dim,
          .blocks = std::min(
              at_once, 8 * n * (2 * std::max(d, dim) + 8 * static_cast<double>(o.exemplars)))};
}

/// Of an entry of K as it is held.
double entry_bytes(const PlanFacts& facts, const SelectOptions& o) {
  const bool given = formula_of(o.kernel.type).of == KernelOf::matrix;
  // Entries that were given are held as they are, unless eta is added to them.
  return facts.single && (given ? o.eta == 0 : !o.precise && o.conditions.included.empty()) ? 4 : 8;
}

double bytes_of_kernel(const PlanFacts& facts, const SelectOptions& o) {
  const auto n = static_cast<double>(facts.points), d = static_cast<double>(facts.features) + 1;
  const auto k = static_cast<double>(o.exemplars + std::ssize(o.conditions.included));
  const bool given = formula_of(o.kernel.type).of == KernelOf::matrix;
  constexpr double most_at_once = 256.0 * (1 << 20), vectors = 2 * 64;
  const double at_once = o.device_memory > 0
                             ? std::min(most_at_once, static_cast<double>(o.device_memory) / 16)
                             : most_at_once;
  const double points = given || facts.sparse ? 0 : 8 * n * (d + 2);
  return entry_bytes(facts, o) * n * n + std::min(at_once, 8 * n * n) +
         std::max(points, 8 * n * (2 * k + vectors)) + of_cuda;
}

/// What is not lost between blocks of a card's memory.
constexpr double usable = 0.95;

}  // namespace

std::optional<std::string> too_large_for_card(const PlanFacts& facts, const SelectOptions& o,
                                              Index card_memory) {
  if (!holds_kernel_on_card(facts, o) || (card_memory == 0 && o.device_memory == 0))
    return std::nullopt;
  const double room = o.device_memory > 0 ? static_cast<double>(o.device_memory)
                                          : usable * static_cast<double>(card_memory);
  const double needed = bytes_of_kernel(facts, o) - (o.device_memory > 0 ? of_cuda : 0);
  if (needed <= room) return std::nullopt;
  const bool computed = formula_of(o.kernel.type).computed();
  return fmt::format(
      "the kernel of {} points with each other needs {} of the card, of which {} may be used: "
      "about {:.0f} points would fit; {}choose from fewer points, or use device cpu",
      facts.points, format_bytes(needed), format_bytes(room),
      std::floor(std::sqrt(0.9 * room / entry_bytes(facts, o))),
      !computed                          ? ""
      : o.kernel.type == KernelType::rbf ? "approximate the kernel with a rank, such as 512, "
                                         : "approximate the kernel with a rank on device cpu, ");
}

PreparedProblem prepare_as_planned(const PointsView& view, std::span<const Index> subset,
                                   const SelectOptions& o, const Plan& plan,
                                   const KeepGoing& keep_going) {
  const bool points_there = plan.device != "cpu" && plan.form == FormKind::covariance;
  return points_there ? prepare_on_card(view, subset, o, plan, keep_going)
                      : prepare_problem(view, subset, o, plan, keep_going);
}

double card_bytes(const PlanFacts& facts, const SelectOptions& o, bool reads_host) {
  if (holds_kernel_on_card(facts, o)) return bytes_of_kernel(facts, o);
  const CardBytes taken = parts_of(facts, o);
  return (reads_host ? std::min(places, taken.points / 4) : taken.points) + taken.beside +
         taken.blocks + of_cuda;
}

bool reads_host(const PlanFacts& facts, const SelectOptions& o, Index card_memory) {
  if (holds_kernel_on_card(facts, o)) return false;
  const CardBytes taken = parts_of(facts, o);
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
  const double sample =
      o.rank > 0
          ? static_cast<double>(landmark_sample(facts.points, std::min(o.rank, facts.points)))
          : 0;
  return places + 8 * (6 * dim * dim + 8 * k * (dim + k)) + 8 * sample * (rank + d) +
         gamma_bytes(n, d, false, o.kernel) + (o.refine == Refine::middle ? 12 * n : 0) +
         (o.assignment ? 12 * n : 0) + (o.codes ? 8 * n * k : 0);
}

}  // namespace fwsr
