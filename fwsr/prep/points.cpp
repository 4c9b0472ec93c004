#include "fwsr/prep/points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/rows.hpp"

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

}  // namespace

// --------------------------------------------------------------------------------------- one point

void Points::row(Index i, double* out) const {
  const RowTransform t{.weights = weights_.empty() ? nullptr : weights_.data(),
                       .means = means_.empty() ? nullptr : means_.data(),
                       .inner = inner(i),
                       .mean = mean(i),
                       .outer = outer(i)};
  if (sparse()) {
    for (Index l = 0; l < features_; ++l)
      out[l] = (0.0 - (t.means ? t.means[l] : 0.0) - t.mean) * t.outer;
    for_entries(i, [&](Index l, double x) {
      const double y = x * t.inner * (t.weights ? t.weights[l] : 1.0);
      out[l] = (y - (t.means ? t.means[l] : 0.0) - t.mean) * t.outer;
    });
  } else {
    const Index s = source(i);
    if (const auto* single = std::get_if<0>(&view_))
      load_row(single->data + s * single->stride, features_, t, out);
    else if (const auto* twice = std::get_if<1>(&view_))
      load_row(twice->data + s * twice->stride, features_, t, out);
  }
  if (eta_ != 0) out[features_] = eta_;
}

void Points::rows(Index first, Index last, double* out) const {
  for (Index i = first; i < last; ++i) row(i, out + (i - first) * dim());
}

void Points::rows(Index first, Index last, float* out) const {
  std::vector<double> wide(at(dim()));
  for (Index i = first; i < last; ++i) {
    row(i, wide.data());
    float* to = out + (i - first) * dim();
    for (Index l = 0; l < dim(); ++l) to[l] = static_cast<float>(wide[at(l)]);
  }
}

// --------------------------------------------------------------------------- what all points share

/// Sum over all points of the vectors of `length` that add(i, vector) adds to; the same bits for
/// any number of threads.
template <class Add>
std::vector<double> Points::sum_over_points(Index length, Add&& add, int threads) const {
  // At most 16 partial vectors, so that memory stays small; the cut depends on the points alone.
  const Index chunk = std::max(block_size, block_count(size_, 16));
  std::vector<std::vector<double>> partial(at(block_count(size_, chunk)));
  for_blocks(
      threads, size_,
      [&](Index b, Index first, Index last) {
        auto& sum = partial[at(b)];
        sum.assign(at(length), 0.0);
        for (Index i = first; i < last; ++i) add(i, sum.data());
      },
      chunk);
  std::vector<double> total(at(length));
  for (const auto& p : partial)
    for (Index l = 0; l < length; ++l) total[at(l)] += p[at(l)];
  return total;
}

