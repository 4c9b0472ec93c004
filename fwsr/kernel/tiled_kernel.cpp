// Kernel values computed when they are asked for, never held.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index tile_rows = 96;
constexpr Index tile_columns = 384;
constexpr Index tile_step = 48;  // a multiple of every micro-kernel's size: products of equal
                                 // points have equal bits wherever they stand in a tile

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

class TiledKernel final : public KernelMatrix {
 public:
  TiledKernel(const Points& points, const Kernel& kernel, double eta, bool eta_relative,
              const Alive& alive)
      : points_(points), kernel_(kernel), alive_(alive) {
    const double u = points.unit();
    if (kernel_.type == KernelType::rbf || kernel_.type == KernelType::polynomial)
      gamma_ = kernel_.gamma.value() / u / u;
    else if (kernel_.type == KernelType::laplacian)
      gamma_ = kernel_.gamma.value() / u;
    if (kernel_.type == KernelType::rbf) shift_to_mean();
    set_scale(eta, eta_relative);
  }

  Index size() const override { return points_.size(); }
  double unit() const override { return linear() ? points_.unit() : unit_; }
  double eta() const override { return linear() ? points_.eta() : eta_; }
  double rms_norm() const override { return linear() ? points_.rms_norm() : rms_norm_; }
  Index row_block() const override {
    return by_sparse_products() ? Points::sparse_rows : tile_rows;
  }

  double diagonal(Index i, Eta eta) const override {
    const double extra = eta == Eta::included ? this->eta() * this->eta() : 0.0;
    return linear() ? points_.squared_norm(i) + extra : raw_diagonal(i) * unit_ * unit_ + extra;
  }

