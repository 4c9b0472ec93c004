#include "fwsr/solver/regression.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/kernel/check_given.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 256;

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

/// What some points leave of all others, from explicit vectors: these keep twice the digits of inner products.
class Residuals {
 public:
  Residuals(const Points& points, std::span<const double> orthonormal,
            std::span<const Index> spanning, const std::vector<double>& weights, int threads)
      : points_(points),
        spanning_(spanning.begin(), spanning.end()),
        weights_(weights),
        d_(points.features()),
        rank_(d_ ? static_cast<Index>(orthonormal.size()) / d_ : 0),
        basis_(orthonormal) {
    // Those are found in some d^3 operations and d^2 numbers.
    constexpr Index most = 2048;
    std::sort(spanning_.begin(), spanning_.end());
    along_beyond_ =
        !points.sparse() && 2 * rank_ > d_ && d_ <= most && points.portion().of >= 4 * d_;
    if (along_beyond_) beyond_ = orthonormal_beyond(orthonormal, d_);
    // An eta row would be one more number of each; whoever has one is expanded.
    if (points.sparse() && points.dim() == d_ && rank_ > 0)
      by_feature_ =
          std::make_unique<const Points::ByFeature>(points, basis_.data(), rank_, threads);
  }

  /// The sum of squares that is left of points first .. last.
  double sum(Index first, Index last) const {
    return by_feature_     ? of_stored(first, last)
           : along_beyond_ ? of_beyond(first, last)
                           : of_rows(first, last);
  }

 private:
  double weight(Index i) const { return weights_.empty() ? 1.0 : weights_[at(i)]; }

  /// ||a||^2 - ||Q a||^2 from stored numbers, while that leaves digits enough. Who spans the space leaves nothing.
  double of_stored(Index first, Index last) const {
    std::vector<double> s(at(by_feature_->padded()));
    double sum = 0;
    for (Index i = first; i < last; ++i) {
      points_.sparse_products(i, *by_feature_, s.data());
      const double norm = points_.squared_norm(i), taken = points_.norm_taken_away(i);
      const double left = norm - dot(s.data(), s.data(), rank_);
      if (left > doubtful * (norm + taken * taken))
        sum += weight(i) * left;
      else if (!std::binary_search(spanning_.begin(), spanning_.end(), i))
        sum += of_rows(i, i + 1);
    }
    return sum;
  }

  /// ||U a||^2, U the few directions that the span does not have.
  double of_beyond(Index first, Index last) const {
    const Index rows = last - first, dim = points_.dim(), others = d_ - rank_;
    if (others == 0) return 0;
    std::vector<double> a(at(rows * dim)), along(at(rows * others));
    points_.rows(first, last, a.data());
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = rows,
                             .n = others,
                             .k = d_,
                             .left = a.data(),
                             .left_stride = dim,
                             .right = beyond_.data(),
                             .right_stride = d_,
                             .out = along.data(),
                             .out_stride = others});
    double sum = 0;
    for (Index i = 0; i < rows; ++i)
      sum += weight(first + i) * dot(along.data() + i * others, along.data() + i * others, others);
    return sum;
  }

  /// ||a||^2 - ||Q a||^2 where that leaves nearly all digits; else rows less their projections.
  double of_rows(Index first, Index last) const {
    const Index rows = last - first, dim = points_.dim();
    std::vector<double> a(at(rows * dim)), along(at(rows * rank_));
    points_.rows(first, last, a.data());
    if (rows == 1)
      multiply_vector(Op::none, {basis_.data(), rank_, d_, d_}, a.data(), along.data());
    else if (rank_ > 0)
      multiply(Product<double>{.op_b = Op::transpose,
                               .m = rows,
                               .n = rank_,
                               .k = d_,
                               .left = a.data(),
                               .left_stride = dim,
                               .right = basis_.data(),
                               .right_stride = d_,
                               .out = along.data(),
                               .out_stride = rank_});
    double sum = 0;
    std::vector<Index> little;  // is left of these, which move to the front
    for (Index i = 0; i < rows; ++i) {
      const double* const row = a.data() + i * dim;
      const double norm = dot(row, row, d_);
      const double left = norm - dot(along.data() + i * rank_, along.data() + i * rank_, rank_);
      if (left > enough * norm) {
        sum += weight(first + i) * left;
      } else {
        std::copy_n(row, d_, a.data() + std::ssize(little) * dim);
        little.push_back(i);
      }
    }
    take_away(basis_, {.first = a.data(), .count = std::ssize(little), .d = d_, .stride = dim});
    for (std::size_t j = 0; j < little.size(); ++j) {
      const double* const row = a.data() + static_cast<Index>(j) * dim;
      sum += weight(first + little[j]) * dot(row, row, d_);
    }
    return sum;
  }

  /// Below this part of its norm, what is left of a point is computed from the point itself.
  static constexpr double doubtful = 1e-5;
  /// Of rows at hand that costs little more: 14 digits are wanted.
  static constexpr double enough = 1e-2;

  const Points& points_;
  std::vector<Index> spanning_;  // sorted
  const std::vector<double>& weights_;
  Index d_, rank_;
  std::span<const double> basis_;  // rank x d
  bool along_beyond_ = false;
  std::vector<double> beyond_;                           // (d - rank) x d
  std::unique_ptr<const Points::ByFeature> by_feature_;  // of sparse points
};

Regression added_up(const std::vector<double>& projection, const std::vector<double>& trace,
                    Index n) {
  const double projected = sum_in_segments(projection, n, sweep_rows);
  return {
      .projection = projected, .ridge = projected, .trace = sum_in_segments(trace, n, sweep_rows)};
}

