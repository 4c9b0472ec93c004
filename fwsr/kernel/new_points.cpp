#include "fwsr/kernel/new_points.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/block_distances.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

/// sums = the numbers of a sparse point times the rows (m numbers each) of their features.
void add_rows(const SparseInFrame& point, const double* rows, Index m, double* sums) {
  run_widest([&]() __attribute__((always_inline)) {
    const Index count = m;
    double* __restrict to = sums;
    for (Index j = 0; j < count; ++j) to[j] = 0;
    for (std::size_t e = 0; e < point.columns.size(); ++e) {
      const double times = point.values[e];
      const double* __restrict from = rows + point.columns[e] * count;
      for (Index j = 0; j < count; ++j) to[j] += times * from[j];
    }
  });
}

}  // namespace

KnownPoints::KnownPoints(Frame frame, const Kernel& kernel, std::vector<double> vectors,
                         Index features, std::vector<double> shift)
    : frame_(std::move(frame)),
      of_(formula_of(kernel.type).of),
      vectors_(std::move(vectors)),
      features_(features),
      shift_(std::move(shift)) {
  if (given()) throw Error("a precomputed kernel has no formula; give columns of its matrix");
  if (!shift_.empty() && std::ssize(shift_) != features)
    throw Error("the shift has not a number for each feature");
  if (formula_of(kernel.type).linear) return;
  formula_ = &formula_of(kernel.type);
  // Formulas take any gamma as huge that is far beyond what points near 1 have.
  if (formula_->of_distances() && *kernel.gamma > 1e15) {
    double largest = 0;
    for (const double v : vectors_) largest = std::max(largest, std::abs(v));
    if (largest > 0) unit_ = std::ldexp(1.0, std::clamp(-std::ilogb(largest), 0, 1000));
    for (double& v : vectors_) v *= unit_;
  }
  numbers_ = numbers_of(kernel, unit_);
}

KnownPoints KnownPoints::by_absolute_distance(Frame frame, std::vector<double> vectors,
                                              Index features) {
  KnownPoints known({});
  known.frame_ = std::move(frame);
  known.of_ = KernelOf::absolute_distances;
  known.vectors_ = std::move(vectors);
  known.features_ = features;
  return known;
}

NewPoints::NewPoints(const KnownPoints& known, const PointsView& points)
    : known_(known), points_(points) {
  const Index d = cols_of(points), m = known.count();
  if (known.given()) {
    for (const Index c : known.columns_)
      if (c < 0 || c >= d)
        throw Error(fmt::format("the matrix has {} columns, and column {} is asked for", d, c));
    return;
  }
  if (d != known.features_)
    throw Error(fmt::format("new points have {} features, those selected from have {}", d,
                            known.features_));
  const Frame& frame = known.frame_;
  // With few numbers stored, centring takes little away from a point. Where each is then divided by what the means of
  // features leave of it, more may be lost.
  const bool few =
      is_sparse(points) && 10.0 * static_cast<double>(entries_of(points)) <=
                               static_cast<double>(rows_of(points)) * static_cast<double>(d);
  stays_sparse_ = few && known.linear() && !(frame.normalize && !frame.mean.empty());
  if (!stays_sparse_) return;
  by_feature_.resize(at(d * m));
  sums_.resize(at(m));
  with_means_.resize(at(m));
  with_shift_.resize(at(m));
  for (Index j = 0; j < m; ++j) {
    const double* const vector = known.vectors_.data() + j * d;
    for (Index l = 0; l < d; ++l) {
      by_feature_[at(l * m + j)] = vector[l];
      sums_[at(j)] += vector[l];
    }
    if (!frame.mean.empty()) with_means_[at(j)] = dot(vector, frame.mean.data(), d);
    if (!known.shift_.empty()) with_shift_[at(j)] = dot(vector, known.shift_.data(), d);
  }
  for (const double mean : frame.mean) means_squared_ += mean * mean;
}

Index NewPoints::block_rows() const {
  constexpr Index numbers = 1 << 16;  // half a megabyte
  const Index longest = std::max({cols_of(points_), known_.count(), Index{1}});
  return std::clamp<Index>(numbers / longest, 16, 512);
}

