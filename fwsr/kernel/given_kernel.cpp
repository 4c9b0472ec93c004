// A kernel matrix given by the user, used in place.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/check_given.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/kernel_scale.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 96;

class GivenKernel final : public KernelMatrix {
 public:
  GivenKernel(const PointsView& view, std::span<const Index> subset, double eta, bool eta_relative,
              int threads)
      : view_(view), subset_(subset) {
    const Index all = rows_of(view);
    if (is_sparse(view))
      throw Error("a precomputed kernel must be a dense matrix; this one is sparse");
    if (is_streamed(view))
      throw Error("a precomputed kernel must fit the memory; this one is read in blocks");
    if (all != cols_of(view))
      throw Error(fmt::format("a precomputed kernel must be square; this one is {} x {}", all,
                              cols_of(view)));
    n_ = subset.empty() ? all : static_cast<Index>(subset.size());
    check_given_kernel(view, subset, threads);
    double largest = 0, sum = 0;
    for (Index i = 0; i < n_; ++i) largest = std::max(largest, raw(i, i));
    // Powers of two only, in two halves, so that neither sums nor the scale leave the range.
    const double part = largest > 0 ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
    for (Index i = 0; i < n_; ++i) sum += raw(i, i) * part;
    const double rms = std::sqrt(sum / static_cast<double>(std::max<Index>(1, n_)) / part);
    scale_ = scale_of_kernel(largest, rms, eta, eta_relative);
  }

  Index size() const override { return n_; }
  double unit() const override { return scale_.unit; }
  double eta() const override { return scale_.eta; }
  double rms_norm() const override { return scale_.rms_norm; }
  Index row_block() const override { return rows_at_once; }
  bool single() const override { return false; }
  double entry_error() const override { return entry_error_of_given(view_); }
  double diagonal(Index i, Eta eta) const override { return value(i, i, eta); }

  void scan(Index first, Index last, const VisitTile& visit) const override {
    std::vector<double> tile(at((last - first) * n_));
    for (Index i = first; i < last; ++i)
      for (Index j = 0; j < n_; ++j) tile[at((i - first) * n_ + j)] = value(i, j, Eta::included);
    visit(0, n_, tile.data(), n_);
  }

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    std::vector<double> out;
    out.reserve(rows.size() * columns.size());
    for (const Index i : rows)
      for (const Index j : columns) out.push_back(value(i, j, eta));
    return out;
  }

 private:
  Index source(Index i) const { return subset_.empty() ? i : subset_[at(i)]; }
  double raw(Index i, Index j) const {
    if (const auto* single = std::get_if<0>(&view_))
      return static_cast<double>((*single)(source(i), source(j)));
    if (const auto* narrow = std::get_if<NarrowView>(&view_))
      return static_cast<double>((*narrow)(source(i), source(j)));
    return std::get<1>(view_)(source(i), source(j));
  }
  double value(Index i, Index j, Eta eta) const {
    return raw(i, j) * scale_.unit * scale_.unit +
           (eta == Eta::included ? scale_.eta * scale_.eta : 0.0);
  }

  PointsView view_;
  std::span<const Index> subset_;
  Index n_ = 0;
  KernelScale scale_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_given_kernel(const PointsView& view,
                                                std::span<const Index> subset, double eta,
                                                bool eta_relative, int threads) {
  return std::make_unique<GivenKernel>(view, subset, eta, eta_relative, threads);
}

}  // namespace fwsr
