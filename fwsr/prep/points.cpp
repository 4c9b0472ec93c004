#include "fwsr/prep/points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/segments.hpp"

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// The power of two that brings `value` near 1; 1 for zero.
double power_near_inverse(double value) {
  if (!(value > 0)) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(value), -1000, 1000));
}

/// 1 / norm of a point of subnormal numbers only may be infinite, and infinity times zero no number.
constexpr double largest_finite = std::numeric_limits<double>::max();

}  // namespace

// --------------------------------------------------------------------------------------- one point

/// a_first .. a_last less `shift` (or not, when it is null), row by row, dim() numbers each.
template <class T>
void Points::load(Index first, Index last, T* out, const double* shift) const {
  const Index stride = dim();
  if (sparse()) {
    for (Index i = first; i < last; ++i) {
      T* to = out + (i - first) * stride;
      const auto become = [&](Index l, double y) {
        to[l] = static_cast<T>((y - (means_.empty() ? 0.0 : means_[at(l)]) - mean(i)) * outer(i) -
                               (shift ? shift[l] : 0.0));
      };
      for (Index l = 0; l < features_; ++l) become(l, 0.0);
      for_entries(i, [&](Index l, double x) {
        become(l, x * inner(i) * (weights_.empty() ? 1.0 : weights_[at(l)]));
      });
    }
  } else {
    with_stored(first, last, [&](Index begin, const auto& rows) {
      load_rows(rows, out + (begin - first) * stride, stride, shift);
    });
  }
  if (eta_ != 0)
    for (Index i = first; i < last; ++i)
      out[(i - first) * stride + features_] =
          static_cast<T>(eta_ - (shift ? shift[features_] : 0.0));
}

void Points::row(Index i, double* out) const {
  load(i, i + 1, out, nullptr);
}
void Points::rows(Index first, Index last, double* out) const {
  load(first, last, out, nullptr);
}
void Points::rows(Index first, Index last, float* out) const {
  load(first, last, out, nullptr);
}
void Points::rows(Index first, Index last, const std::vector<double>& shift, float* out) const {
  load(first, last, out, shift.data());
}

// --------------------------------------------------------------------------- what all points share

/// Sum over all points of the vectors of `length` that add(first, last, vector) adds to, in segments.
template <class Add>
std::vector<double> Points::sum_over_points(Index length, Add&& add, int threads) const {
  const auto segments = static_cast<double>(block_count(size_, segment_size(size_)));
  std::vector<double> total(at(length));
  sum_segments<std::vector<double>>(
      threads_for(threads, 2.0 * static_cast<double>(entries_)), size_,
      8.0 * static_cast<double>(length), 4.0 * static_cast<double>(entries_) / segments,
      [&](int, std::vector<double>& sum, Index first, Index last) {
        sum.assign(at(length), 0.0);
        add(first, last, sum.data());
      },
      [&](const std::vector<double>& sum, int) {
        for (Index l = 0; l < length; ++l) total[at(l)] += sum[at(l)];
      });
  return total;
}

void Points::refuse_if_not_finite(Index i) const {
  const auto look = [&](Index l, double x) {
    if (!std::isfinite(x))
      throw Error(fmt::format(
          "point {} has {} in feature {} (both counted from 0); remove the point or fill in the "
          "value",
          source(i), std::isnan(x) ? "NaN" : "an infinite value", l));
  };
  if (sparse())
    for_entries(i, look);
  else
    with_stored(i, i + 1, [&](Index, const auto& stored) {
      for (Index l = 0; l < features_; ++l) look(l, static_cast<double>(stored.rows[0][l]));
    });
}

void Points::refuse_changed_entries(Index i) const {
  throw Error(
      fmt::format("the indices of the sparse matrix changed while it was read (point {}); leave "
                  "the arrays alone "
                  "until the work is done",
                  source(i)));
}

