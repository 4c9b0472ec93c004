#include "fwsr/kernel/factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// Points per block of the sweep, zeros behind the last one: a multiple of every micro-kernel's
/// size, so that equal points get equal rows of F wherever they stand.
constexpr Index block_step = 48;
constexpr Index block_rows = 10 * block_step;
constexpr Index leaf = 128;  // columns solved for by one product with the inverse of a triangle

/// Of gamma ||a||^2: when any point is farther than this from the middle, float32 distances are too
/// coarse for the exponential, and are taken in double.
constexpr double far = 64;

// ------------------------------------------------------------------------------ K at the landmarks

/// K between blocks of points and the landmarks by one matrix product, in T: dense points, kernels
/// that are functions of inner products, or of squared distances, which are inner products too:
///   -||a - b||^2 / 2 = <(a, 1, -||a||^2 / 2), (b, -||b||^2 / 2, 1)>
template <class T>
class ProductColumns {
 public:
  ProductColumns(const Points& points, const Kernel& kernel, double unit,
                 const std::vector<Index>& landmarks)
      : points_(points),
        formula_(formula_of(kernel.type)),
        numbers_(numbers_of(kernel, points.unit(), {.factor = unit * unit})),
        squared_(formula_.of == KernelOf::squared_distances),
        d_(points.dim()),
        width_(d_ + (squared_ ? 2 : 0)),
        count_(static_cast<Index>(landmarks.size())),
        scale_(formula_.column_times(numbers_)),
        shift_(at(d_)),
        landmarks_(at(count_ * width_)) {
    std::vector<double> row(at(d_));
    if (squared_)  // distances do not feel a shift, and small numbers lose fewer digits in them
      for (const Index i : landmarks) {
        points_.row(i, row.data());
        for (Index l = 0; l < d_; ++l) shift_[at(l)] += row[at(l)] / static_cast<double>(count_);
      }
    for (Index j = 0; j < count_; ++j) {
      T* b = landmarks_.data() + j * width_;
      const double half = load(landmarks[at(j)], b, row.data()) / 2;
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
    return *std::max_element(most.begin(), most.end());
  }

  /// K[first .. last, L], row by row; `height` rows, whatever stands behind the last one.
  void fill(Index first, Index last, Index height, T* out) const {
    std::vector<T> rows(at(height * width_));
    std::vector<double> wide(at(d_));
    for (Index i = first; i < last; ++i) {
      T* a = rows.data() + (i - first) * width_;
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
                        .out = out});
    formula_.on<T>().columns(numbers_, height * count_, out);
  }

 private:
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

/// Rows per block of the sweep over n points.
Index sweep_height(Index n) {
  return std::min(block_rows, block_count(n, block_step) * block_step);
}

/// Fills out (n x landmarks) with unit^2 K[:, L], block by block, and calls finish(block, first, last, rows,
/// height) on each: `height` rows in the layout of out, of which last - first are points.
template <class T, class Finish>
void for_columns(const KernelMatrix& exact, const Points& points, const Kernel& kernel,
                 const std::vector<Index>& landmarks, double unit, T* out, int threads,
                 Finish&& finish) {
  const Index n = exact.size();
  const auto r = static_cast<Index>(landmarks.size());
  const Index height = sweep_height(n);
  const auto sweep = [&](auto number, auto&& fill) {
    using U = decltype(number);
    for_blocks(
        threads, n,
        [&](Index b, Index first, Index last) {
          if constexpr (std::is_same_v<U, T>)
            if (last - first == height) {  // a full block needs no other place than its own
              fill(first, last, out + first * r);
              return finish(b, first, last, out + first * r, height);
            }
          std::vector<U> tile(at(height * r));
          fill(first, last, tile.data());
          std::vector<T> rows(tile.begin(), tile.end());
          finish(b, first, last, rows.data(), height);
          std::copy_n(rows.data(), (last - first) * r, out + first * r);
        },
        height);
  };
  const auto by_products = [&](auto number) {
    const ProductColumns<decltype(number)> columns(points, kernel, unit * exact.unit(), landmarks);
    sweep(number,
          [&](Index first, Index last, auto* to) { columns.fill(first, last, height, to); });
  };
  const KernelFormula& formula = formula_of(kernel.type);
  if (points.sparse() || !formula.column_times) {
    sweep(double{}, [&](Index first, Index last, double* to) {
      const std::vector<double> values = exact.values(landmarks, index_range(first, last),
                                                      Eta::left_out);  // L first: runs of points
      const Index rows = last - first;
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < r; ++j) to[i * r + j] = values[at(j * rows + i)] * unit * unit;
    });
  } else if (std::is_same_v<T, float> && formula.of == KernelOf::squared_distances &&
             ProductColumns<T>(points, kernel, unit * exact.unit(), landmarks).farthest(threads) >
                 far) {
    by_products(double{});
  } else {
    by_products(T{});
  }
}

