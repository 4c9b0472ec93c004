#include "fwsr/solver/plan_parts.hpp"

#include <cmath>

#include <fmt/format.h>

#include "fwsr/kernel/landmarks.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

PlanRequest plan_request(const PlanFacts& facts, const SelectOptions& options) {
  const KernelFormula& kernel = formula_of(options.kernel.type);
  const PlanSizes s{.n = static_cast<double>(facts.points),
                    .d = static_cast<double>(facts.features + 1),
                    .k = static_cast<double>(options.exemplars),
                    .entries = static_cast<double>(facts.entries),
                    .side = static_cast<double>(facts.side_by_side),
                    .threads = static_cast<double>(facts.threads),
                    .sparse = facts.sparse && kernel.of != KernelOf::absolute_distances,
                    .entrywise = kernel.computed()};
  return {.facts = facts,
          .options = options,
          .kernel = kernel,
          .sizes = s,
          .kernel_flops = 2 * (s.sparse ? s.row() : s.d) + (kernel.linear ? 0 : 20),
          .single = facts.single && !options.precise};
}

FactorCost factor_cost(const PlanRequest& request) {
  const PlanSizes& s = request.sizes;
  const auto r = static_cast<double>(request.rank());
  const double size = request.single ? 4 : 8;
  const auto sample = static_cast<double>(landmark_sample(request.facts.points, request.rank()));
  return {.bytes = size * (s.n * r + 2 * r * r) + 8 * (s.n + 3 * r * r + sample * r + r * s.d),
          .per_thread = (8 + size) * 480 * r + 8 * 480 * (s.d + 96),
          .flops = (s.n + sample) * r * (request.kernel_flops + r)};
}

std::string note_on_rank(const PlanFacts& facts, const SelectOptions& o) {
  if (o.rank <= facts.points) return "";
  return fmt::format("a rank of {} was asked for, there are {} points: {} is used", o.rank,
                     facts.points, facts.points);
}

namespace {

/// Some rows as one thread holds them, ready for products.
double rows_bytes(const PlanSizes& s, double rows, double number) {
  const auto block = static_cast<double>(Points::sparse_rows);
  if (!s.sparse) return number * rows * s.d;
  return std::ceil(rows / block) * (4 * s.d + 8 * block * std::min(s.d, block * s.row()));
}

/// Of one thread that computes tiles of K: the rows of two, the points' and the product's. Where the diagonal is much
/// of the only tile it is computed in double after all.
double tile_bytes(const PlanSizes& s, bool single) {
  const auto side = static_cast<double>(tile_side);
  const double padded = std::min(side, std::ceil(s.n / 48) * 48), panels = s.n > side ? 2 : 1;
  const double rows = single ? std::min(side, s.n) : padded;
  const double again = single && s.entrywise && s.n < 64 ? 2 * rows_bytes(s, padded, 8) : 0;
  return (s.sparse ? 1 : panels) * rows_bytes(s, rows, single ? 4 : 8) + again +
         (single ? 4 : 8) * rows * rows + 8 * rows * rows;
}

/// Of one thread that asks for the kernel between a block of points and the exemplars.
double values_bytes(const PlanSizes& s) {
  return rows_bytes(s, std::min(96.0, s.n), 8) +
         (s.sparse ? 0 : rows_bytes(s, std::min(384.0, s.k), 8)) + 8 * 384 * 3 * s.k;
}

}  // namespace

/// Both, at different times, of so many threads as there are blocks for; told for each of all threads.
double blocks_bytes(const PlanSizes& s, bool single) {
  const double crew = std::min(s.threads, std::ceil(s.n / 384));
  return std::max(tile_bytes(s, single), values_bytes(s)) * crew / s.threads;
}

Operations Pieces::product(double flops, bool in_single) const {
  return in_single ? Operations{.single_products = flops} : Operations{.products = flops};
}

Operations Pieces::kernel_entries(double count, bool in_single) const {
  const bool absolute = kernel.of == KernelOf::absolute_distances;
  if (sparse && !absolute)
    return {.loops = count * (23 * entries / std::max(1.0, n) + kernel.loops)};
  if (absolute) return {.loops = count * (50 * d + kernel.loops)};
  return product(3 * d * count, in_single) + Operations{.loops = count * kernel.loops};
}

Operations Pieces::factor(Index rank) const {
  const auto r = static_cast<double>(rank);
  const auto sample = static_cast<double>(landmark_sample(static_cast<Index>(n), rank));
  return kernel_entries((n + sample) * r, single) + product(3 * n * r * r, single) +
         Operations{.products = 4 * sample * r * r, .fresh_bytes = number * n * r};
}

Operations Pieces::visit() const {
  if (sparse) return {.loops = 20 * entries, .bytes = 12 * entries};
  return {.loops = 20 * n * d, .bytes = number * n * d};
}

Operations Pieces::least_squares() const {
  const double all = k + included;
  return {.loops = 6 * n * all * all};
}

Operations Pieces::closing_by_kernel() const {
  const double all = k + included;
  return 2 * kernel_entries(n * all, false) + Operations{.products = 6 * n * all * all} +
         least_squares();
}

}  // namespace fwsr