  void scan(Index first, Index last, const VisitTile& visit) const override {
    stop_unless(alive_);
    const Index n = size();
    const Index rows = last - first;
    std::vector<double> tile(at(rows * tile_columns));
    std::vector<Index> left(at(rows));
    std::iota(left.begin(), left.end(), first);
    const Block block = load(left, padded(rows, tile_rows));
    std::vector<Index> right;
    for (Index begin = 0; begin < n; begin += tile_columns) {
      const Index end = std::min(n, begin + tile_columns);
      right.resize(at(end - begin));
      std::iota(right.begin(), right.end(), begin);
      fill(block, right, padded(end - begin, tile_columns), tile.data(), tile_columns,
           Eta::included);
      visit(begin, end, tile.data(), tile_columns);
    }
  }

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    std::vector<double> out(rows.size() * columns.size());
    const auto stride = static_cast<Index>(columns.size());
    for (std::size_t r = 0; r < rows.size(); r += at(row_block())) {
      const auto left = rows.subspan(r, std::min(at(row_block()), rows.size() - r));
      const Block block = load(left, static_cast<Index>(left.size()));
      for (std::size_t c = 0; c < columns.size(); c += at(tile_columns)) {
        const auto right = columns.subspan(c, std::min(at(tile_columns), columns.size() - c));
        fill(block, right, static_cast<Index>(right.size()),
             out.data() + static_cast<Index>(r) * stride + static_cast<Index>(c), stride, eta);
      }
    }
    return out;
  }

  void multiply(std::span<const double> x, std::span<double> out, int threads) const override {
    if (linear())
      points_.project(points_.combine(x, threads), out, threads);  // K x = A^T (A x)
    else
      KernelMatrix::multiply(x, out, threads);
  }

  void column(Index j, std::span<double> out) const override {
    if (!linear()) return KernelMatrix::column(j, out);
    std::vector<double> a(at(points_.dim()));
    points_.row(j, a.data());
    points_.project(a, out, 1);
  }

 private:
  /// Some points made ready to be the rows of tiles.
  struct Block {
    std::vector<Index> chosen;
    Index height = 0;                            // rows, with zeros behind those chosen
    std::vector<double> rows;                    // chosen x dim, dense
    std::unique_ptr<Points::SparseRows> sparse;  // or this
  };

  bool linear() const { return kernel_.type == KernelType::linear; }
  bool by_sparse_products() const {
    return points_.sparse() && kernel_.type != KernelType::laplacian;
  }

  Block load(std::span<const Index> chosen, Index height) const {
    Block block{
        .chosen = {chosen.begin(), chosen.end()}, .height = height, .rows = {}, .sparse = nullptr};
    if (by_sparse_products())
      block.sparse = std::make_unique<Points::SparseRows>(points_, chosen);
    else
      block.rows = load_rows(chosen, height);
    return block;
  }

  /// How many rows a tile is given in fact, zeros behind the last one: always the same for these
  /// points.
  Index padded(Index rows, Index most) const {
    return std::max(rows, std::min(most, block_count(size(), tile_step) * tile_step));
  }

  std::vector<double> load_rows(std::span<const Index> chosen, Index height) const {
    const Index d = points_.dim();
    std::vector<double> rows(at(height * d));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      double* row = rows.data() + static_cast<Index>(i) * d;
      points_.row(chosen[i], row);
      if (!shift_.empty())
        for (Index l = 0; l < d; ++l) row[l] -= shift_[at(l)];
    }
    return rows;
  }

  /// out[r, c] = K(left.chosen[r], right[c]); the product is `width` wide, zeros behind `right`.
  void fill(const Block& left, std::span<const Index> right, Index width, double* out, Index stride,
            Eta eta) const {
    const auto rows = static_cast<Index>(left.chosen.size());
    const auto columns = static_cast<Index>(right.size());
    const Index d = points_.dim();
    const bool drop_eta = linear() && eta == Eta::left_out && points_.eta() != 0;
    if (left.sparse) {
      for (Index c = 0; c < columns;) {  // runs of consecutive points
        Index e = c + 1;
        while (e < columns && right[at(e)] == right[at(e - 1)] + 1) ++e;
        points_.sparse_products(*left.sparse, right[at(c)], right[at(e - 1)] + 1, out + c, stride);
        c = e;
      }
      if (drop_eta)
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < columns; ++c) out[r * stride + c] -= points_.eta() * points_.eta();
    } else {
      const std::vector<double> others = load_rows(right, width);
      if (kernel_.type == KernelType::laplacian) {
        distances(left.rows, others, rows, columns, out, stride);
      } else {
        std::vector<double> product(at(left.height * width));
        fwsr::multiply(Product<double>{.op_b = Op::transpose,
                                       .m = left.height,
                                       .n = width,
                                       .k = drop_eta ? d - 1 : d,
                                       .left = left.rows.data(),
                                       .left_stride = d,
                                       .right = others.data(),
                                       .right_stride = d,
                                       .out = product.data(),
                                       .out_stride = width});
        for (Index r = 0; r < rows; ++r)
          std::copy_n(product.data() + r * width, columns, out + r * stride);
      }
    }
    if (linear()) return;
    const double extra = eta == Eta::included ? eta_ * eta_ : 0.0;
    const double factor = unit_ * unit_;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c) {
        double& v = out[r * stride + c];
        v = factor * kernel_value(left.chosen[at(r)], right[at(c)], v) + extra;
      }
  }

  /// L1 distances between rows.
  void distances(const std::vector<double>& left, const std::vector<double>& right, Index rows,
                 Index columns, double* out, Index stride) const {
    const Index d = points_.dim();
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c)
        out[r * stride + c] = absolute_distance(left.data() + r * d, right.data() + c * d, d);
  }

  /// The kernel from <a_i, a_j>, or from ||a_i - a_j||_1 (laplacian), before any scaling.
  double kernel_value(Index i, Index j, double v) const {
    switch (kernel_.type) {
      case KernelType::rbf: {
        // A distance that rounding could have made is none: copies of a point stay copies.
        const double norms = shifted_norm(i) + shifted_norm(j);
        const double squared = norms - 2 * v;
        const bool none = squared <= 64 * std::numeric_limits<double>::epsilon() * norms;
        return none ? 1.0 : std::exp(-gamma_ * squared);
      }
      case KernelType::polynomial:
        return std::pow(gamma_ * v + kernel_.coef0, kernel_.degree);
      case KernelType::laplacian:
        return std::exp(-gamma_ * v);
      default:
        return v;
    }
  }

  double raw_diagonal(Index i) const {
    const bool of_distance =
        kernel_.type == KernelType::rbf || kernel_.type == KernelType::laplacian;
    return of_distance ? 1.0 : kernel_value(i, i, points_.squared_norm(i));
  }

  /// Distances do not feel a shift, and small numbers lose fewer digits in them: move the mean of
  /// the points to the origin.
  void shift_to_mean() {
    const Index n = size();
    const Index d = points_.dim();
    shifted_norms_.resize(at(n));
    if (points_.sparse()) {
      for (Index i = 0; i < n; ++i) shifted_norms_[at(i)] = points_.squared_norm(i);
      return;
    }
    const std::vector<double> each(at(n), 1.0 / static_cast<double>(n));
    shift_ = points_.combine(each, 1);
    std::vector<double> row(at(d));
    for (Index i = 0; i < n; ++i) {
      points_.row(i, row.data());
      for (Index l = 0; l < d; ++l) row[at(l)] -= shift_[at(l)];
      shifted_norms_[at(i)] = dot(row.data(), row.data(), d);
    }
  }
  double shifted_norm(Index i) const { return shifted_norms_[at(i)]; }

  void set_scale(double eta, bool eta_relative) {
    if (linear()) return;
    double largest = 0, sum = 0;
    for (Index i = 0; i < size(); ++i) {
      const double v = raw_diagonal(i);
      if (!std::isfinite(v) || v < 0)
        throw Error(
            fmt::format("the polynomial kernel of point {} with itself is {}; choose a smaller "
                        "gamma or degree, "
                        "a coef0 >= 0, or scale the data",
                        i, std::isfinite(v) ? "negative" : "beyond the largest number"));
      largest = std::max(largest, v);
      sum += v;
    }
    const double rms = std::sqrt(sum / static_cast<double>(std::max<Index>(1, size())));
    const double absolute = eta_relative ? eta * rms : eta;
    const double top = std::sqrt(largest + absolute * absolute);
    if (top > 0) unit_ = std::ldexp(1.0, std::clamp(-std::ilogb(top), -500, 500));
    eta_ = absolute * unit_;
    rms_norm_ = rms * unit_;
  }

  const Points& points_;
  Kernel kernel_;
  Alive alive_;
  double gamma_ = 0;  // in the points' scaled units
  double unit_ = 1;
  double eta_ = 0;
  double rms_norm_ = 0;
  std::vector<double> shift_, shifted_norms_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_tiled_kernel(const Points& points, const Kernel& kernel,
                                                double eta, bool eta_relative, const Alive& alive) {
  return std::make_unique<TiledKernel>(points, kernel, eta, eta_relative, alive);
}

