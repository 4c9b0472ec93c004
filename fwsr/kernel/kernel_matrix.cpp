#include "fwsr/kernel/kernel_matrix.hpp"

#include <algorithm>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

std::vector<double> KernelMatrix::diagonals(std::span<const Index> points, Eta eta) const {
  std::vector<double> found;
  for (const Index i : points) found.push_back(diagonal(i, eta));
  return found;
}

void KernelMatrix::column(Index j, std::span<double> out) const {
  scan(j, j + 1, [&](Index begin, Index end, const double* tile, Index) {
    std::copy(tile, tile + (end - begin), out.data() + begin);
  });
}

namespace {

/// out_i = sum over the tiles of row i of add(entries, begin, end).
template <class Add>
void sum_rows(const KernelMatrix& kernel, std::span<double> out, int threads, const Add& add) {
  const auto n = static_cast<double>(kernel.size());
  for_blocks(
      threads_for(threads, 2 * n * n), kernel.size(),
      [&](Index, Index first, Index last) {
        std::fill(out.data() + first, out.data() + last, 0.0);
        kernel.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          for (Index i = first; i < last; ++i)
            out[static_cast<std::size_t>(i)] += add(tile + (i - first) * stride, begin, end);
        });
      },
      kernel.row_block());
}

}  // namespace

void KernelMatrix::multiply(std::span<const double> x, std::span<double> out, int threads) const {
  sum_rows(*this, out, threads, [&](const double* row, Index begin, Index end) {
    return dot(row, x.data() + begin, end - begin);
  });
}

void KernelMatrix::row_squares(std::span<double> out, int threads) const {
  sum_rows(*this, out, threads,
           [](const double* row, Index begin, Index end) { return dot(row, row, end - begin); });
}

void KernelMatrix::row_squares(std::span<double> out, int threads,
                               const std::vector<double>& weights) const {
  if (weights.empty()) return row_squares(out, threads);
  sum_rows(*this, out, threads, [&](const double* row, Index begin, Index end) {
    return weighted_dot(weights, begin, row, row, end - begin);
  });
}

double held_kernel_bytes(double n, bool single) {
  const auto side = static_cast<double>(tile_side);
  return (single ? 4 : 8) * std::min(n * n, 0.5 * n * (n + side)) + 8 * n;
}

}  // namespace fwsr