/// Largest |x|; throws for the first value that is not finite.
double Points::scan(int threads) const {
  std::vector<double> largest(at(block_count(size_)));
  std::vector<Index> bad(largest.size(), -1);
  for_blocks(threads, size_, [&](Index b, Index first, Index last) {
    double most = 0;
    for (Index i = first; i < last; ++i) {
      const Index s = source(i);
      const double here = std::visit(
          [&](const auto& v) {
            if constexpr (requires { v.starts; })
              return max_abs(v.values + v.starts[s],
                             static_cast<Index>(v.starts[s + 1] - v.starts[s]));
            else
              return max_abs(v.data + s * v.stride, v.cols);
          },
          view_);
      if (!std::isfinite(here) && bad[at(b)] < 0) bad[at(b)] = i;
      most = std::max(most, here);
    }
    largest[at(b)] = most;
  });
  for (const Index i : bad) {
    if (i < 0) continue;
    for_entries(i, [&](Index l, double x) {
      if (!std::isfinite(x))
        throw Error(fmt::format(
            "point {} has {} in feature {} (both counted from 0); remove the point or fill in the "
            "value",
            source(i), std::isnan(x) ? "NaN" : "an infinite value", l));
    });
  }
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

/// Mean of each feature of inner o weights o x: two passes, so that a large offset costs no digits.
void Points::find_means(int threads) {
  const auto n = static_cast<double>(size_);
  const auto value = [&](Index i, Index l, double x) {
    return x * inner(i) * (weights_.empty() ? 1.0 : weights_[at(l)]);
  };
  means_ = sum_over_points(
      features_,
      [&](Index i, double* sum) {
        for_entries(i, [&](Index l, double x) { sum[l] += value(i, l, x); });
      },
      threads);
  for (double& m : means_) m /= n;
  if (sparse()) return;  // most deviations are minus the mean itself: nothing to gain
  const auto rest = sum_over_points(
      features_,
      [&](Index i, double* sum) {
        for_entries(i, [&](Index l, double x) { sum[l] += value(i, l, x) - means_[at(l)]; });
      },
      threads);
  for (Index l = 0; l < features_; ++l) means_[at(l)] += rest[at(l)] / n;
}

/// weights_ = 1 / standard deviation; a constant feature keeps its values.
void Points::find_weights(int threads) {
  find_means(threads);
  const std::vector<double> center = std::move(means_);
  means_.clear();
  std::vector<double> squares = sum_over_points(
      2 * features_,  // squared deviations of stored entries, and how many are stored
      [&](Index i, double* sum) {
        for_entries(i, [&](Index l, double x) {
          const double deviation = x * inner(i) - center[at(l)];
          sum[l] += deviation * deviation;
          sum[features_ + l] += 1;
        });
      },
      threads);
  const auto n = static_cast<double>(size_);
  weights_.assign(at(features_), 1 / scale_);
  for (Index l = 0; l < features_; ++l) {
    const double m = center[at(l)];
    const double zeros = n - squares[at(features_ + l)];
    const double deviation = std::sqrt((squares[at(l)] + zeros * m * m) / n);
    const bool constant = deviation <= 16 * std::numeric_limits<double>::epsilon() * std::abs(m);
    if (!constant) weights_[at(l)] = 1 / deviation;
  }
}

/// inner_, mean_, outer_ and squared_norms_, point by point.
void Points::find_point_numbers(int threads, bool unit_norm, bool center, bool normalize) {
  if (unit_norm) inner_.assign(at(size_), scale_);
  if (center) mean_.assign(at(size_), 0.0);
  if (normalize) outer_.assign(at(size_), 1.0);
  squared_norms_.assign(at(size_), 0.0);
  const auto d = static_cast<double>(features_);
  const bool in_sparse_feature_means = sparse() && !means_.empty();
  if (in_sparse_feature_means) {
    products_with_means_.assign(at(size_), 0.0);
    means_squared_ = 0;
    for (const double m : means_) means_squared_ += m * m;
  }
  for_blocks(threads, size_, [&](Index, Index first, Index last) {
    std::vector<double> y(at(features_));
    for (Index i = first; i < last; ++i) {
      Index stored = 0;
      double largest = 0;
      for_entries(i, [&](Index l, double x) {
        const double v = x * scale_ * (weights_.empty() ? 1.0 : weights_[at(l)]);
        y[at(stored++)] = v;
        largest = std::max(largest, std::abs(v));
      });
      if (unit_norm && largest > 0) {
        const double power = power_near_inverse(largest);
        double sum = 0;
        for (Index e = 0; e < stored; ++e) sum += (y[at(e)] * power) * (y[at(e)] * power);
        const double inverse = 1 / std::sqrt(sum);
        inner_[at(i)] = scale_ * power * inverse;
        for (Index e = 0; e < stored; ++e) y[at(e)] = y[at(e)] * power * inverse;
      }
      double m = 0;
      if (center) {
        for (Index e = 0; e < stored; ++e) m += y[at(e)];
        m /= d;
        if (!sparse()) {  // once more on the deviations: a large offset costs no digits
          double rest = 0;
          for (Index e = 0; e < stored; ++e) rest += y[at(e)] - m;
          m += rest / d;
        }
        mean_[at(i)] = m;
      }
      double squares = 0;
      if (in_sparse_feature_means) {
        double with_means = 0;
        Index e = 0;
        for_entries(i, [&](Index l, double) {
          const double v = y[at(e++)];
          with_means += v * means_[at(l)];
          squares += v * v;
        });
        products_with_means_[at(i)] = with_means;
        squares = std::max(0.0, squares - 2 * with_means + means_squared_);
      } else {
        for (Index e = 0; e < stored; ++e) {
          const double v = y[at(e)] - (means_.empty() ? 0.0 : means_[at(e)]) - m;
          squares += v * v;
        }
        squares += (d - static_cast<double>(stored)) * m * m;
      }
      if (normalize && squares > 0) {
        outer_[at(i)] = 1 / std::sqrt(squares);
        squares = 1;
      }
      squared_norms_[at(i)] = squares;
    }
  });
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
  if (subset_.empty())
    entries_ = entries_of(view);
  else
    for (Index i = 0; i < size_; ++i) for_entries(i, [&](Index, double) { ++entries_; });
  const double largest = scan(threads);
  scale_ = prep.scale == Scale::unit ? 1.0 : power_near_inverse(largest);
  if (prep.scale == Scale::standard) find_weights(threads);
  if (prep.center == Center::feature) {
    if (prep.scale == Scale::unit) find_point_numbers(threads, true, false, false);
    find_means(threads);
  }
  find_point_numbers(threads, prep.scale == Scale::unit, prep.center == Center::point,
                     prep.normalize);
  set_scale(prep, threads);
}

Points::Points(const PointsView& view, const Points& trained, int threads)
    : view_(view),
      size_(rows_of(view)),
      features_(cols_of(view)),
      entries_(entries_of(view)),
      prep_(trained.prep_),
      scale_(trained.scale_),
      common_(trained.common_),
      unit_(trained.unit_),
      weights_(trained.weights_),
      means_(trained.means_) {
  if (features_ != trained.features_)
    throw Error(fmt::format("new points have {} features, those selected from have {}", features_,
                            trained.features_));
  scan(threads);
  find_point_numbers(threads, prep_.scale == Scale::unit, prep_.center == Center::point,
                     prep_.normalize);
  eta_ = trained.eta_;
  rms_norm_ = trained.rms_norm_;
  for (double& o : outer_) o *= common_;
  for (double& s : squared_norms_) s *= common_ * common_;
}

}  // namespace fwsr
