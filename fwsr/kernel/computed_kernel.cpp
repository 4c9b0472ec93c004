#include "fwsr/kernel/computed_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/block_distances.hpp"
#include "fwsr/kernel/middle_row.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/small_gram.hpp"

namespace fwsr {

namespace {

constexpr Index values_rows = 96;  // blocks of values()
constexpr Index values_columns = 384;
constexpr Index step =
    48;  // a multiple of every micro-kernel's size: products of equal points have
         // equal bits wherever they stand in a block

}  // namespace

ComputedKernel::ComputedKernel(const Points& points, const Kernel& kernel, double eta,
                               bool eta_relative, int threads)
    : points_(points),
      kernel_(kernel),
      formula_(formula_of(kernel.type)),
      numbers_(numbers_of(kernel, points.unit())) {
  // A power multiplies the rounding of its base; a huge gamma sees distances below float's range.
  only_in_double_ = !linear() && (formula_.steepness_of(kernel_) > 4 || numbers_.gamma > 1e15);
  if (formula_.of_distances()) move_to_middle(threads);
  set_scale(eta, eta_relative);
}

double ComputedKernel::diagonal(Index i, Eta eta) const {
  const double extra = eta == Eta::included ? this->eta() * this->eta() : 0.0;
  return linear() ? points_.squared_norm(i) + extra
                  : raw_diagonal(i) * scale_.unit * scale_.unit + extra;
}

double ComputedKernel::raw_diagonal(Index i) const {
  if (formula_.of_distances()) return 1.0;
  double v = points_.squared_norm(i);
  formula_.wide.values(numbers_, 1, &v);
  return v;
}

/// Moves the middle of some points to the origin (middle_row.hpp).
void ComputedKernel::move_to_middle(int threads) {
  const Index n = size(), d = points_.dim();
  if (squared()) norms_.resize(at(n));
  if (points_.sparse()) {
    for (Index i = 0; i < n && squared(); ++i) norms_[at(i)] = points_.squared_norm(i);
    return;
  }
  const double work = static_cast<double>(n) * static_cast<double>(d);
  middle_ = middle_of(points_);
  std::vector<double> largest(at(block_count(n)));  // L1 norm
  for_blocks(threads_for(threads, work), n, [&](Index b, Index first, Index last) {
    std::vector<double> row(at(d));
    const std::vector<double> zero(at(d));
    for (Index i = first; i < last; ++i) {
      moved_row(i, row.data());
      if (squared())
        norms_[at(i)] = dot(row.data(), row.data(), d);
      else
        largest[at(b)] = std::max(largest[at(b)], absolute_distance(row.data(), zero.data(), d));
    }
  });
  // Rounding to float moves a point by 3e-8 of its norm.
  if (!squared())
    only_in_double_ |= numbers_.gamma * *std::max_element(largest.begin(), largest.end()) > 16;
}

void ComputedKernel::moved_row(Index i, double* out) const {
  points_.row(i, out);
  for (std::size_t l = 0; l < middle_.size(); ++l) out[l] -= middle_[l];
}

void ComputedKernel::set_scale(double eta, bool eta_relative) {
  if (linear()) return;
  double largest = 0, sum = 0;
  for (Index i = 0; i < size(); ++i) {
    const double v = raw_diagonal(i);
    if (!std::isfinite(v) || v < 0)
      throw Error(fmt::format(
          "the {} kernel of point {} with itself is {}; choose a smaller {}or scale the "
          "data",
          formula_.name, i, std::isfinite(v) ? "negative" : "beyond the largest number",
          formula_.has_degree ? "gamma or degree, a coef0 >= 0, " : "gamma, "));
    largest = std::max(largest, v);
    sum += v;
  }
  const double rms = std::sqrt(sum / static_cast<double>(std::max<Index>(1, size())));
  scale_ = scale_of_kernel(largest, rms, eta, eta_relative);
}

Index ComputedKernel::padded(Index rows) {
  return block_count(rows, step) * step;
}

/// What belongs to panel.chosen and panel.height.
template <class T>
void ComputedKernel::load_chosen(Side side, Panel<T>& panel) const {
  const std::span<const Index> chosen = panel.chosen;
  const Index d = points_.dim(), height = panel.height;
  const auto count = static_cast<Index>(chosen.size());
  panel.norms.clear();
  panel.sparse.clear();
  if (squared())
    for (const Index i : chosen) panel.norms.push_back(static_cast<T>(norms_[at(i)]));
  if (by_sparse_products()) {
    for (Index r = 0; r < count && side == Side::left; r += Points::sparse_rows)
      panel.sparse.push_back(std::make_unique<Points::SparseRows>(
          points_, chosen.subspan(at(r), at(std::min(Points::sparse_rows, count - r)))));
    return;
  }
  if (std::is_same_v<T, float> && only_in_double_) return;
  if (panel.room < height) {
    panel.rows.reset(new T[at(height * d)]);
    panel.room = height;
  }
  std::fill(panel.rows.get() + count * d, panel.rows.get() + height * d, T{0});
  const bool together = count > 0 && chosen.back() - chosen.front() == count - 1 &&
                        std::is_sorted(chosen.begin(), chosen.end());
  if (middle_.empty() && together) {
    points_.rows(chosen.front(), chosen.front() + count, panel.rows.get());
    return;
  }
  std::vector<double> row(at(d));
  for (Index r = 0; r < count; ++r) {
    moved_row(chosen[at(r)], row.data());
    T* const out = panel.rows.get() + r * d;
    for (Index l = 0; l < d; ++l) out[l] = static_cast<T>(row[at(l)]);
  }
}

template <class T>
ComputedKernel::Panel<T> ComputedKernel::load(std::span<const Index> chosen, Side side,
                                              Index height) const {
  Panel<T> panel;
  panel.chosen.assign(chosen.begin(), chosen.end());
  panel.height = height;
  load_chosen(side, panel);
  return panel;
}

template <class T>
void ComputedKernel::load(Index first, Index last, Side side, Panel<T>& panel) const {
  const Index rows = last - first;
  panel.chosen.resize(at(rows));
  std::iota(panel.chosen.begin(), panel.chosen.end(), first);
  panel.height = std::is_same_v<T, double> ? padded(rows) : rows;
  load_chosen(side, panel);
}

/// Inner products with sparse points.
void ComputedKernel::sparse_products(const SparseBlocks& left, Index rows,
                                     std::span<const Index> right, double* out, Index stride,
                                     Eta eta) const {
  const auto columns = static_cast<Index>(right.size());
  for (Index r = 0; r < rows; r += Points::sparse_rows)
    for (Index c = 0; c < columns;) {  // runs of consecutive points
      Index e = c + 1;
      while (e < columns && right[at(e)] == right[at(e - 1)] + 1) ++e;
      points_.sparse_products(*left[at(r / Points::sparse_rows)], right[at(c)],
                              right[at(e - 1)] + 1, out + r * stride + c, stride);
      c = e;
    }
  if (linear() && eta == Eta::left_out && points_.eta() != 0)
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c) out[r * stride + c] -= points_.eta() * points_.eta();
}

