#include "fwsr/prep/frame.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

namespace {

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
        } else if constexpr (requires { v.numbers; }) {
          std::vector<float> rows(at((last - first) * d));
          v.read(first, last, rows.data());
          widen(rows.data(), (last - first) * d, out);
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

void require_fit(const Frame& frame, Index d) {
  for (const std::vector<double>* numbers : {&frame.deviation, &frame.mean})
    if (!numbers->empty() && std::ssize(*numbers) != d)
      throw Error(fmt::format("new points have {} features, those selected from have {}", d,
                              numbers->size()));
}

}  // namespace

void require_numbers(const double* values, Index count) {
  // 0 times a number is 0, and no number times all else.
  if (sum_of(count, [&](Index e) { return 0 * values[e]; }) != 0)
    throw Error(
        "the new points contain NaN or infinity; remove these points or fill in the values");
}

Frame frame_from(const Preprocessing& prep, const Common& common, Index features) {
  Frame frame{.center = prep.center,
              .scale = prep.scale,
              .normalize = prep.normalize,
              .deviation = {},
              .mean = {}};
  const auto d = at(features);
  for (std::size_t l = 0; l < d && prep.scale == Scale::standard; ++l)
    frame.deviation.push_back(1 / common.weights[l] / common.scale);
  for (std::size_t l = 0; l < d && prep.center == Center::feature; ++l)
    frame.mean.push_back(prep.scale == Scale::none ? common.means[l] / common.scale
                                                   : common.means[l]);
  return frame;
}

Frame frame_of(const PointsView& view, const Preprocessing& prep, int threads,
               const KeepGoing& keep_going) {
  Common common;
  if (prep.scale != Scale::standard && prep.center != Center::feature)
    return frame_from(prep, common, cols_of(view));
  // The points learn what they have in common, until every feature's part of it is known.
  Points points(view, {}, prep, rows_of(view), 0);
  learn(points.shape(), prep, [&]<class Question>(const Question& question) {
    throw_if_cancelled(keep_going);
    if constexpr (requires { question.common.means; }) common = question.common;
    using Reply = decltype(points.answer(question, threads));
    constexpr bool of_features =
        std::is_same_v<Question, ScanPoints> || std::is_same_v<Question, SumFeatures>;
    constexpr bool of_points = std::is_same_v<Question, FindNumbers>;  // norms, before their means
    if (of_features || (of_points && prep.scale == Scale::unit && common.means.empty()))
      return std::vector<Reply>{points.answer(question, threads)};
    return std::vector<Reply>(1);
  });
  return frame_from(prep, common, cols_of(view));
}

void load_in_frame(const Frame& frame, const PointsView& points, Index first, Index last,
                   double* out) {
  const Index d = cols_of(points);
  require_fit(frame, d);
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
  require_fit(frame, d);
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
