#include "fwsr/linalg/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// Rows are taken into the basis so many at a time: what is left of all others is then products of matrices.
constexpr Index rows_at_once = 32;
/// A row of the block is taken while it is no shorter than this part of the longest outside: little less than the longest
/// of all, so that no direction comes from the rounding of others.
constexpr double nearly_longest = 0.25;
constexpr double nothing = 1e-12;  // of the longest row

double length_of(const double* row, Index d) {
  return std::sqrt(dot(row, row, d));
}

/// Rows less their projections on orthonormal ones, once. Work is shared out by rows, where these are many, else by
/// columns of the two products.
void project_away(std::span<const double> onto, const RowsOfNumbers& rows, int threads = 1) {
  constexpr Index at_once = 96;
  const Index rank = rows.d > 0 ? std::ssize(onto) / rows.d : 0;
  if (rank == 0 || rows.count == 0) return;
  std::vector<double> along(at(rows.count * rank));
  if (rows.count == 1) {  // a product of matrices would copy them first
    const MatrixView<const double> all{onto.data(), rank, rows.d, rows.d};
    multiply_vector(Op::none, all, rows.first, along.data());
    for (double& a : along) a = -a;
    return add_vector(Op::transpose, all, along.data(), rows.first);
  }
  const double work = 2.0 * static_cast<double>(rows.count) * static_cast<double>(onto.size());
  const auto shared = [&](Index n, auto&& part) {
    for_blocks(
        threads_for(threads, work), n, [&](Index, Index first, Index last) { part(first, last); },
        at_once);
  };
  // along = rows onto^T, of some rows and some of what is projected on.
  const auto multiply_with = [&](Index first, Index count, Index begin, Index width) {
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = count,
                             .n = width,
                             .k = rows.d,
                             .left = rows.first + first * rows.stride,
                             .left_stride = rows.stride,
                             .right = onto.data() + begin * rows.d,
                             .right_stride = rows.d,
                             .out = along.data() + first * rank + begin,
                             .out_stride = rank});
  };
  // rows -= along onto, of some rows and some columns.
  const auto subtract = [&](Index first, Index count, Index begin, Index width) {
    multiply(Product<double>{.m = count,
                             .n = width,
                             .k = rank,
                             .a = -1,
                             .left = along.data() + first * rank,
                             .left_stride = rank,
                             .right = onto.data() + begin,
                             .right_stride = rows.d,
                             .b = 1,
                             .out = rows.first + first * rows.stride + begin,
                             .out_stride = rows.stride});
  };
  if (rows.count > at_once)
    return shared(rows.count, [&](Index first, Index last) {
      multiply_with(first, last - first, 0, rank);
      subtract(first, last - first, 0, rows.d);
    });
  shared(rank, [&](Index first, Index last) { multiply_with(0, rows.count, first, last - first); });
  shared(rows.d, [&](Index first, Index last) { subtract(0, rows.count, first, last - first); });
}

/// Pivoted Gram-Schmidt of a block of rows that are orthogonal to the basis: longest first, while longer than `enough`;
/// the first of all when longer than `least`. Which rows were taken; these are orthonormal then.
std::vector<Index> orthonormalise(std::vector<double>& block, Index d, double least,
                                  double enough) {
  const Index count = std::ssize(block) / d;
  std::vector<Index> taken;
  std::vector<bool> used(at(count), false);
  const auto row = [&](Index i) { return block.data() + i * d; };
  const auto take_from = [&](double* v, const double* q) {
    const double s = dot(v, q, d);
    for (Index l = 0; l < d; ++l) v[l] -= s * q[l];
  };
  while (true) {
    Index best = -1;
    double longest = 0;
    for (Index i = 0; i < count; ++i)
      if (!used[at(i)])
        if (const double v = length_of(row(i), d); v > longest) best = i, longest = v;
    if (best < 0 || longest <= least || (!taken.empty() && longest <= enough)) break;
    for (const Index t : taken) take_from(row(best), row(t));  // for what rounding left
    const double length = length_of(row(best), d);
    if (length <= least) break;
    used[at(best)] = true;
    for (Index l = 0; l < d; ++l) row(best)[l] /= length;
    for (Index i = 0; i < count; ++i)
      if (!used[at(i)]) take_from(row(i), row(best));
    taken.push_back(best);
  }
  return taken;
}