/// Inner products of dense points, or their L1 distances.
template <class T>
void ComputedKernel::dense_products(const Panel<T>& left, const Panel<T>& right, T* out,
                                    Index stride, Eta eta) const {
  const auto rows = static_cast<Index>(left.chosen.size());
  const auto columns = static_cast<Index>(right.chosen.size());
  const Index d = points_.dim();
  const bool drop_eta = linear() && eta == Eta::left_out && points_.eta() != 0;
  if (formula_.of == KernelOf::absolute_distances) {
    absolute_distances(DistanceBlock<T>{.left = left.rows.get(),
                                        .rows = rows,
                                        .right = right.rows.get(),
                                        .columns = columns,
                                        .d = d,
                                        .out = out,
                                        .stride = stride});
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    if (&left == &right && small_gram_pays(rows, d) && !drop_eta)
      return small_gram(left.rows.get(), rows, d, out, stride);
  }
  const bool fits = left.height == rows && right.height == columns;
  std::unique_ptr<T[]> wide(fits ? nullptr : new T[at(left.height * right.height)]);
  multiply(Product<T>{.op_b = Op::transpose,
                      .m = left.height,
                      .n = right.height,
                      .k = drop_eta ? d - 1 : d,
                      .left = left.rows.get(),
                      .left_stride = d,
                      .right = right.rows.get(),
                      .right_stride = d,
                      .out = fits ? out : wide.get(),
                      .out_stride = fits ? stride : right.height});
  for (Index r = 0; r < rows && !fits; ++r)
    std::copy_n(wide.get() + r * right.height, columns, out + r * stride);
}

/// Entries in double of points that are both far away, from differences (middle_row.hpp).
void ComputedKernel::settle_far(const Panel<double>& left, const Panel<double>& right, double* out,
                                Index stride, Eta eta) const {
  if (!squared()) return;
  const KernelNumbers numbers = scaled(eta);
  const double limit = far_in_double / numbers.gamma;
  std::vector<Index> far;  // places in `right`
  for (std::size_t c = 0; c < right.chosen.size(); ++c)
    if (norms_[at(right.chosen[c])] > limit) far.push_back(static_cast<Index>(c));
  const Index d = points_.dim();
  std::vector<double> a(at(d)), b(at(d));
  for (std::size_t r = 0; r < left.chosen.size() && !far.empty(); ++r) {
    if (!(norms_[at(left.chosen[r])] > limit)) continue;
    points_.row(left.chosen[r], a.data());
    for (const Index c : far) {
      points_.row(right.chosen[at(c)], b.data());
      const double apart = squared_distance(a.data(), b.data(), d);
      out[static_cast<Index>(r) * stride + c] =
          numbers.scale.factor * formula_.value(numbers, apart) + numbers.scale.extra;
    }
  }
}

