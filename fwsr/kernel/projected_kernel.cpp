#include "fwsr/kernel/projected_kernel.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"

namespace fwsr {

namespace {

/// A point of which less than this is left, of K_ii, is spanned: nothing is, and the rest is rounding.
constexpr double nothing = 1e-13;

/// K_00 = L L^T on its pivots; h_i = L^-1 K_0i, so that K'_ij = K_ij - h_i.h_j.
class ProjectedKernel final : public KernelMatrix {
 public:
  ProjectedKernel(const KernelMatrix& kernel, std::span<const Index> taken, bool hold, int threads)
      : kernel_(kernel),
        factor_(pivoted_cholesky(kernel.values(taken, taken), std::ssize(taken))),
        rank_(factor_.rank) {
    for (const Index p : factor_.pivots) taken_.push_back(taken[at(p)]);
    std::iota(factor_.pivots.begin(), factor_.pivots.end(), Index{0});
    if (!hold) return;
    std::vector<double> h(at(size() * rank_));
    for_blocks(threads, size(), [&](Index, Index first, Index last) {
      std::vector<Index> points(at(last - first));
      std::iota(points.begin(), points.end(), first);
      const std::vector<double> own = coordinates(points);
      std::copy(own.begin(), own.end(), h.begin() + first * rank_);
    });
    h_ = std::move(h);
    for (Index i = 0; i < size(); ++i)
      spanned_.push_back(left_of(kernel_.diagonal(i), row(i)) == 0 ? 1 : 0);
  }

  Index size() const override { return kernel_.size(); }
  double unit() const override { return kernel_.unit(); }
  bool single() const override { return kernel_.single(); }
  double entry_error() const override { return kernel_.entry_error(); }
  Index row_block() const override { return kernel_.row_block(); }
  double rms_norm() const override { return kernel_.rms_norm(); }
  double eta() const override { return kernel_.eta(); }
  bool by_products() const override { return kernel_.by_products(); }

  double diagonal(Index i, Eta eta) const override {
    const std::vector<double> own = coordinates({&i, 1});
    return left_of(kernel_.diagonal(i, eta), own.data());
  }

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    std::vector<double> found = kernel_.values(rows, columns, eta);
    const std::vector<double> left = coordinates(rows), right = coordinates(columns);
    const Index m = std::ssize(rows), n = std::ssize(columns);
    take(m, n, left.data(), right.data(), found.data(), n);
    for (Index i = 0; i < m; ++i)
      if (left_of(kernel_.diagonal(rows[at(i)], eta), left.data() + i * rank_) == 0)
        std::fill_n(found.begin() + i * n, n, 0.0);
    for (Index l = 0; l < n; ++l)
      if (left_of(kernel_.diagonal(columns[at(l)], eta), right.data() + l * rank_) == 0)
        for (Index i = 0; i < m; ++i) found[at(i * n + l)] = 0;
    return found;
  }

  void column(Index j, std::span<double> out) const override {
    kernel_.column(j, out);
    for (Index i = 0; i < size(); ++i)
      out[at(i)] =
          spanned_[at(i)] || spanned_[at(j)] ? 0.0 : out[at(i)] - dot(row(i), row(j), rank_);
  }

