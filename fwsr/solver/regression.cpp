#include "fwsr/solver/regression.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "fwsr/kernel/check_given.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 384;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double total(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// Point i less its projection on the exemplars has a square below zero, `rest`, with the weights that `scratch`
/// leads to: rounding, or the proof that a given matrix is no kernel.
void refuse_no_kernel(const KernelMatrix& kernel, std::span<const Index> exemplars,
                      const PivotedCholesky& factor, Index i, double rest,
                      std::vector<double>& scratch) {
  if (kernel.entry_error() == 0) return;
  factor.weights(scratch.data());
  const auto root = [&](Index j) {
    return std::sqrt(std::max(0.0, kernel.diagonal(j, Eta::left_out)));
  };
  double size = root(i);
  for (Index r = 0; r < factor.rank; ++r)
    size += std::abs(scratch[at(r)]) * root(exemplars[at(factor.pivots[at(r)])]);
  if (rest >= -kernel.entry_error() * size * size) return;
  const double unit = kernel.unit();
  throw_no_kernel(fmt::format(
      "the square of what the exemplars leave of a point comes out as {:.4g}, of {:.4g} before",
      rest / unit / unit, kernel.diagonal(i, Eta::left_out) / unit / unit));
}

}  // namespace

Regression regress(const KernelMatrix& kernel, const Points* linear,
                   std::span<const Index> exemplars, double rho, int threads, const Alive& alive) {
  const Index n = kernel.size();
  const auto k = static_cast<Index>(exemplars.size());
  const std::vector<double> among = kernel.values(exemplars, exemplars, Eta::left_out);
  const PivotedCholesky plain = pivoted_cholesky(among, k);
  std::vector<double> ridged = among;
  for (Index t = 0; t < k; ++t) ridged[at(t * k + t)] += rho * rho;
  const PivotedCholesky ridge = rho > 0 ? pivoted_cholesky(ridged, k) : plain;

  // Explicit vectors keep twice the digits of their inner products: use them where they exist.
  std::vector<double> basis;
  Index rank = 0, d = 0;
  if (linear) {
    d = linear->features();
    std::vector<double> rows(at(k * d)), row(at(linear->dim()));
    for (Index t = 0; t < k; ++t) {
      linear->row(exemplars[at(t)], row.data());
      std::copy(row.begin(), row.begin() + d, rows.begin() + t * d);
    }
    basis = orthonormal_rows(std::move(rows), k, d);
    rank = d ? static_cast<Index>(basis.size()) / d : 0;
  }
  // Rows first .. last less their projections, twice for what rounding left.
  const auto residuals = [&](Index first, Index last) {
    const Index rows = last - first, dim = linear->dim();
    std::vector<double> a(at(rows * dim)), s(at(rows * rank));
    linear->rows(first, last, a.data());
    for (int twice = 0; twice < 2 && rank > 0; ++twice) {
      multiply(Product<double>{.op_b = Op::transpose,
                               .m = rows,
                               .n = rank,
                               .k = d,
                               .left = a.data(),
                               .left_stride = dim,
                               .right = basis.data(),
                               .right_stride = d,
                               .out = s.data(),
                               .out_stride = rank});
      multiply(Product<double>{.m = rows,
                               .n = d,
                               .k = rank,
                               .a = -1,
                               .left = s.data(),
                               .left_stride = rank,
                               .right = basis.data(),
                               .right_stride = d,
                               .b = 1,
                               .out = a.data(),
                               .out_stride = dim});
    }
    double sum = 0;
    for (Index i = 0; i < rows; ++i) sum += dot(a.data() + i * dim, a.data() + i * dim, d);
    return sum;
  };

  const bool need_kernel = !linear || rho > 0;
  const auto blocks = at(block_count(n, sweep_rows));
  std::vector<double> projection(blocks), ridges(blocks), trace(blocks);
  for_blocks(
      threads, n,
      [&](Index b, Index first, Index last) {
        stop_unless(alive);
        std::vector<Index> points(at(last - first));
        std::iota(points.begin(), points.end(), first);
        std::vector<double> values, scratch(at(k));
        if (need_kernel) values = kernel.values(points, exemplars, Eta::left_out);
        for (Index i = first; i < last; ++i) {
          const double square = kernel.diagonal(i, Eta::left_out);
          const double* column = need_kernel ? values.data() + (i - first) * k : nullptr;
          trace[at(b)] += square;
          if (!linear) {
            const double rest = square - plain.squared_solution(column, scratch.data());
            if (rest < 0) refuse_no_kernel(kernel, exemplars, plain, i, rest, scratch);
            projection[at(b)] += std::max(0.0, rest);
          }
          if (rho > 0) ridges[at(b)] += square - ridge.squared_solution(column, scratch.data());
        }
        if (linear) projection[at(b)] = residuals(first, last);
      },
      sweep_rows);
  const double projected = total(projection);
  return {
      .projection = projected, .ridge = rho > 0 ? total(ridges) : projected, .trace = total(trace)};
}

}  // namespace fwsr