/// The kernel from what `products` wrote; answers how many entries are unsure.
template <class T>
Index ComputedKernel::finish(const Panel<T>& left, const Panel<T>& right, T* out, Index stride,
                             Eta eta) const {
  const auto rows = static_cast<Index>(left.chosen.size());
  const auto columns = static_cast<Index>(right.chosen.size());
  const KernelNumbers numbers = scaled(eta);
  const KernelLoops<T>& loops = formula_.on<T>();
  Index unsettled = 0;
  for (Index r = 0; r < rows && !linear(); ++r) {
    T* const row = out + r * stride;
    if (squared())
      unsettled += loops.from_norms(
          numbers, {.own = norms_[at(left.chosen[at(r)])], .others = right.norms.data()}, columns,
          row);
    else
      loops.values(numbers, columns, row);
  }
  return unsettled;
}

/// The entries marked as unsure, from differences in double; all of them when that is less work.
void ComputedKernel::settle(const Panel<float>& left, const Panel<float>& right, Index unsettled,
                            float* out, Index stride, Eta eta) const {
  const auto rows = static_cast<Index>(left.chosen.size());
  const auto columns = static_cast<Index>(right.chosen.size());
  if (64 * unsettled > rows * columns) return fill_in_double(left, right, out, stride, eta);
  const KernelNumbers numbers = scaled(eta);
  const Index d = points_.dim();
  std::vector<double> a(at(d)), b(at(d));
  for (Index r = 0; r < rows; ++r) {
    Index loaded = -1;
    for (Index c = 0; c < columns; ++c) {
      float& value = out[r * stride + c];
      if (value != unsure) continue;
      const Index i = left.chosen[at(r)], j = right.chosen[at(c)];
      if (loaded != i) points_.row(loaded = i, a.data());
      points_.row(j, b.data());
      const double apart = i == j ? 0.0 : squared_distance(a.data(), b.data(), d);
      value = static_cast<float>(numbers.scale.factor * formula_.value(numbers, apart) +
                                 numbers.scale.extra);
    }
  }
}

void ComputedKernel::fill_in_double(const Panel<float>& left, const Panel<float>& right, float* out,
                                    Index stride, Eta eta) const {
  const auto rows = static_cast<Index>(left.chosen.size());
  const auto columns = static_cast<Index>(right.chosen.size());
  const auto wide_left = load<double>(left.chosen, Side::right, padded(rows));
  const auto wide_right = load<double>(right.chosen, Side::right, padded(columns));
  const std::unique_ptr<double[]> wide(new double[at(rows * columns)]);
  if (by_sparse_products())
    sparse_products(left.sparse, rows, right.chosen, wide.get(), columns, eta);
  else
    dense_products(wide_left, wide_right, wide.get(), columns, eta);
  finish(wide_left, wide_right, wide.get(), columns, eta);
  settle_far(wide_left, wide_right, wide.get(), columns, eta);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      out[r * stride + c] = static_cast<float>(wide[at(r * columns + c)]);
}

template <>
void ComputedKernel::fill(const Panel<double>& left, const Panel<double>& right, double* out,
                          Index stride, Eta eta) const {
  if (by_sparse_products())
    sparse_products(left.sparse, static_cast<Index>(left.chosen.size()), right.chosen, out, stride,
                    eta);
  else
    dense_products(left, right, out, stride, eta);
  finish(left, right, out, stride, eta);
  settle_far(left, right, out, stride, eta);
}

template <>
void ComputedKernel::fill(const Panel<float>& left, const Panel<float>& right, float* out,
                          Index stride, Eta eta) const {
  if (by_sparse_products() || only_in_double_) return fill_in_double(left, right, out, stride, eta);
  dense_products(left, right, out, stride, eta);
  const Index unsettled = finish(left, right, out, stride, eta);
  if (unsettled > 0) settle(left, right, unsettled, out, stride, eta);
}

std::vector<double> ComputedKernel::values(std::span<const Index> rows,
                                           std::span<const Index> columns, Eta eta) const {
  std::vector<double> out(rows.size() * columns.size());
  const auto stride = static_cast<Index>(columns.size());
  const auto height = static_cast<Index>(rows.size());
  for (Index c = 0; c < stride; c += values_columns) {
    const Index width = std::min(values_columns, stride - c);
    const auto right = load<double>(columns.subspan(at(c), at(width)), Side::right, width);
    for (Index r = 0; r < height; r += values_rows) {
      const Index some = std::min(values_rows, height - r);
      const auto left = load<double>(rows.subspan(at(r), at(some)), Side::left, some);
      fill<double>(left, right, out.data() + r * stride + c, stride, eta);
    }
  }
  return out;
}

template void ComputedKernel::load(Index, Index, Side, Panel<float>&) const;
template void ComputedKernel::load(Index, Index, Side, Panel<double>&) const;

}  // namespace fwsr
