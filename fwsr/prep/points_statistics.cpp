// What these points contribute to the statistics of all (statistics.hpp), and the numbers that each point has for itself.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/segments.hpp"
#include "fwsr/base/typical.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

namespace {

/// 1 / norm of a point of subnormal numbers only may be infinite, and infinity times zero no number.
constexpr double largest_finite = std::numeric_limits<double>::max();

}  // namespace

/// Sum over the points of the vectors of `length` that add(first, last, vector) adds to, in segments.
template <class Add>
SegmentSums<std::vector<double>> Points::sum_over_points(Index length, Add&& add,
                                                         int threads) const {
  const auto segments = static_cast<double>(block_count(size_, portion_.segment()));
  SegmentSums<std::vector<double>> total;
  sum_segments<std::vector<double>>(
      threads_for(threads, 2.0 * static_cast<double>(entries_)), portion_,
      8.0 * static_cast<double>(length), 4.0 * static_cast<double>(entries_) / segments,
      [&](int, std::vector<double>& sum, Index first, Index last) {
        sum.assign(at(length), 0.0);
        add(first, last, sum.data());
      },
      [&](const std::vector<double>& sum, int) {
        append_segment(portion_, total, sum, [](auto& to, const std::vector<double>& more) {
          to.resize(more.size());
          for (std::size_t l = 0; l < more.size(); ++l) to[l] += more[l];
        });
      });
  return total;
}

void Points::refuse_if_not_finite(Index i) const {
  const auto look = [&](Index l, double x) {
    if (!std::isfinite(x))
      throw Error(fmt::format(
          "point {} has {} in feature {} (both counted from 0); remove the point or fill in the "
          "value",
          reported(i), std::isnan(x) ? "NaN" : "an infinite value", l));
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
                  reported(i)));
}

/// Throws for the first value that is not finite. With `numbers` also the mean and the squares of every point as
/// stored, into mean_ (where it has room) and squared_norms_.
ScanPoints::Reply Points::scan(int threads, bool numbers) {
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
  ScanPoints::Reply reply;
  for (const double x : largest) reply.largest = std::max(reply.largest, x);
  double record = 0;
  for (ConstantRows& rows : constant) {
    reply.largest_other = std::max(reply.largest_other, rows.largest_other);
    if (rows.largest <= record) continue;
    record = rows.largest;
    with_rows(rows.first, rows.first + 1, [&](Index, const auto& stored) {
      rows.value = static_cast<double>(stored.rows[0][0]);
    });
    rows.first = reported(rows.first);
    reply.records.push_back(rows);
  }
  return reply;
}

/// Sums of inner o weights o x - means, feature by feature.
SumFeatures::Reply Points::sum_beyond_means(int threads) const {
  return sum_over_points(
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
}

/// Squared deviations of stored entries, how many are stored, and their deviations.
SumFeatures::Reply Points::sum_deviations(int threads) const {
  return sum_over_points(
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

// ------------------------------------------------------------------------------------------- answers

void Points::adopt(const Common& common) {
  const auto padded = [&](std::vector<double> v) {
    if (!v.empty()) v.resize(at(padded_length(features_)));
    return v;
  };
  scale_ = common.scale;
  weights_ = padded(common.weights);
  means_ = padded(common.means);
  means_norm_ = 0;
  for (const double m : means_) means_norm_ += m * m;
  means_norm_ = std::sqrt(means_norm_);
}

double Points::largest_square() const {
  return size_ ? *std::max_element(squared_norms_.begin(), squared_norms_.end()) : 0;
}

ScanPoints::Reply Points::answer(const ScanPoints& question, int threads) {
  return scan(threads, question.numbers);
}

SumFeatures::Reply Points::answer(const SumFeatures& question, int threads) {
  adopt(question.common);
  return question.of == SumFeatures::Of::deviations ? sum_deviations(threads)
                                                    : sum_beyond_means(threads);
}

FindNumbers::Reply Points::answer(const FindNumbers& question, int threads) {
  adopt(question.common);
  if (question.scanned) {
    for (double& m : mean_) m *= scale_;
    for (double& s : squared_norms_) s *= scale_ * scale_;
  } else {
    find_point_numbers(threads);
  }
  FindNumbers::Reply reply{.some = {}, .largest = largest_square()};
  for (const Index i : typical_places(portion_.of))
    if (i >= portion_.first && i < portion_.first + size_)
      reply.some.push_back(squared_norms_[at(i - portion_.first)]);
  return reply;
}

FindHuge::Reply Points::answer(const FindHuge& question, int) {
  const auto found = std::find_if(squared_norms_.begin(), squared_norms_.end(),
                                  [&](double s) { return is_huge(s, question.median); });
  if (found == squared_norms_.end()) return {};
  const Index i = found - squared_norms_.begin();
  FindHuge::Reply reply{.point = reported(i), .square = *found};
  const auto look = [&](Index l, double x) {
    if (std::abs(x) > std::abs(reply.value)) reply.feature = l, reply.value = x;
  };
  if (sparse())
    for_entries(i, look);
  else
    with_rows(i, i + 1, [&](Index, const auto& rows) {
      for (Index l = 0; l < features_; ++l) look(l, static_cast<double>(rows.rows[0][l]));
    });
  return reply;
}

DropConstant::Reply Points::answer(const DropConstant& question, int) {
  const auto drop = [&](Index i) {
    if (outer_.empty()) outer_.assign(at(size_), 1.0);
    outer_[at(i)] = squared_norms_[at(i)] = 0;
  };
  if (question.scaled) {
    // Features that were scaled are known to rounding, and so is what centring leaves of equal ones.
    constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
    for (Index i = 0; i < size_; ++i) {
      const double known = rounding * mean_[at(i)];
      if (squared_norms_[at(i)] <= known * known * static_cast<double>(features_)) drop(i);
    }
  } else if (single() && !sparse()) {
    // Products with float32 points are centred afterwards, to within rounding of what centring takes away.
    constexpr double digits = 0x1p20;
    const double longest = std::sqrt(question.longest);
    const double limit = digits * longest / std::sqrt(static_cast<double>(features_));
    for (Index i = 0; i < size_ && longest > 0; ++i)
      if (squared_norms_[at(i)] == 0 && std::abs(mean_[at(i)]) > limit) drop(i);
  }
  return largest_square();
}

Told Points::answer(const NormalizePoints&, int) {
  normalize();
  return {};
}

SumSquares::Reply Points::answer(SumSquares, int threads) {
  return {.sums = segment_sums(threads, portion_, [&](Index i) { return squared_norms_[at(i)]; }),
          .largest = largest_square()};
}

Told Points::answer(const SetScale& question, int) {
  common_ = question.common;
  unit_ = question.unit;
  eta_ = question.eta;
  rms_norm_ = question.rms_norm;
  for (double& o : outer_) o *= common_;
  for (double& s : squared_norms_) s *= common_ * common_;
  return {};
}

double Points::norm_taken_away(Index i) const {
  return outer(i) * (std::sqrt(static_cast<double>(features_)) * std::abs(mean(i)) + means_norm_);
}

}  // namespace fwsr
