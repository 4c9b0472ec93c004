// The parts of the sweep that makes the rows of a factor (factor.hpp), wherever the points and their landmarks live.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/placed_blocks.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/middle_row.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr::detail {

/// Points per block of the sweep, zeros around those that are here: a multiple of every micro-kernel's size.
inline constexpr Index block_step = 48;
inline constexpr Index factor_rows = 10 * block_step;

/// Of gamma ||a||^2: when any point is farther than this from the middle, float32 distances are too
/// coarse for the exponential, and are taken in double.
inline constexpr double far = 64;

/// Rows per block of the sweep over n points, all of them wherever they live.
inline Index sweep_height(Index n) {
  return std::min(factor_rows, block_count(n, block_step) * block_step);
}

/// Rows of a block, `height` of them: those of points first .. last stand behind `before` others.
template <class T>
struct BlockRows {
  Index first, last, before;
  T* all;
  Index count() const { return last - first; }
};

/// Fills out (a portion of all points x r) block by block: fill(rows) writes numbers of type U, finish(rows) makes of
/// them, as T, what they are to be.
template <class U, class T, class Fill, class Finish>
void sweep_rows(const Portion& portion, Index height, Index r, T* out, int threads, Fill&& fill,
                Finish&& finish) {
  for_blocks_of_all(threads, portion, height, [&](int, Index first, Index last, Index before) {
    if constexpr (std::is_same_v<U, T>)
      if (last - first == height) {  // a full block needs no other place than its own
        const BlockRows<T> rows{first, last, 0, out + first * r};
        fill(rows);
        return finish(rows);
      }
    std::vector<U> tile(at(height * r));
    fill(BlockRows<U>{first, last, before, tile.data()});
    std::vector<T> rows(tile.begin(), tile.end());
    finish(BlockRows<T>{first, last, before, rows.data()});
    std::copy_n(rows.data() + before * r, (last - first) * r, out + first * r);
  });
}

// ------------------------------------------------------------------------------ K at the landmarks

/// Few points less `shift`, dim numbers each, and what is to be known of their kernel.
struct FewRows {
  const KernelFormula& formula;
  KernelNumbers numbers;
  std::span<const double> shift, rows;
};

/// K between blocks of points and the landmarks by one matrix product, in T: dense points, kernels
/// that are functions of inner products, or of squared distances, which are inner products too:
///   -||a - b||^2 / 2 = <(a, 1, -||a||^2 / 2), (b, -||b||^2 / 2, 1)>
template <class T>
class ProductColumns {
 public:
  ProductColumns(const Points& points, const FewRows& few)
      : points_(points),
        formula_(few.formula),
        numbers_(few.numbers),
        squared_(formula_.of == KernelOf::squared_distances),
        d_(points.dim()),
        width_(d_ + (squared_ ? 2 : 0)),
        count_(std::ssize(few.rows) / d_),
        scale_(formula_.column_times(numbers_)),
        shift_(few.shift.begin(), few.shift.end()),
        landmarks_(at(count_ * width_)) {
    std::vector<double> wide(at(d_));
    for (Index j = 0; j < count_; ++j) {
      T* b = landmarks_.data() + j * width_;
      for (Index l = 0; l < d_; ++l) {
        b[l] = static_cast<T>(few.rows[at(j * d_ + l)]);
        wide[at(l)] = static_cast<double>(b[l]);
      }
      const double half = dot(wide.data(), wide.data(), d_) / 2;
      if (squared_) b[d_] = static_cast<T>(-half), b[d_ + 1] = 1;
    }
  }

  /// The largest gamma ||a_i - shift||^2.
  double farthest(int threads) const {
    std::vector<double> most(at(block_count(points_.size())));
    for_blocks(threads, points_.size(), [&](Index b, Index first, Index last) {
      std::vector<double> wide(at(d_));
      std::vector<T> row(at(d_));
      for (Index i = first; i < last; ++i)
        most[at(b)] = std::max(most[at(b)], numbers_.gamma * load(i, row.data(), wide.data()));
    });
    return most.empty() ? 0.0 : *std::max_element(most.begin(), most.end());
  }

  /// K[first .. last, L], row by row; `height` rows, whatever stands around those.
  void fill(const BlockRows<T>& to, Index height) const {
    std::vector<T> rows(at(height * width_));
    std::vector<double> wide(at(d_));
    for (Index i = to.first; i < to.last; ++i) {
      T* a = rows.data() + (to.before + i - to.first) * width_;
      const double half = load(i, a, wide.data()) / 2;
      if (squared_) a[d_] = 1, a[d_ + 1] = static_cast<T>(-half);
    }
    multiply(Product<T>{.op_b = Op::transpose,
                        .m = height,
                        .n = count_,
                        .k = width_,
                        .a = static_cast<T>(scale_),
                        .left = rows.data(),
                        .right = landmarks_.data(),
                        .out = to.all});
    formula_.on<T>().columns(numbers_, height * count_, to.all);
    if constexpr (std::is_same_v<T, double>) settle_far(rows, to);
  }