/// Rows that are orthonormal but for rounding, one after the other.
void normalise_again(std::vector<double>& rows, Index d) {
  for (Index i = 0; i < std::ssize(rows) / d; ++i) {
    double* const row = rows.data() + i * d;
    for (Index j = 0; j < i; ++j) {
      const double* const other = rows.data() + j * d;
      const double s = dot(row, other, d);
      for (Index l = 0; l < d; ++l) row[l] -= s * other[l];
    }
    const double length = length_of(row, d);
    for (Index l = 0; l < d; ++l) row[l] /= length;
  }
}

/// Rows that are not in the basis yet, less their projection on it, one after the other.
class LeftRows {
 public:
  LeftRows(std::vector<double> rows, Index count, Index d, int threads)
      : rows_(std::move(rows)), count_(count), d_(d), threads_(threads) {}

  /// Of all rows.
  std::vector<double> lengths() const {
    std::vector<double> lengths;
    for (Index i = 0; i < count_; ++i) lengths.push_back(length_of(rows_.data() + i * d_, d_));
    return lengths;
  }
  /// Takes some out, which are given back.
  std::vector<double> take(std::vector<Index> some) {
    std::vector<double> taken;
    for (const Index i : some)
      taken.insert(taken.end(), rows_.begin() + i * d_, rows_.begin() + (i + 1) * d_);
    std::sort(some.rbegin(), some.rend());
    for (const Index i : some) {  // the last one takes the place
      --count_;
      if (i < count_) std::copy_n(rows_.begin() + count_ * d_, d_, rows_.begin() + i * d_);
    }
    return taken;
  }
  void put_back(const double* row) { std::copy_n(row, d_, rows_.begin() + count_++ * d_); }
  void project(std::span<const double> onto) {
    project_away(onto, {.first = rows_.data(), .count = count_, .d = d_, .stride = d_}, threads_);
  }

 private:
  std::vector<double> rows_;
  Index count_, d_;
  int threads_;
};

/// The columns in which some row is not zero.
std::vector<Index> used_columns(const std::vector<double>& rows, Index d) {
  std::vector<char> used(at(d));
  for (std::size_t i = 0; i < rows.size(); i += at(d))
    for (std::size_t l = 0; l < at(d); ++l) used[l] |= static_cast<char>(rows[i + l] != 0);
  std::vector<Index> columns;
  for (Index l = 0; l < d; ++l)
    if (used[at(l)]) columns.push_back(l);
  return columns;
}

/// Rows of d numbers as they are in some columns, and back, with zeros elsewhere.
std::vector<double> in_columns(const std::vector<double>& rows, Index d,
                               const std::vector<Index>& columns) {
  std::vector<double> some;
  some.reserve(rows.size() / at(d) * columns.size());
  for (std::size_t i = 0; i < rows.size(); i += at(d))
    for (const Index l : columns) some.push_back(rows[i + at(l)]);
  return some;
}
std::vector<double> spread_out(const std::vector<double>& some, Index d,
                               const std::vector<Index>& columns) {
  std::vector<double> rows(columns.empty() ? 0 : some.size() / columns.size() * at(d));
  auto from = some.begin();
  for (std::size_t i = 0; i < rows.size(); i += at(d))
    for (const Index l : columns) rows[i + at(l)] = *from++;
  return rows;
}

}  // namespace

