#include "fwsr/prep/statistics.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/typical.hpp"

namespace fwsr {

namespace {

/// A row of one value so many times larger than all rows that are not is a mark. Few features are equal by
/// chance now and then.
double far_away(Index features) {
  return features >= 4 ? 10 : 1e6;
}
/// The same for the norm of a point, beside that of most: what it leaves of them in double is six digits.
constexpr double huge = 1e10;

constexpr const char* advice =
    "if that marks a missing value, remove the point or fill in the value";

}  // namespace

Index visits_to_learn(const Preprocessing& prep, bool single) {
  const bool feature = prep.center == Center::feature;
  if (single && prep.scale == Scale::none && !feature) return 1;
  constexpr Index means = 2;
  const Index weights = prep.scale == Scale::standard ? means + 1 : 0;
  const Index center = feature ? means + (prep.scale == Scale::unit ? 1 : 0) : 0;
  return 1 + weights + center + 1;
}

/// The power of two that brings `value` near 1; 1 for zero.
double power_near_inverse(double value) {
  if (!(value > 0)) return 1;
  return std::ldexp(1.0, std::clamp(-std::ilogb(value), -1000, 1000));
}

std::vector<double> total_of(const std::vector<SegmentSums<std::vector<double>>>& sums) {
  std::vector<double> total;
  for (const auto& portion : sums)
    for (const std::vector<double>& sum : portion) {
      total.resize(sum.size());
      for (std::size_t l = 0; l < sum.size(); ++l) total[l] += sum[l];
    }
  return total;
}

double total_of(const std::vector<SegmentSums<double>>& sums) {
  double total = 0;
  for (const auto& portion : sums)
    for (const double sum : portion) total += sum;
  return total;
}

std::optional<std::string> warning_of_marks(const std::vector<ScanPoints::Reply>& scans,
                                            Index features) {
  double others = 0;
  for (const ScanPoints::Reply& s : scans) others = std::max(others, s.largest_other);
  const double limit = far_away(features) * others;
  if (!(others > 0) || !std::isfinite(limit)) return std::nullopt;
  for (const ScanPoints::Reply& s : scans)
    for (const ConstantRows& row : s.records)
      if (row.largest > limit)
        return fmt::format(
            "point {} is {:g} in every feature, {:.2g} times the largest number of all others: {}",
            row.first, row.value, row.largest / others, advice);
  return std::nullopt;
}

/// 1 / standard deviation; a constant feature keeps its values.
std::vector<double> weights_from(const std::vector<double>& deviations, const Common& common,
                                 const PointsShape& shape) {
  const auto n = static_cast<double>(shape.size);
  const Index d = shape.features;
  std::vector<double> weights(at(d));
  for (Index l = 0; l < d; ++l) {
    const double m = common.means[at(l)];
    const double zeros = n - deviations[at(d + l)];
    // Sparse: the mean is as good as one pass makes it, and what it is off by is no deviation.
    const double off = shape.sparse ? (deviations[at(2 * d + l)] - zeros * m) / n : 0.0;
    const double deviation =
        std::sqrt(std::max(0.0, (deviations[at(l)] + zeros * m * m) / n - off * off));
    const bool constant = deviation <= 16 * std::numeric_limits<double>::epsilon() * std::abs(m);
    weights[at(l)] = constant ? 1 / common.scale : 1 / deviation;
  }
  return weights;
}

double usual_square(const std::vector<FindNumbers::Reply>& found) {
  std::vector<double> some;
  for (const FindNumbers::Reply& f : found) some.insert(some.end(), f.some.begin(), f.some.end());
  return middle_above_zero(std::move(some));
}

bool is_huge(double square, double median) {
  return median > 0 && square / median > huge * huge;
}

double huge_beyond(double median) {
  return median > 0 ? median * (huge * huge) : std::numeric_limits<double>::infinity();
}

std::optional<std::string> warning_of_huge(const std::vector<FindHuge::Reply>& found,
                                           double median) {
  for (const FindHuge::Reply& f : found)
    if (f.point >= 0)
      return fmt::format(
          "point {} has {:g} in feature {} (both counted from 0), and is {:.0e} times as long as "
          "most points, beside which they are nothing: {}",
          f.point, f.value, f.feature, std::sqrt(f.square / median), advice);
  return std::nullopt;
}

SetScale scale_from(const std::vector<SumSquares::Reply>& squares, double scale, Index n,
                    const Preprocessing& prep) {
  double sum = 0, largest = 0;
  for (const SumSquares::Reply& s : squares) {
    for (const double segment : s.sums) sum += segment;
    largest = std::max(largest, s.largest);
  }
  const double rms = std::sqrt(sum / static_cast<double>(std::max<Index>(1, n)));
  // Units so far: the raw numbers times `scale`, or none at all after scaling to unit or standard.
  const double so_far = prep.scale == Scale::none && !prep.normalize ? scale : 1.0;
  const double eta = prep.eta_relative ? prep.eta * rms : prep.eta * so_far;
  const double common = power_near_inverse(std::sqrt(largest + eta * eta));
  return {.common = common, .unit = so_far * common, .eta = eta * common, .rms_norm = rms * common};
}

}  // namespace fwsr