 private:
  /// Values of points that are far away, from differences (middle_row.hpp).
  void settle_far(const std::vector<double>& rows, const BlockRows<double>& to) const {
    const double limit = far_in_double / numbers_.gamma;
    for (Index i = to.before; squared_ && i < to.before + to.count(); ++i) {
      const double* const a = rows.data() + i * width_;
      if (!(-2 * a[d_ + 1] > limit)) continue;
      for (Index j = 0; j < count_; ++j)
        to.all[i * count_ + j] =
            numbers_.scale.factor *
            formula_.value(numbers_, squared_distance(a, landmarks_.data() + j * width_, d_));
    }
  }
  /// a_i - shift as T; its squared norm.
  double load(Index i, T* out, double* wide) const {
    points_.row(i, wide);
    for (Index l = 0; l < d_; ++l) {
      out[l] = static_cast<T>(wide[l] - shift_[at(l)]);
      wide[l] = static_cast<double>(out[l]);
    }
    return dot(wide, wide, d_);
  }

  const Points& points_;
  const KernelFormula& formula_;
  KernelNumbers numbers_;
  bool squared_;
  Index d_, width_, count_;
  double scale_;  // of the product
  std::vector<double> shift_;
  std::vector<T> landmarks_;  // count x width
};

// ------------------------------------------------------------------------------------- times G^-T

/// B <- B G^-T in place, for rows of G's length: forward substitution, halving G until a triangle
/// of `leaf` columns is left, whose inverse is at hand. Nearly all of it is large matrix products.
template <class T>
class Substitution {
 public:
  static constexpr Index leaf =
      128;  // columns solved for by one product with the inverse of a triangle

  explicit Substitution(const std::vector<double>& lower, Index r)
      : r_(r), lower_(lower.begin(), lower.end()), inverse_(at(r * leaf)) {
    std::vector<double> column(at(leaf));
    for (Index c = 0; c < r; c += leaf) {
      const Index width = std::min(leaf, r - c);
      for (Index j = 0; j < width; ++j) {  // column j of the inverse of the triangle at c
        std::fill(column.begin(), column.end(), 0.0);
        for (Index i = j; i < width; ++i) {
          const double* row = lower.data() + (c + i) * r + c;
          column[at(i)] = ((i == j ? 1.0 : 0.0) - dot(row, column.data(), i)) / row[i];
          inverse_[at((c + i) * leaf + j)] = static_cast<T>(column[at(i)]);
        }
      }
    }
  }

  void operator()(T* b, Index rows) const {
    std::vector<T> scratch(at(rows * leaf));
    solve(b, rows, 0, block_count(r_, leaf), scratch.data());
  }

 private:
  /// Columns of leaves first .. last, given that all before them are done and subtracted.
  void solve(T* b, Index rows, Index first, Index last, T* scratch) const {
    const Index begin = first * leaf, end = std::min(r_, last * leaf);
    if (last - first > 1) {
      const Index middle = (first + last) / 2, cut = middle * leaf;
      solve(b, rows, first, middle, scratch);
      multiply(Product<T>{.op_b = Op::transpose,
                          .m = rows,
                          .n = end - cut,
                          .k = cut - begin,
                          .a = -1,
                          .left = b + begin,
                          .left_stride = r_,
                          .right = lower_.data() + cut * r_ + begin,
                          .right_stride = r_,
                          .b = 1,
                          .out = b + cut,
                          .out_stride = r_});
      return solve(b, rows, middle, last, scratch);
    }
    const Index width = end - begin;
    for (Index i = 0; i < rows; ++i) std::copy_n(b + i * r_ + begin, width, scratch + i * width);
    multiply(Product<T>{.op_b = Op::transpose,
                        .m = rows,
                        .n = width,
                        .k = width,
                        .left = scratch,
                        .left_stride = width,
                        .right = inverse_.data() + begin * leaf,
                        .right_stride = leaf,
                        .out = b + begin,
                        .out_stride = r_});
  }

  Index r_;
  std::vector<T> lower_;
  std::vector<T> inverse_;  // of the triangles on the diagonal, r x leaf
};

template <class T>
double squared_norm_of(const T* row, Index r) {
  constexpr Index lanes = 8;
  double sums[lanes] = {};
  Index l = 0;
  for (; l + lanes <= r; l += lanes)
    for (Index k = 0; k < lanes; ++k) {
      const auto v = static_cast<double>(row[l + k]);
      sums[k] += v * v;
    }
  double sum = 0;
  for (; l < r; ++l) sum += static_cast<double>(row[l]) * static_cast<double>(row[l]);
  for (const double s : sums) sum += s;
  return sum;
}

}  // namespace fwsr::detail