void NewPoints::compare(Index first, Index last, double* values, bool diagonals, Block& out) const {
  out.diagonals.resize(diagonals ? at(last - first) : 0);
  if (known_.given())
    gather(first, last, values, diagonals, out);
  else if (stays_sparse_)
    compare_sparse(first, last, values, diagonals, out);
  else
    compare_rows(first, last, values, diagonals, out);
}

/// @pre with `diagonals`, the matrix is square
void NewPoints::gather(Index first, Index last, double* values, bool diagonals, Block& out) const {
  const Index d = cols_of(points_), m = known_.count();
  std::vector<double> rows(at(d));
  for (Index i = first; i < last; ++i) {
    load_in_frame(known_.frame_, points_, i, i + 1, rows.data());
    for (Index j = 0; j < m; ++j) values[(i - first) * m + j] = rows[at(known_.columns_[at(j)])];
    if (diagonals) out.diagonals[at(i - first)] = rows[at(i)];
  }
}

void NewPoints::compare_sparse(Index first, Index last, double* values, bool diagonals,
                               Block& out) const {
  const Index m = known_.count();
  SparseInFrame point;
  out.rows.clear();
  for (Index i = first; i < last; ++i) {
    load_in_frame(known_.frame_, means_squared_, points_, i, point);
    double* const own = values + (i - first) * m;
    add_rows(point, by_feature_.data(), m, own);
    for (Index j = 0; j < m; ++j)
      own[j] = point.times * (own[j] - with_means_[at(j)] - point.own_mean * sums_[at(j)]) -
               with_shift_[at(j)];
    if (diagonals) out.diagonals[at(i - first)] = point.squares;
  }
}

/// The rows of points in the frame: the caller's own, where they are that and may be, else in `room`.
const double* NewPoints::load(Index first, Index last, bool in_place,
                              std::vector<double>& room) const {
  const Index d = known_.features_;
  const auto* const own = std::get_if<MatrixView<const double>>(&points_);
  if (in_place && own && own->stride == d && known_.frame_.plain() && known_.shift_.empty() &&
      known_.unit_ == 1) {
    require_numbers(own->data + first * d, (last - first) * d);
    return own->data + first * d;
  }
  room.resize(at((last - first) * d));
  load_in_frame(known_.frame_, points_, first, last, room.data());
  for (Index i = 0; i < last - first && !known_.shift_.empty(); ++i)
    for (Index l = 0; l < d; ++l) room[at(i * d + l)] -= known_.shift_[at(l)];
  if (known_.unit_ != 1)
    for (double& v : room) v *= known_.unit_;
  return room.data();
}

void NewPoints::compare_rows(Index first, Index last, double* values, bool diagonals,
                             Block& out) const {
  const Index d = known_.features_, m = known_.count(), rows = last - first;
  const double* const points = load(first, last, !diagonals, out.rows);
  const DistanceBlock<double> block{.left = points,
                                    .rows = rows,
                                    .right = known_.vectors_.data(),
                                    .columns = m,
                                    .d = d,
                                    .out = values,
                                    .stride = m};
  if (known_.of_ == KernelOf::squared_distances)
    squared_distances(block);
  else if (known_.of_ == KernelOf::absolute_distances)
    absolute_distances(block);
  else if (m > 0)
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = rows,
                             .n = m,
                             .k = d,
                             .left = points,
                             .right = known_.vectors_.data(),
                             .out = values});
  const KernelFormula* const formula = known_.formula_;
  if (formula) formula->wide.values(known_.numbers_, rows * m, values);
  if (!diagonals) return;
  for (Index i = 0; i < rows; ++i) out.diagonals[at(i)] = dot(points + i * d, points + i * d, d);
  if (formula && formula->of_distances())
    std::fill(out.diagonals.begin(), out.diagonals.end(), 1.0);
  if (formula && !formula->of_distances())
    formula->wide.values(known_.numbers_, rows, out.diagonals.data());
}

}  // namespace fwsr
