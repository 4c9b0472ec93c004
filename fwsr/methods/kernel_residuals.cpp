#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/orthogonal.hpp"

namespace fwsr {

namespace {

std::vector<Index> numbers(Index first, Index last) {
  std::vector<Index> some(at(last - first));
  std::iota(some.begin(), some.end(), first);
  return some;
}

}  // namespace

KernelResiduals::KernelResiduals(const Task& task, Index most, double tolerance, bool energies,
                                 double ridge)
    : Residuals(task, energies),
      kernel_(task.kernel),
      // Entries of K are rounded, and squares are sums of as many of them as there are picks.
      rounding_(4 * std::numeric_limits<double>::epsilon() * static_cast<double>(most)),
      factor_(make_large_array<double>(std::min(most, task.size()) * task.size())) {
  const Index n = task.size();
  if (energies && task.points && n <= held_points) {
    held_ = make_held_kernel(*kernel_, task.threads);
    kernel_ = held_.get();
  }
  std::vector<double> squares(at(n));
  for (Index i = 0; i < n; ++i) squares[at(i)] = kernel_->diagonal(i);
  // With a ridge small points are not what rounding left of large ones.
  start(std::move(squares), ridge > 0 ? tolerance * tolerance : std::max(tolerance, rounding_),
        ridge);
  if (!energies) return;
  std::vector<double> sums(at(n));
  kernel_->row_squares(sums, task.threads, task.terms.weights);
  start_energies(std::move(sums));
}

double KernelResiduals::doubt(Index i) const {
  return rounding_ * largest_square() / squares()[at(i)];
}

double KernelResiduals::square_of(Index i) const {
  double square = kernel_->diagonal(i);
  for (Index t = 0; t < rank(); ++t) {
    const double v = factor_[at(t * size() + i)];
    square -= v * v;
  }
  return square;
}

double KernelResiduals::append(Index pick, std::span<double> x, std::span<double> y) {
  const double square = square_of(pick);
  if (square <= floor_of_pick()) return 0;
  const double norm = std::sqrt(ridge_of_pick() + square);
  const Index n = size(), known = rank();
  for_blocks(task().threads, n, [&](Index, Index first, Index last) {
    throw_if_cancelled(task().keep_going);
    const std::vector<double> column =
        kernel_->values(std::vector<Index>{pick}, numbers(first, last));
    std::copy(column.begin(), column.end(), x.begin() + first);
    for (Index t = 0; t < known; ++t) {
      const double* row = factor_.get() + t * n;
      const double at_pick = row[pick];
      for (Index i = first; i < last; ++i) x[at(i)] -= at_pick * row[i];
    }
    for (Index i = first; i < last; ++i) x[at(i)] /= norm;
  });
  x[at(pick)] = ridge_of_pick() > 0 ? square / norm : norm;
  std::copy(x.begin(), x.end(), factor_.get() + known * n);
  if (y.empty()) return norm;
  const std::vector<double> sx = weighted({x.begin(), x.end()});
  kernel_->multiply(sx, y, task().threads);
  std::vector<double> along(at(known));
  const int threads =
      threads_for(task().threads, 2 * static_cast<double>(n) * static_cast<double>(known));
  for_tasks(threads, known,
            [&](Index t) { along[at(t)] = dot(factor_.get() + t * n, sx.data(), n); });
  for_blocks(threads, n, [&](Index, Index first, Index last) {
    for (Index t = 0; t < known; ++t)
      for (Index i = first; i < last; ++i) y[at(i)] -= along[at(t)] * factor_[at(t * n + i)];
  });
  return norm;
}

void KernelResiduals::compute(std::span<const Index> some, double* squares,
                              double* energies) const {
  for (std::size_t b = 0; b < some.size(); ++b) squares[b] = square_of(some[b]);
  if (energies) energies_by_rows(some, energies);
}

/// Rows of K less those of the factor's product, squared and summed.
void KernelResiduals::energies_by_rows(std::span<const Index> some, double* energies) const {
  const Index n = size(), k = rank(), count = static_cast<Index>(some.size());
  std::vector<double> own(at(batch * k)), rows(at(batch * sweep_rows));
  for (Index b = 0; b < count; ++b)
    for (Index t = 0; t < k; ++t) own[at(b * k + t)] = factor_[at(t * n + some[at(b)])];
  std::fill(energies, energies + count, 0.0);
  for (Index first = 0; first < n; first += sweep_rows) {
    throw_if_cancelled(task().keep_going);
    const Index last = std::min(n, first + sweep_rows), width = last - first;
    const std::vector<double> values = kernel_->values(some, numbers(first, last));
    std::copy(values.begin(), values.end(), rows.begin());
    if (k > 0)
      multiply(Product<double>{.m = batch,
                               .n = width,
                               .k = k,
                               .a = -1,
                               .left = own.data(),
                               .left_stride = k,
                               .right = factor_.get() + first,
                               .right_stride = n,
                               .b = 1,
                               .out = rows.data(),
                               .out_stride = width});
    for (Index b = 0; b < count; ++b)
      energies[b] += weighted_dot(task().terms.weights, first, &rows[at(b * width)],
                                  &rows[at(b * width)], width);
  }
}

}  // namespace fwsr