/// Calls work(block, first, last) for all points.
template <class Work>
void for_points(Index n, int threads, const KeepGoing& keep_going, const Work& work) {
  for_blocks(
      threads, n,
      [&](Index b, Index first, Index last) {
        throw_if_cancelled(keep_going);
        work(at(b), first, last);
      },
      sweep_rows);
}

/// Calls use(block, i, K_ii, kernel values with the exemplars, room for as many) for all points.
template <class Use>
void for_values(const KernelMatrix& kernel, std::span<const Index> exemplars, int threads,
                const KeepGoing& keep_going, const Use& use) {
  const std::size_t k = exemplars.size();
  for_points(kernel.size(), threads, keep_going, [&](std::size_t b, Index first, Index last) {
    const std::vector<double> values =
        kernel.values(index_range(first, last), exemplars, Eta::left_out);
    std::vector<double> scratch(k);
    for (Index i = first; i < last; ++i)
      use(b, i, kernel.diagonal(i, Eta::left_out), values.data() + at(i - first) * k, scratch);
  });
}

Regression project_kernel(const KernelMatrix& kernel, std::span<const Index> exemplars,
                          const std::vector<double>& weights, int threads,
                          const KeepGoing& keep_going) {
  const auto k = static_cast<Index>(exemplars.size());
  const PivotedCholesky factor =
      pivoted_cholesky(kernel.values(exemplars, exemplars, Eta::left_out), k);
  const auto blocks = at(block_count(kernel.size(), sweep_rows));
  std::vector<double> projection(blocks), trace(blocks);
  for_values(kernel, exemplars, threads, keep_going,
             [&](std::size_t b, Index i, double square, const double* column,
                 std::vector<double>& scratch) {
               const double rest = square - factor.squared_solution(column, scratch.data());
               if (rest < 0) refuse_no_kernel(kernel, exemplars, factor, i, rest, scratch);
               const double weight = weights.empty() ? 1.0 : weights[at(i)];
               projection[b] += weight * std::max(0.0, rest);
               trace[b] += weight * square;
             });
  return added_up(projection, trace, kernel.size());
}

}  // namespace

std::vector<double> span_of(const std::vector<double>& rows, Index dim, Index features,
                            int threads) {
  const Index k = dim ? static_cast<Index>(rows.size()) / dim : 0;
  std::vector<double> own(at(k * features));
  for (Index t = 0; t < k; ++t)
    std::copy_n(rows.begin() + t * dim, features, own.begin() + t * features);
  return orthonormal_rows(std::move(own), k, features, threads);
}

BeyondSpanSums beyond_span(const Points& points, std::span<const double> orthonormal,
                           std::span<const Index> spanning, const std::vector<double>& weights,
                           int threads, const KeepGoing& keep_going) {
  const Residuals residuals(points, orthonormal, spanning, weights, threads);
  const auto blocks = at(block_count(points.size(), sweep_rows));
  std::vector<double> projection(blocks), trace(blocks);
  for_points(points.size(), threads, keep_going, [&](std::size_t b, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      trace[b] += (weights.empty() ? 1.0 : weights[at(i)]) * points.squared_norm(i);
    projection[b] = residuals.sum(first, last);
  });
  return {.projection = segments_of(projection, points.portion(), sweep_rows),
          .trace = segments_of(trace, points.portion(), sweep_rows)};
}

Regression project_points(const Points& points, std::span<const Index> exemplars, int threads,
                          const KeepGoing& keep_going) {
  std::vector<double> rows(exemplars.size() * at(points.dim()));
  for (std::size_t t = 0; t < exemplars.size(); ++t)
    points.row(exemplars[t], rows.data() + t * at(points.dim()));
  const BeyondSpanSums sums =
      beyond_span(points, span_of(rows, points.dim(), points.features(), threads), exemplars, {},
                  threads, keep_going);
  const double projection = total_of({sums.projection});
  return {.projection = projection, .ridge = projection, .trace = total_of({sums.trace})};
}

double ridge_of(const KernelMatrix& kernel, std::span<const Index> exemplars, double rho,
                const std::vector<double>& weights, int threads, const KeepGoing& keep_going) {
  const auto k = static_cast<Index>(exemplars.size());
  std::vector<double> ridged = kernel.values(exemplars, exemplars, Eta::left_out);
  for (Index t = 0; t < k; ++t) ridged[at(t * k + t)] += rho * rho;
  const PivotedCholesky factor = pivoted_cholesky(ridged, k);
  std::vector<double> ridges(at(block_count(kernel.size(), sweep_rows)));
  for_values(kernel, exemplars, threads, keep_going,
             [&](std::size_t b, Index i, double square, const double* column,
                 std::vector<double>& scratch) {
               const double left = square - factor.squared_solution(column, scratch.data());
               ridges[b] += weights.empty() ? left : weights[at(i)] * left;
             });
  return sum_in_segments(ridges, kernel.size(), sweep_rows);
}

Regression regress(const KernelMatrix& kernel, const Points* linear,
                   std::span<const Index> exemplars, double rho, int threads,
                   const KeepGoing& keep_going, const std::vector<double>& weights) {
  Regression errors = linear ? project_points(*linear, exemplars, threads, keep_going)
                             : project_kernel(kernel, exemplars, weights, threads, keep_going);
  if (rho > 0) errors.ridge = ridge_of(kernel, exemplars, rho, weights, threads, keep_going);
  return errors;
}

}  // namespace fwsr