/// Largest |x|; throws for the first value that is not finite. With `numbers` also the mean and the
/// squares of every point as stored, into mean_ (where it has room) and squared_norms_.
double Points::scan(int threads, bool numbers) {
  std::vector<double> largest(at(block_count(size_)));
  std::vector<Index> bad(largest.size(), -1);
  std::vector<ConstantRows> constant(largest.size());
  for_blocks(threads_for(threads, 4.0 * static_cast<double>(entries_)), size_,
             [&](Index b, Index first, Index last) {
               const auto see = [&](Index i, double here) {
                 if (!std::isfinite(here) && bad[at(b)] < 0) bad[at(b)] = i;
                 largest[at(b)] = std::max(largest[at(b)], here);
               };
               if (sparse()) {
                 for (Index i = first; i < last; ++i) {
                   double most = 0;
                   bool finite = true;
                   for_entries(i, [&](Index, double x) {
                     most = std::max(most, std::abs(x));
                     finite &= std::isfinite(x);
                   });
                   see(i, finite ? most : std::numeric_limits<double>::infinity());
                 }
                 return;
               }
               with_stored(first, last, [&](Index begin, const auto& stored) {
                 RowSums sums[chunk_rows];
                 sum_rows(stored, numbers && !mean_.empty(), sums);
                 for (Index i = 0; i < stored.count; ++i) {
                   see(begin + i, sums[i].largest);
                   constant[at(b)].see(begin + i, sums[i], features_, numbers && !mean_.empty());
                   if (numbers) squared_norms_[at(begin + i)] = sums[i].squares;
                   if (numbers && !mean_.empty()) mean_[at(begin + i)] = sums[i].mean;
                 }
               });
             });
  for (const Index i : bad)
    if (i >= 0) refuse_if_not_finite(i);
  look_for_marks(constant);
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

/// Mean of each feature of inner o weights o x: two passes, so that a large offset costs no digits.
void Points::find_means(int threads) {
  const auto n = static_cast<double>(size_);
  // The mean of y - means_, y the scaled points.
  const auto mean_beyond = [&] {
    auto mean = sum_over_points(
        features_,
        [&](Index first, Index last, double* sum) {
          if (sparse()) {
            for (Index i = first; i < last; ++i)
              for_entries(i, [&](Index l, double x) {
                sum[l] += x * inner(i) * (weights_.empty() ? 1.0 : weights_[at(l)]);
              });
            return;
          }
          std::vector<double> chunk(at(copied_rows * features_));
          PointNumbers scaled[copied_rows];
          with_stored(
              first, last,
              [&](Index, auto stored) {
                for (Index i = 0; i < stored.count; ++i)
                  scaled[i] = {.inner = stored.numbers[i].inner, .mean = 0, .outer = 1};
                stored.numbers = scaled;
                load_rows(stored, chunk.data(), features_);
                add_rows(chunk.data(), stored.count, features_, sum);
              },
              copied_rows);
        },
        threads);
    for (double& m : mean) m /= n;
    return mean;
  };
  std::vector<double> means = mean_beyond();
  if (!sparse()) {  // sparse: most deviations are minus the mean itself, nothing to gain
    means_ = means;
    means_.resize(at(padded_length(features_)));
    const std::vector<double> rest = mean_beyond();
    for (Index l = 0; l < features_; ++l) means[at(l)] += rest[at(l)];
  }
  means_ = std::move(means);
  means_.resize(at(padded_length(features_)));
}

/// weights_ = 1 / standard deviation; a constant feature keeps its values.
void Points::find_weights(int threads) {
  find_means(threads);
  // Squared deviations of stored entries, how many are stored, and their deviations.
  const std::vector<double> squares = sum_over_points(
      3 * features_,
      [&](Index first, Index last, double* sum) {
        if (sparse()) {
          for (Index i = first; i < last; ++i)
            for_entries(i, [&](Index l, double x) {
              const double deviation = x * inner(i) - means_[at(l)];
              sum[l] += deviation * deviation;
              sum[features_ + l] += 1;
              sum[2 * features_ + l] += deviation;
            });
          return;
        }
        std::vector<double> chunk(at(copied_rows * features_));
        with_stored(
            first, last,
            [&](Index, const auto& stored) {  // no mean_ and no outer_ yet
              load_rows(stored, chunk.data(), features_);
              for (Index i = 0; i < stored.count; ++i)
                for (Index l = 0; l < features_; ++l)
                  sum[l] += chunk[at(i * features_ + l)] * chunk[at(i * features_ + l)];
            },
            copied_rows);
        for (Index l = 0; l < features_; ++l)
          sum[features_ + l] += static_cast<double>(last - first);
      },
      threads);
  const auto n = static_cast<double>(size_);
  weights_.assign(at(padded_length(features_)), 0.0);
  for (Index l = 0; l < features_; ++l) {
    const double m = means_[at(l)];
    const double zeros = n - squares[at(features_ + l)];
    // Sparse: the mean is as good as one pass makes it, and what it is off by is no deviation.
    const double off = sparse() ? (squares[at(2 * features_ + l)] - zeros * m) / n : 0.0;
    const double deviation =
        std::sqrt(std::max(0.0, (squares[at(l)] + zeros * m * m) / n - off * off));
    const bool constant = deviation <= 16 * std::numeric_limits<double>::epsilon() * std::abs(m);
    weights_[at(l)] = constant ? 1 / scale_ : 1 / deviation;
  }
  means_.clear();
}

/// inner_, mean_ and squared_norms_, point by point. @pre mean_ and inner_ have room where wanted
void Points::find_point_numbers(int threads) {
  const bool unit_norm = !inner_.empty(), center = !mean_.empty();
  if (sparse() && !means_.empty()) {
    products_with_means_.assign(at(size_), 0.0);
    means_squared_ = 0;
    for (const double m : means_) means_squared_ += m * m;
  }
  for_blocks(threads_for(threads, 4.0 * static_cast<double>(entries_)), size_,
             [&](Index, Index first, Index last) {
               if (sparse()) {
                 find_sparse_numbers(first, last, unit_norm, center);
                 return;
               }
               std::vector<PointNumbers> scaled(at(chunk_rows));
               std::vector<RowSums> sums(at(chunk_rows));
               with_stored(first, last, [&](Index begin, auto stored) {
                 for (Index i = 0; i < stored.count; ++i) scaled[at(i)].inner = scale_;
                 stored.numbers = scaled.data();
                 if (unit_norm) {  // 1 / norm, by way of a power of two that keeps squares in range
                   auto raw = stored;
                   raw.means = nullptr;
                   sum_rows(raw, false, sums.data());
                   for (Index i = 0; i < stored.count; ++i)
                     scaled[at(i)].inner = scale_ * power_near_inverse(sums[at(i)].largest);
                   sum_rows(raw, false, sums.data());
                   for (Index i = 0; i < stored.count; ++i) {
                     if (sums[at(i)].squares > 0)
                       scaled[at(i)].inner = std::min(
                           scaled[at(i)].inner / std::sqrt(sums[at(i)].squares), largest_finite);
                     inner_[at(begin + i)] = scaled[at(i)].inner;
                   }
                 }
                 sum_rows(stored, center, sums.data());
                 for (Index i = 0; i < stored.count; ++i) {
                   if (center) mean_[at(begin + i)] = sums[at(i)].mean;
                   squared_norms_[at(begin + i)] = sums[at(i)].squares;
                 }
               });
             });
}

void Points::find_sparse_numbers(Index first, Index last, bool unit_norm, bool center) {
  const auto d = static_cast<double>(features_);
  std::vector<double> y;
  for (Index i = first; i < last; ++i) {
    y.clear();
    double largest = 0;
    for_entries(i, [&](Index l, double x) {
      y.push_back(x * scale_ * (weights_.empty() ? 1.0 : weights_[at(l)]));
      largest = std::max(largest, std::abs(y.back()));
    });
    if (unit_norm && largest > 0) {
      const double power = power_near_inverse(largest);
      double sum = 0;
      for (double& v : y) v *= power, sum += v * v;
      const double inverse = 1 / std::sqrt(sum);
      inner_[at(i)] = std::min(scale_ * power * inverse, largest_finite);
      for (double& v : y) v *= inverse;
    }
    double m = 0;
    if (center) {
      for (const double v : y) m += v;
      m /= d;
      double rest = -(d - static_cast<double>(y.size())) * m;  // what rounding left
      for (const double v : y) rest += v - m;
      mean_[at(i)] = m += rest / d;
    }
    double squares = 0;
    if (means_.empty()) {
      for (const double v : y) squares += (v - m) * (v - m);
      squares += (d - static_cast<double>(y.size())) * m * m;
    } else {
      double with_means = 0;
      std::size_t e = 0;
      for_entries(i, [&](Index l, double) {
        if (e == y.size()) refuse_changed_entries(i);
        with_means += y[e] * means_[at(l)];
        squares += y[e] * y[e];
        ++e;
      });
      products_with_means_[at(i)] = with_means;
      squares = std::max(0.0, squares - 2 * with_means + means_squared_);
    }
    squared_norms_[at(i)] = squares;
  }
}

/// outer_ of the cosine kernel: 1 / norm of each centred point.
void Points::normalize() {
  outer_.assign(at(size_), 1.0);
  for (Index i = 0; i < size_; ++i)
    if (squared_norms_[at(i)] > 0) {
      outer_[at(i)] = 1 / std::sqrt(squared_norms_[at(i)]);
      squared_norms_[at(i)] = 1;
    } else {
      outer_[at(i)] = 0;  // the zero that it is, whatever rounding leaves of products with it
    }
}

/// The last power of two, the unit, and eta.
void Points::set_scale(const Preprocessing& prep, int threads) {
  const double mean_square =
      block_sum(threads, size_, [&](Index i) { return squared_norms_[at(i)]; }) /
      static_cast<double>(std::max<Index>(1, size_));
  const double rms = std::sqrt(mean_square);
  // Units so far: the raw numbers times scale_, or none at all after scaling to unit or standard.
  const double so_far = prep.scale == Scale::none && !prep.normalize ? scale_ : 1.0;
  const double eta = prep.eta_relative ? prep.eta * rms : prep.eta * so_far;
  const double largest_square =
      size_ ? *std::max_element(squared_norms_.begin(), squared_norms_.end()) : 0;
  common_ = power_near_inverse(std::sqrt(largest_square + eta * eta));
  unit_ = so_far * common_;
  eta_ = eta * common_;
  rms_norm_ = rms * common_;
  for (double& o : outer_) o *= common_;
  for (double& s : squared_norms_) s *= common_ * common_;
}

Points::Points(const PointsView& view, std::span<const Index> subset, const Preprocessing& prep,
               int threads)
    : view_(view),
      subset_(subset),
      size_(subset.empty() ? rows_of(view) : static_cast<Index>(subset.size())),
      features_(cols_of(view)),
      prep_(prep) {
  if (sparse()) stored_ = entries_of(view);
  if (subset_.empty() || !sparse())
    entries_ = sparse() ? entries_of(view) : size_ * features_;
  else
    for (Index i = 0; i < size_; ++i) for_entries(i, [&](Index, double) { ++entries_; });
  const bool unit_norm = prep.scale == Scale::unit;
  make_room(prep);
  if (!sparse() && visits(prep, single()) == 1) {
    // Squares of float32 numbers stay within the range of double: one visit tells everything.
    scale_ = power_near_inverse(scan(threads, true));
    for (double& m : mean_) m *= scale_;
    for (double& s : squared_norms_) s *= scale_ * scale_;
  } else {
    const double largest = scan(threads, false);
    scale_ = unit_norm ? 1.0 : power_near_inverse(largest);
    if (prep.scale == Scale::standard) find_weights(threads);
    if (prep.center == Center::feature) {
      if (unit_norm) find_point_numbers(threads);
      find_means(threads);
    }
    find_point_numbers(threads);
  }
  for (const double m : means_) means_norm_ += m * m;
  means_norm_ = std::sqrt(means_norm_);
  look_for_huge_points();
  drop_constant_points();
  if (prep.normalize) normalize();
  set_scale(prep, threads);
}

Index Points::visits(const Preprocessing& prep, bool single) {
  const bool feature = prep.center == Center::feature;
  if (single && prep.scale == Scale::none && !feature) return 1;
  constexpr Index means = 2;
  const Index weights = prep.scale == Scale::standard ? means + 1 : 0;
  const Index center = feature ? means + (prep.scale == Scale::unit ? 1 : 0) : 0;
  return 1 + weights + center + 1;
}

Index Points::stream_bytes(Index features, bool single) {
  return single ? StreamBuffer<float>::bytes(features) : StreamBuffer<double>::bytes(features);
}

Points::Points(const Points& other, double eta, bool eta_relative, int threads) : Points(other) {
  for (double& o : outer_) o /= common_;
  for (double& s : squared_norms_) s = s / common_ / common_;
  prep_.eta = eta;
  prep_.eta_relative = eta_relative;
  set_scale(prep_, threads);
}

/// Of every point the numbers that its preprocessing needs.
void Points::make_room(const Preprocessing& prep) {
  if (prep.scale == Scale::unit) inner_.assign(at(size_), 1.0);
  if (prep.center == Center::point) mean_.assign(at(size_), 0.0);
  squared_norms_.assign(at(size_), 0.0);
}

Points::Points(const PointsView& view, const Points& trained, int threads)
    : view_(view),
      size_(rows_of(view)),
      features_(cols_of(view)),
      entries_(entries_of(view)),
      stored_(entries_),
      prep_(trained.prep_),
      scale_(trained.scale_),
      common_(trained.common_),
      unit_(trained.unit_),
      weights_(trained.weights_),
      means_(trained.means_) {
  if (features_ != trained.features_)
    throw Error(fmt::format("new points have {} features, those selected from have {}", features_,
                            trained.features_));
  make_room(prep_);
  scan(threads, false);
  find_point_numbers(threads);
  if (prep_.normalize) normalize();
  eta_ = trained.eta_;
  rms_norm_ = trained.rms_norm_;
  for (double& o : outer_) o *= common_;
  for (double& s : squared_norms_) s *= common_ * common_;
}

}  // namespace fwsr
