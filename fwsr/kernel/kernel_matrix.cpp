#include "fwsr/kernel/kernel_matrix.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"

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
  if (weights.empty())
    row_squares(out, threads);
  else
    weighted_row_squares(weights, out, threads);
}

void KernelMatrix::weighted_row_squares(const std::vector<double>& weights, std::span<double> out,
                                        int threads) const {
  sum_rows(*this, out, threads, [&](const double* row, Index begin, Index end) {
    return weighted_dot(weights, begin, row, row, end - begin);
  });
}

/// Every entry of K is met once for all vectors. These are multiplied so many at a time, the last ones beside zeros:
/// products of one shape.
void KernelMatrix::multiply_many(std::span<const double> x, Index count, std::span<double> out,
                                 int threads, const KeepGoing& keep_going) const {
  constexpr Index side = 8;
  const Index n = size(), sides = block_count(count, side);
  std::vector<double> right(at(n * sides * side)), found(right.size());
  // Where number i of a vector is in either matrix: n x side for every side.
  const auto place = [&](Index i, Index vector) {
    return at((vector / side * n + i) * side + vector % side);
  };
  for (Index c = 0; c < count; ++c)
    for (Index i = 0; i < n; ++i) right[place(i, c)] = x[at(c * n + i)];
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going);
        scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          for (Index c = 0; c < count; c += side)
            fwsr::multiply(Product<double>{.m = last - first,
                                           .n = side,
                                           .k = end - begin,
                                           .left = tile,
                                           .left_stride = stride,
                                           .right = right.data() + place(begin, c),
                                           .right_stride = side,
                                           .b = begin > 0 ? 1.0 : 0.0,
                                           .out = found.data() + place(first, c),
                                           .out_stride = side});
        });
      },
      row_block());
  for (Index c = 0; c < count; ++c)
    for (Index i = 0; i < n; ++i) out[at(c * n + i)] = found[place(i, c)];
}

void KernelMatrix::sum_left(const Explained& e, const std::vector<double>& weights,
                            const LeftSums& to, int threads, const KeepGoing& keep_going) const {
  const Index n = size(), m = e.m;
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const Index rows = last - first;
        std::vector<double> t(at(e.theta ? rows * m : 0)), p;  // Theta^T u_i, row by row
        if (e.theta && m > 0)
          fwsr::multiply(Product<double>{.op_a = Op::transpose,
                                         .m = rows,
                                         .n = m,
                                         .k = m,
                                         .left = e.u + first,
                                         .left_stride = n,
                                         .right = e.theta,
                                         .right_stride = e.theta_stride,
                                         .out = t.data(),
                                         .out_stride = m});
        for (const std::span<double> sums : {to.squares, to.with_k})
          if (!sums.empty()) std::fill(sums.begin() + first, sums.begin() + last, 0.0);
        scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          const Index width = end - begin;
          p.resize(at(rows * width));
          copy_rows(tile, stride, rows, width, p.data(), width);
          if (m > 0)
            fwsr::multiply(Product<double>{.op_a = e.theta ? Op::none : Op::transpose,
                                           .m = rows,
                                           .n = width,
                                           .k = m,
                                           .a = -1,
                                           .left = e.theta ? t.data() : e.u + first,
                                           .left_stride = e.theta ? m : n,
                                           .right = e.v + begin,
                                           .right_stride = n,
                                           .b = 1,
                                           .out = p.data(),
                                           .out_stride = width});
          for (Index i = 0; i < rows; ++i) {
            const double* const own = p.data() + i * width;
            to.squares[at(first + i)] += weighted_dot(weights, begin, own, own, width);
            if (!to.with_k.empty())
              to.with_k[at(first + i)] +=
                  weighted_dot(weights, begin, own, tile + i * stride, width);
          }
        });
      },
      row_block());
}

double held_kernel_bytes(double n, bool single) {
  const auto side = static_cast<double>(tile_side);
  return (single ? 4 : 8) * std::min(n * n, 0.5 * n * (n + side)) + 8 * n;
}

}  // namespace fwsr
