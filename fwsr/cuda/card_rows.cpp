#include "fwsr/cuda/card_rows.hpp"

#include <algorithm>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/middle_row.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr::cuda {

std::optional<EntryFormula> formula_on_card(const Kernel& type, const Points& points,
                                            const KernelMatrix& kernel) {
  using Of = EntryFormula::Of;
  if (points.sparse()) return std::nullopt;
  EntryFormula formula;
  switch (type.type) {
    case KernelType::linear:
      return formula;
    case KernelType::rbf:
      formula.of = Of::squared_distances;
      formula.far = far_in_double;
      break;
    case KernelType::laplacian:
      formula.of = Of::absolute_distances;
      break;
    case KernelType::polynomial:
      formula.of = Of::powers;
      break;
    default:
      return std::nullopt;
  }
  constexpr double largest_gamma =
      1e250;  // any distance is infinite then, and none is 0 times infinity
  const KernelNumbers numbers = numbers_of(type, points.unit());
  formula.gamma = std::min(numbers.gamma, largest_gamma);
  formula.coef0 = numbers.coef0;
  formula.degree = numbers.degree;
  formula.factor = kernel.unit() * kernel.unit();
  formula.extra = kernel.eta() * kernel.eta();
  return formula;
}

CardRows::CardRows(Device& device, const Points& points, const KernelMatrix& kernel,
                   const EntryFormula& formula, int threads, const KeepGoing& keep_going)
    : device_(device),
      formula_(formula),
      n_(points.size()),
      d_(points.dim()),
      rows_(device, n_ * d_),
      squares_(device, n_),
      diagonal_(device, n_) {
  const bool distances = formula_.of == EntryFormula::Of::squared_distances ||
                         formula_.of == EntryFormula::Of::absolute_distances;
  const std::vector<double> middle = distances ? middle_of(points) : std::vector<double>();
  constexpr Index numbers_at_once = Index{1} << 22;
  const Index at_once = std::clamp<Index>(numbers_at_once / d_, 1, n_);
  std::vector<double> rows(at(at_once * d_)), squares(at(n_)), diagonal(at(n_));
  for (Index begin = 0; begin < n_; begin += at_once) {
    const Index count = std::min(at_once, n_ - begin);
    for_blocks(threads_for(threads, 4.0 * static_cast<double>(count * d_)), count,
               [&](Index, Index first, Index last) {
                 throw_if_cancelled(keep_going);
                 points.rows(begin + first, begin + last, rows.data() + first * d_);
                 for (Index i = first; i < last; ++i) {
                   double* const own = rows.data() + i * d_;
                   for (std::size_t l = 0; l < middle.size(); ++l) own[l] -= middle[l];
                   squares[at(begin + i)] = dot(own, own, d_);
                   diagonal[at(begin + i)] = kernel.diagonal(begin + i);
                 }
               });
    rows_.put(std::span<const double>(rows).first(at(count * d_)), begin * d_);
  }
  squares_.put(squares);
  diagonal_.put(diagonal);
}

void CardRows::measure(const EntryBlock& block, double* out) const {
  const Index columns = n_ - block.column;
  if (formula_.of == EntryFormula::Of::absolute_distances)
    return launch_absolute_distances(device_, view(), block, out);
  device_.blas().multiply({.left = {rows_.get() + block.first * d_, block.rows, d_, d_},
                           .right = {rows_.get() + block.column * d_, columns, d_, d_},
                           .transposed = true,
                           .out = out,
                           .out_stride = columns});
}

void CardRows::entries(Index first, Index rows, double* out) const {
  const EntryBlock block{.first = first, .rows = rows, .column = 0};
  measure(block, out);
  launch_entries(device_, formula_, view(), block, out);
}

}  // namespace fwsr::cuda