std::vector<double> orthonormal_rows(std::vector<double> rows, Index m, Index d, int threads) {
  std::vector<double> basis;
  if (m == 0 || d == 0) return basis;
  // Rows of sparse points have numbers in few columns.
  if (const std::vector<Index> columns = used_columns(rows, d); 2 * std::ssize(columns) < d)
    return spread_out(
        orthonormal_rows(in_columns(rows, d, columns), m, std::ssize(columns), threads), d,
        columns);
  LeftRows left(std::move(rows), m, d, threads);
  double longest = 0;
  while (std::ssize(basis) < std::min(m, d) * d) {
    const std::vector<double> lengths = left.lengths();
    std::vector<Index> order = index_range(0, std::ssize(lengths));
    const Index count = std::min(rows_at_once, std::ssize(order));
    const Index sorted = std::min(count + 1, std::ssize(order));
    std::partial_sort(order.begin(), order.begin() + sorted, order.end(), [&](Index a, Index b) {
      return lengths[at(a)] != lengths[at(b)] ? lengths[at(a)] > lengths[at(b)] : a < b;
    });
    if (count == 0) break;
    longest = std::max(longest, lengths[at(order[0])]);
    const double least = nothing * longest;
    if (!(lengths[at(order[0])] > least)) break;
    const double outside = sorted > count ? lengths[at(order[at(count)])] : 0.0;
    order.resize(at(count));
    std::vector<double> block = left.take(order);
    project_away(basis, {.first = block.data(), .count = count, .d = d, .stride = d}, threads);
    const std::vector<Index> taken =
        orthonormalise(block, d, least, std::max(least, nearly_longest * outside));
    std::vector<double> fresh;
    for (const Index t : taken)
      fresh.insert(fresh.end(), block.begin() + t * d, block.begin() + (t + 1) * d);
    // Of rows that became short in the block, what rounding had left along the basis has become long.
    project_away(basis, {.first = fresh.data(), .count = std::ssize(taken), .d = d, .stride = d},
                 threads);
    normalise_again(fresh, d);
    basis.insert(basis.end(), fresh.begin(), fresh.end());
    left.project(fresh);
    for (Index i = 0; i < count; ++i)
      if (std::find(taken.begin(), taken.end(), i) == taken.end() &&
          length_of(block.data() + i * d, d) > least)
        left.put_back(block.data() + i * d);
  }
  return basis;
}

std::vector<double> orthonormal_beyond(std::span<const double> orthonormal, Index d) {
  const Index rank = std::ssize(orthonormal) / d;
  if (rank >= d) return {};
  std::vector<double> rest(at(d * d));
  for (Index l = 0; l < d; ++l) rest[at(l * d + l)] = 1;
  take_away(orthonormal, {.first = rest.data(), .count = d, .d = d, .stride = d});
  std::vector<double> beyond = orthonormal_rows(std::move(rest), d, d);
  beyond.resize(at((d - rank) * d));
  return beyond;
}

PivotedCholesky pivoted_cholesky(std::vector<double> matrix, Index m) {
  PivotedCholesky result{.size = m, .rank = 0, .pivots = {}, .lower = {}};
  std::vector<Index> order = index_range(0, m);
  double largest = 0;  // rounding may make a square that is zero negative, and all of them
  for (Index i = 0; i < m; ++i) largest = std::max(largest, matrix[at(i * m + i)]);
  // Every row is as long as any other, so that what is left of short ones is not taken for the rounding of long ones; but
  // for those that are nothing beside the longest.
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  std::vector<double> length(at(m)), diagonal(at(m));
  for (Index i = 0; i < m; ++i)
    if (const double square = matrix[at(i * m + i)]; square > epsilon * epsilon * largest)
      length[at(i)] = std::sqrt(square), diagonal[at(i)] = 1;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j)
      if (const double both = length[at(i)] * length[at(j)]; both > 0)
        matrix[at(i * m + j)] /= both;
  const double enough = 4 * static_cast<double>(m) * epsilon;
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
    for (Index r = 0; r < result.rank; ++r)
      result.lower.push_back(length[at(p)] * columns[at(p * m + r)]);
  return result;
}

void take_away(std::span<const double> orthonormal, const RowsOfNumbers& rows) {
  for (int twice = 0; twice < 2; ++twice) project_away(orthonormal, rows);
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
