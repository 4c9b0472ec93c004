#include "fwsr/linalg/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

std::vector<double> orthonormal_rows(std::vector<double> rows, Index m, Index d) {
  std::vector<double> basis;
  std::vector<bool> used(at(m), false);
  double largest = 0;
  const auto norm = [&](Index i) { return std::sqrt(dot(&rows[at(i * d)], &rows[at(i * d)], d)); };
  for (Index rank = 0; rank < m; ++rank) {
    Index best = -1;
    double best_norm = 0;
    for (Index i = 0; i < m; ++i)
      if (!used[at(i)])
        if (const double v = norm(i); v > best_norm) best = i, best_norm = v;
    largest = std::max(largest, best_norm);
    if (best < 0 || best_norm <= 1e-12 * largest) break;
    used[at(best)] = true;
    double* q = &rows[at(best * d)];
    for (Index b = 0; b < rank; ++b) {  // once more against the basis, for what rounding left
      const double s = dot(q, &basis[at(b * d)], d);
      for (Index l = 0; l < d; ++l) q[l] -= s * basis[at(b * d + l)];
    }
    const double length = norm(best);
    if (length <= 1e-12 * largest) break;
    for (Index l = 0; l < d; ++l) q[l] /= length;
    basis.insert(basis.end(), q, q + d);
    for (Index i = 0; i < m; ++i)
      if (!used[at(i)]) {
        double* v = &rows[at(i * d)];
        const double s = dot(v, q, d);
        for (Index l = 0; l < d; ++l) v[l] -= s * q[l];
      }
  }
  return basis;
}

PivotedCholesky pivoted_cholesky(std::vector<double> matrix, Index m) {
  PivotedCholesky result{.size = m, .rank = 0, .pivots = {}, .lower = {}};
  std::vector<Index> order = index_range(0, m);
  std::vector<double> diagonal(at(m));
  for (Index i = 0; i < m; ++i) diagonal[at(i)] = matrix[at(i * m + i)];
  // Rounding may make a square that is zero negative, and all of them.
  const double largest = m ? std::max(0.0, *std::max_element(diagonal.begin(), diagonal.end())) : 0;
  const double enough =
      4 * static_cast<double>(m) * std::numeric_limits<double>::epsilon() * largest;
  std::vector<double> columns(at(m * m));  // columns[i, r]: column r of the factor, rows unpermuted
  for (Index r = 0; r < m; ++r) {
    double most = 0;
    for (auto o = order.begin() + r; o != order.end(); ++o) most = std::max(most, diagonal[at(*o)]);
    if (!(most > enough)) break;
    // Of pivots that are equal but for rounding the first.
    const double near = std::max(0.5 * most, most * (1 - 1e-8) - enough);
    const auto best = std::find_if(order.begin() + r, order.end(),
                                   [&](Index i) { return diagonal[at(i)] >= near; });
    std::iter_swap(order.begin() + r, best);
    const Index p = order[at(r)];
    const double pivot = std::sqrt(diagonal[at(p)]);
    for (Index o = r; o < m; ++o) {
      const Index i = order[at(o)];
      const double v =
          i == p
              ? pivot
              : (matrix[at(i * m + p)] - dot(&columns[at(i * m)], &columns[at(p * m)], r)) / pivot;
      columns[at(i * m + r)] = v;
      diagonal[at(i)] -= v * v;
    }
    ++result.rank;
  }
  result.pivots.assign(order.begin(), order.begin() + result.rank);
  for (const Index p : result.pivots)
    for (Index r = 0; r < result.rank; ++r) result.lower.push_back(columns[at(p * m + r)]);
  return result;
}

void take_away(std::span<const double> orthonormal, const RowsOfNumbers& rows) {
  const Index rank = rows.d > 0 ? std::ssize(orthonormal) / rows.d : 0;
  if (rank == 0 || rows.count == 0) return;
  std::vector<double> along(static_cast<std::size_t>(rows.count * rank));
  for (int twice = 0; twice < 2; ++twice) {
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = rows.count,
                             .n = rank,
                             .k = rows.d,
                             .left = rows.first,
                             .left_stride = rows.stride,
                             .right = orthonormal.data(),
                             .right_stride = rows.d,
                             .out = along.data(),
                             .out_stride = rank});
    multiply(Product<double>{.m = rows.count,
                             .n = rows.d,
                             .k = rank,
                             .a = -1,
                             .left = along.data(),
                             .left_stride = rank,
                             .right = orthonormal.data(),
                             .right_stride = rows.d,
                             .b = 1,
                             .out = rows.first,
                             .out_stride = rows.stride});
  }
}

double PivotedCholesky::squared_solution(const double* b, double* scratch) const {
  double sum = 0;
  for (Index i = 0; i < rank; ++i) {
    const double* row = &lower[at(i * rank)];
    scratch[i] = (b[pivots[at(i)]] - dot(row, scratch, i)) / row[i];
    sum += scratch[i] * scratch[i];
  }
  return sum;
}

void PivotedCholesky::weights(double* scratch) const {
  for (Index i = rank - 1; i >= 0; --i) {
    scratch[i] /= lower[at(i * rank + i)];
    for (Index j = 0; j < i; ++j) scratch[j] -= lower[at(i * rank + j)] * scratch[i];
  }
}

}  // namespace fwsr