double default_gamma(const Points& points, KernelType type) {
  const Index n = points.size();
  const Index d = points.dim();
  const double u = points.unit();
  if (type == KernelType::polynomial) {
    const double square = points.rms_norm() * points.rms_norm();
    return square > 0 ? u * u / square : 1.0;
  }
  const Index sample = std::min<Index>(n, 1000);
  std::vector<Index> chosen(at(sample));
  for (Index s = 0; s < sample; ++s) chosen[at(s)] = s * n / sample;
  std::vector<double> all;
  all.reserve(at(sample * (sample - 1) / 2));
  const auto keep = [&](double distance) {
    if (distance > 0) all.push_back(distance);
  };
  if (points.sparse() && type == KernelType::rbf) {
    const auto products =
        TiledKernel(points, {}, 0, false, {}).values(chosen, chosen, Eta::left_out);
    const auto squared = [&](Index s) { return products[at(s * sample + s)]; };
    for (Index s = 0; s < sample; ++s)
      for (Index t = 0; t < s; ++t)
        keep(squared(s) + squared(t) - 2 * products[at(s * sample + t)]);
  } else {
    std::vector<double> rows(at(sample * d));
    for (Index s = 0; s < sample; ++s) points.row(chosen[at(s)], rows.data() + s * d);
    for (Index s = 0; s < sample; ++s)
      for (Index t = 0; t < s; ++t)
        keep(type == KernelType::laplacian
                 ? absolute_distance(rows.data() + s * d, rows.data() + t * d, d)
                 : squared_distance(rows.data() + s * d, rows.data() + t * d, d));
  }
  if (all.empty()) return 1;  // all points equal
  const auto middle = all.begin() + static_cast<Index>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return type == KernelType::laplacian ? u / *middle : u * u / *middle;
}

}  // namespace fwsr
