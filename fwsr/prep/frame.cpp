#include "fwsr/prep/frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/base/segments.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 64;

/// Eight partial sums, which do not wait for each other.
template <class Term>
double sum_of(Index count, const Term& term) {
  constexpr Index lanes = 8;
  double sums[lanes] = {};
  Index e = 0;
  for (; e + lanes <= count; e += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] += term(e + lane);
  double sum = 0;
  for (; e < count; ++e) sum += term(e);
  for (const double s : sums) sum += s;
  return sum;
}

/// Calls visit(feature, value) for what is stored of point i. The indices are the caller's and may change under our
/// hands: none is followed out of the matrix.
template <class View, class Visit>
void for_stored(const View& v, Index i, const Visit& visit) {
  const auto begin = static_cast<Index>(v.starts[i]), end = static_cast<Index>(v.starts[i + 1]);
  bool changed = begin < 0 || end > static_cast<Index>(v.starts[v.rows]);
  for (Index e = begin; e < end && !changed; ++e) {
    const auto column = static_cast<Index>(v.columns[e]);
    changed = column < 0 || column >= v.cols;
    if (!changed) visit(column, static_cast<double>(v.values[e]));
  }
  if (changed)
    throw Error(
        "the indices of the sparse matrix changed while it was read; leave the arrays alone until "
        "the work is done");
}

template <class T>
void widen(const T* from, Index count, double* out) {
  for (Index e = 0; e < count; ++e) out[e] = static_cast<double>(from[e]);
}

/// Points first .. last as they are.
void load_raw(const PointsView& points, Index first, Index last, double* out) {
  std::visit(
      [&]<class View>(const View& v) {
        const Index d = v.cols;
        if constexpr (requires { v.starts; }) {
          std::fill_n(out, (last - first) * d, 0.0);
          for (Index i = first; i < last; ++i)
            for_stored(v, i, [&](Index l, double x) { out[(i - first) * d + l] = x; });
        } else if constexpr (requires { v.source; }) {
          const auto read = [&]<class T>(const RowSource<T>& source) {
            std::vector<T> rows(at((last - first) * d));
            source.read(first, last, rows.data());
            widen(rows.data(), (last - first) * d, out);
          };
          read(*v.source);
        } else {
          for (Index i = first; i < last; ++i)
            widen(v.data + i * v.stride, d, out + (i - first) * d);
        }
      },
      points);
}

/// To norm 1, by way of the largest number, whose square may overflow. What is zero stays so.
void to_norm_one(double* row, Index d) {
  double largest = 0;
  for (Index l = 0; l < d; ++l) largest = std::max(largest, std::abs(row[l]));
  if (!(largest > 0)) return;
  for (Index l = 0; l < d; ++l) row[l] /= largest;
  const double norm = std::sqrt(sum_of(d, [&](Index l) { return row[l] * row[l]; }));
  for (Index l = 0; l < d; ++l) row[l] /= norm;
}

void scale_row(const Frame& frame, double* row, Index d) {
  if (frame.scale == Scale::unit) to_norm_one(row, d);
  for (Index l = 0; l < static_cast<Index>(frame.deviation.size()); ++l)
    row[l] /= frame.deviation[at(l)];
}

void center_row(const Frame& frame, double* row, Index d) {
  if (frame.center == Center::point)
    for (int again = 0; again < 2; ++again) {  // what rounding left: 0 for a constant point
      const double mean = sum_of(d, [&](Index l) { return row[l]; }) / static_cast<double>(d);
      for (Index l = 0; l < d; ++l) row[l] -= mean;
    }
  for (Index l = 0; l < static_cast<Index>(frame.mean.size()); ++l) row[l] -= frame.mean[at(l)];
}

// ------------------------------------------------------------------------ means and deviations

/// Sums over all points, feature by feature, of ((y - less) times)^power for y as `frame` scales.
class FeatureSums {
 public:
  FeatureSums(const PointsView& points, const Frame& frame, int threads, const Alive& alive)
      : points_(points), frame_(frame), d_(cols_of(points)), threads_(threads), alive_(alive) {}

  std::vector<double> of(const std::vector<double>& less, double times, int power) const {
    const Index n = rows_of(points_);
    const double work = 4.0 * static_cast<double>(entries_of(points_));
    const bool sparse = is_sparse(points_);
    const Index length = sparse ? 2 * d_ : d_;  // sparse: and how many are stored
    std::vector<double> total(at(length));
    sum_segments<std::vector<double>>(
        threads_for(threads_, work), n, 8.0 * static_cast<double>(length),
        work / static_cast<double>(std::max<Index>(1, block_count(n, segment_size(n)))),
        [&](int, std::vector<double>& sum, Index first, Index last) {
          sum.assign(at(length), 0.0);
          for (Index from = first; from < last; from += rows_at_once) {
            stop_unless(alive_);
            const Index to = std::min(last, from + rows_at_once);
            if (sparse)
              add_sparse(from, to, less, times, power, sum);
            else
              add_dense(from, to, less, times, power, sum);
          }
        },
        [&](const std::vector<double>& sum, int) {
          for (Index l = 0; l < length; ++l) total[at(l)] += sum[at(l)];
        });
    for (Index l = 0; l < d_ && sparse; ++l)
      total[at(l)] +=
          (static_cast<double>(n) - total[at(d_ + l)]) * raised(-less[at(l)] * times, power);
    total.resize(at(d_));
    return total;
  }

 private:
  static double raised(double x, int power) { return power == 1 ? x : x * x; }