// ------------------------------------------------------------------------------------- times G^-T

/// B <- B G^-T in place, for rows of G's length: forward substitution, halving G until a triangle
/// of `leaf` columns is left, whose inverse is at hand. Nearly all of it is large matrix products.
template <class T>
class Substitution {
 public:
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
double squared_norm(const T* row, Index r) {
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

}  // namespace

Factor::Factor(Index size, Landmarks chosen, double largest)
    : size_(size), landmarks_(std::move(chosen.points)), lower_(std::move(chosen.lower)) {
  if (largest > 0) unit_ = std::ldexp(1.0, -std::ilogb(std::sqrt(largest)));
  for (double& v : lower_) v *= unit_;
}

// An error of e in K_nL makes one of e^2 / this in F F^T.
double Factor::least_pivot(bool single) {
  return single ? 1e-6 : 1e-13;
}

namespace {

double largest_diagonal(const KernelMatrix& kernel) {
  double largest = 0;
  for (Index i = 0; i < kernel.size(); ++i)
    largest = std::max(largest, kernel.diagonal(i, Eta::left_out));
  return largest;
}

}  // namespace

Factor::Factor(const KernelMatrix& exact, const Points& points, const Kernel& kernel, Index rank,
               bool single, int threads, const KeepGoing& keep_going)
    : Factor(exact.size(), choose_landmarks(exact, rank, least_pivot(single), threads, keep_going),
             largest_diagonal(exact)) {
  const Index cells = checked_bytes(size_, this->rank(), 1);
  if (single) {
    single_.reset(new float[at(cells)]);
    fill(exact, points, kernel, single_.get(), threads, keep_going);
  } else {
    double_.reset(new double[at(cells)]);
    fill(exact, points, kernel, double_.get(), threads, keep_going);
  }
}

void Factor::tell_error(double lost, double trace) {
  error_ = trace > 0 ? std::clamp(lost / trace, 0.0, 1.0) : 0.0;
}

template <class T>
void Factor::fill(const KernelMatrix& exact, const Points& points, const Kernel& kernel, T* out,
                  int threads, const KeepGoing& keep_going) {
  const Index r = rank();
  const Substitution<T> substitute(lower_, r);
  const std::size_t blocks = at(block_count(size_, sweep_height(size_)));
  std::vector<double> lost(blocks), trace(blocks);
  for_columns<T>(exact, points, kernel, landmarks_, unit_, out, threads,
                 [&](Index b, Index first, Index last, T* rows, Index height) {
                   throw_if_cancelled(keep_going);
                   substitute(rows, height);
                   for (Index i = first; i < last; ++i) {
                     const double self = exact.diagonal(i, Eta::left_out) * unit_ * unit_;
                     trace[at(b)] += self;
                     lost[at(b)] += self - squared_norm(rows + (i - first) * r, r);
                   }
                 });
  tell_error(std::accumulate(lost.begin(), lost.end(), 0.0),
             std::accumulate(trace.begin(), trace.end(), 0.0));
}

PointsView Factor::rows() const {
  const Index r = rank();
  if (single_) return MatrixView<const float>{single_.get(), size_, r, r};
  return MatrixView<const double>{double_.get(), size_, r, r};
}

void Factor::to_landmarks(double* theta, Index rows) const {
  divide_by_lower(lower_, rank(), theta, rows);
}

namespace {

/// The linear kernel of the rows of F, in the units of the kernel it stands for.
class FactorKernel final : public KernelMatrix {
 public:
  FactorKernel(const Factor& factor, std::unique_ptr<KernelMatrix> rows, const KernelMatrix& exact)
      : products_(std::move(rows)),
        unit_(products_->unit() * factor.unit() * exact.unit()),
        rms_norm_(products_->unit() * factor.unit() * exact.rms_norm()) {}

  Index size() const override { return products_->size(); }
  double unit() const override { return unit_; }
  double eta() const override { return products_->eta(); }
  double rms_norm() const override { return rms_norm_; }
  Index row_block() const override { return products_->row_block(); }
  bool single() const override { return products_->single(); }
  double diagonal(Index i, Eta eta) const override { return products_->diagonal(i, eta); }
  void scan(Index first, Index last, const VisitTile& visit) const override {
    products_->scan(first, last, visit);
  }
  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    return products_->values(rows, columns, eta);
  }
  void column(Index j, std::span<double> out) const override { products_->column(j, out); }
  bool by_products() const override { return true; }
  void multiply(std::span<const double> x, std::span<double> out, int threads) const override {
    products_->multiply(x, out, threads);
  }

 private:
  std::unique_ptr<KernelMatrix> products_;
  double unit_;
  double rms_norm_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_factor_kernel(const Factor& factor,
                                                 std::unique_ptr<KernelMatrix> rows,
                                                 const KernelMatrix& exact) {
  return std::make_unique<FactorKernel>(factor, std::move(rows), exact);
}

}  // namespace fwsr