  void scan(Index first, Index last, const VisitTile& visit) const override {
    std::vector<double> own;
    kernel_.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
      const Index rows = last - first, columns = end - begin;
      own.resize(at(rows * columns));
      copy_rows(tile, stride, rows, columns, own.data(), columns);
      take(rows, columns, row(first), row(begin), own.data(), columns);
      for (Index i = 0; i < rows; ++i)
        for (Index l = 0; l < columns; ++l)
          if (spanned_[at(first + i)] || spanned_[at(begin + l)]) own[at(i * columns + l)] = 0;
      visit(begin, end, own.data(), columns);
    });
  }

  void multiply(std::span<const double> given, std::span<double> out, int threads) const override {
    const std::vector<double> x = beyond_span(given);
    kernel_.multiply(x, out, threads);
    take_products(x, out, threads);
  }

  void multiply_many(std::span<const double> given, Index count, std::span<double> out, int threads,
                     const KeepGoing& keep_going) const override {
    const Index n = size();
    std::vector<double> x;
    for (Index c = 0; c < count; ++c) {
      const std::vector<double> one = beyond_span(given.subspan(at(c * n), at(n)));
      x.insert(x.end(), one.begin(), one.end());
    }
    kernel_.multiply_many(x, count, out, threads, keep_going);
    for (Index c = 0; c < count; ++c)
      take_products(std::span<const double>(x).subspan(at(c * n), at(n)),
                    out.subspan(at(c * n), at(n)), threads);
  }

  void row_squares(std::span<double> out, int threads) const override {
    weighted_row_squares(std::vector<double>(at(size()), 1.0), out, threads);
  }
  void weighted_row_squares(const std::vector<double>& weights, std::span<double> out,
                            int threads) const override {
    const Index n = size();
    std::vector<double> by_rank(h_.size());
    for (Index i = 0; i < n; ++i)
      for (Index r = 0; r < rank_; ++r) by_rank[at(r * n + i)] = row(i)[r];
    kernel_.sum_left({.m = rank_, .u = by_rank.data(), .v = by_rank.data()}, beyond_span(weights),
                     {.squares = out}, threads, {});
    for (Index i = 0; i < n; ++i)
      if (spanned_[at(i)]) out[at(i)] = 0;
  }

 private:
  double left_of(double whole, const double* h) const {
    const double left = whole - dot(h, h, rank_);
    return left > nothing * whole ? left : 0.0;
  }
  const double* row(Index i) const { return h_.data() + i * rank_; }

  /// Numbers of the points, 0 where nothing is left of them.
  std::vector<double> beyond_span(std::span<const double> given) const {
    std::vector<double> x(given.begin(), given.end());
    for (std::size_t i = 0; i < x.size(); ++i)
      if (spanned_[i]) x[i] = 0;
    return x;
  }

  /// out <- out - H H^T x, 0 where nothing is left of a point.
  void take_products(std::span<const double> x, std::span<double> out, int threads) const {
    const Index n = size();
    const double work = 4.0 * static_cast<double>(n) * static_cast<double>(rank_);
    const int team = threads_for(threads, work);
    std::vector<double> parts(at(block_count(n) * rank_)), hx(at(rank_));
    for_blocks(team, n, [&](Index b, Index first, Index last) {
      for (Index i = first; i < last; ++i)
        for (Index r = 0; r < rank_; ++r) parts[at(b * rank_ + r)] += x[at(i)] * row(i)[r];
    });
    for (std::size_t p = 0; p < parts.size(); ++p) hx[p % at(rank_)] += parts[p];
    for_blocks(team, n, [&](Index, Index first, Index last) {
      for (Index i = first; i < last; ++i)
        out[at(i)] = spanned_[at(i)] ? 0.0 : out[at(i)] - dot(row(i), hx.data(), rank_);
    });
  }

  /// h of some points, row by row.
  std::vector<double> coordinates(std::span<const Index> points) const {
    std::vector<double> found(points.size() * at(rank_));
    if (!h_.empty()) {
      for (std::size_t p = 0; p < points.size(); ++p)
        std::copy_n(row(points[p]), rank_, found.begin() + static_cast<Index>(p) * rank_);
      return found;
    }
    const std::vector<double> with = kernel_.values(points, taken_);
    for (std::size_t p = 0; p < points.size(); ++p)
      factor_.squared_solution(with.data() + p * at(rank_), found.data() + p * at(rank_));
    return found;
  }

  void take(Index rows, Index columns, const double* left, const double* right, double* out,
            Index stride) const {
    if (rank_ == 0 || rows == 0 || columns == 0) return;
    fwsr::multiply(Product<double>{.op_b = Op::transpose,
                                   .m = rows,
                                   .n = columns,
                                   .k = rank_,
                                   .a = -1,
                                   .left = left,
                                   .left_stride = rank_,
                                   .right = right,
                                   .right_stride = rank_,
                                   .b = 1,
                                   .out = out,
                                   .out_stride = stride});
  }

  const KernelMatrix& kernel_;
  PivotedCholesky factor_;  // whose pivots are those of `taken_`, in order
  Index rank_;
  std::vector<Index> taken_;
  std::vector<double> h_;      // n x rank, or empty
  std::vector<char> spanned_;  // of every point, where h_ is held
};

}  // namespace

std::unique_ptr<KernelMatrix> make_projected_kernel(const KernelMatrix& kernel,
                                                    std::span<const Index> taken, bool hold,
                                                    int threads) {
  return std::make_unique<ProjectedKernel>(kernel, taken, hold, threads);
}

}  // namespace fwsr