  void add_dense(Index first, Index last, const std::vector<double>& less, double times, int power,
                 std::vector<double>& sum) const {
    std::vector<double> rows(at((last - first) * d_));
    load_raw(points_, first, last, rows.data());
    for (Index i = 0; i < last - first; ++i) {
      double* const row = rows.data() + i * d_;
      scale_row(frame_, row, d_);
      for (Index l = 0; l < d_; ++l) sum[at(l)] += raised((row[l] - less[at(l)]) * times, power);
    }
  }

  void add_sparse(Index first, Index last, const std::vector<double>& less, double times, int power,
                  std::vector<double>& sum) const {
    SparseInFrame point;
    for (Index i = first; i < last; ++i) {
      load_in_frame(frame_, 0, points_, i, point);
      for (std::size_t e = 0; e < point.columns.size(); ++e) {
        const std::size_t l = at(point.columns[e]);
        sum[l] += raised((point.values[e] - less[l]) * times, power);
        sum[at(d_) + l] += 1;
      }
    }
  }

  const PointsView& points_;
  const Frame& frame_;
  Index d_;
  int threads_;
  const Alive& alive_;
};

/// In two passes, so that a large offset costs no digits.
std::vector<double> mean_of(const FeatureSums& sums, Index n, Index d) {
  std::vector<double> mean(at(d));
  for (int again = 0; again < 2; ++again) {
    const std::vector<double> rest = sums.of(mean, 1, 1);
    for (std::size_t l = 0; l < mean.size(); ++l) mean[l] += rest[l] / static_cast<double>(n);
  }
  return mean;
}

}  // namespace

void require_numbers(const double* values, Index count) {
  // 0 times a number is 0, and no number times all else.
  if (sum_of(count, [&](Index e) { return 0 * values[e]; }) != 0)
    throw Error(
        "the new points contain NaN or infinity; remove these points or fill in the values");
}

Frame frame_of(const PointsView& points, const Preprocessing& prep, int threads,
               const Alive& alive) {
  Frame frame{.center = Center::none,
              .scale = prep.scale == Scale::unit ? Scale::unit : Scale::none,
              .normalize = false,
              .deviation = {},
              .mean = {}};
  const Index n = rows_of(points), d = cols_of(points);
  const FeatureSums sums(points, frame, threads, alive);
  if (prep.scale == Scale::standard) {
    const std::vector<double> mean = mean_of(sums, n, d);
    double times = 1;  // brings squares back into the range of numbers
    std::vector<double> squares = sums.of(mean, times, 2);
    const double most = *std::max_element(squares.begin(), squares.end());
    if (!(most < std::numeric_limits<double>::infinity()) || most < 0x1p-900) {
      times = most < 1 ? 0x1p500 : 0x1p-500;
      squares = sums.of(mean, times, 2);
    }
    for (std::size_t l = 0; l < mean.size(); ++l) {
      const double deviation = std::sqrt(squares[l] / static_cast<double>(n)) / times;
      const bool constant =
          deviation <= 16 * std::numeric_limits<double>::epsilon() * std::abs(mean[l]);
      frame.deviation.push_back(constant ? 1.0 : deviation);
    }
    frame.scale = Scale::standard;
  }
  if (prep.center == Center::feature) frame.mean = mean_of(sums, n, d);
  frame.center = prep.center;
  frame.normalize = prep.normalize;
  return frame;
}

void load_in_frame(const Frame& frame, const PointsView& points, Index first, Index last,
                   double* out) {
  const Index d = cols_of(points);
  load_raw(points, first, last, out);
  require_numbers(out, (last - first) * d);
  for (Index i = 0; i < last - first; ++i) {
    double* const row = out + i * d;
    scale_row(frame, row, d);
    center_row(frame, row, d);
    if (frame.normalize) to_norm_one(row, d);
  }
}

void load_in_frame(const Frame& frame, double means_squared, const PointsView& points, Index i,
                   SparseInFrame& out) {
  out.columns.clear();
  out.values.clear();
  Index d = 0;
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.starts; }) {
          d = v.cols;
          for_stored(v, i, [&](Index l, double x) {
            out.columns.push_back(l);
            out.values.push_back(x);
          });
        }
      },
      points);
  std::vector<double>& y = out.values;
  const auto stored = static_cast<Index>(y.size());
  require_numbers(y.data(), stored);
  if (frame.scale == Scale::unit) to_norm_one(y.data(), stored);
  for (std::size_t e = 0; e < y.size() && !frame.deviation.empty(); ++e)
    y[e] /= frame.deviation[at(out.columns[e])];
  if (frame.normalize) to_norm_one(y.data(), stored);  // their squares may overflow
  out.own_mean = out.squares = 0;
  out.times = 1;
  const auto zeros = static_cast<double>(d - stored);
  if (frame.center == Center::point)
    for (int again = 0; again < 2; ++again) {  // what rounding left
      double sum = -zeros * out.own_mean;
      for (const double v : y) sum += v - out.own_mean;
      out.own_mean += sum / static_cast<double>(d);
    }
  for (std::size_t e = 0; e < y.size(); ++e) {
    const double mean = frame.mean.empty() ? out.own_mean : frame.mean[at(out.columns[e])];
    out.squares += (y[e] - mean) * (y[e] - mean) - (frame.mean.empty() ? 0.0 : mean * mean);
  }
  out.squares += frame.mean.empty() ? zeros * out.own_mean * out.own_mean : means_squared;
  if (frame.normalize && out.squares > 0) {
    out.times = 1 / std::sqrt(out.squares);
    out.squares = 1;
  }
}

}  // namespace fwsr
