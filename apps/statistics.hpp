// Facts about a set of points that a person wants before choosing from it.
#pragma once

#include <optional>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr::app {

/// Where a number stands, both from 0.
struct Position {
  Index point = 0;
  Index feature = 0;
};

struct Duplicate {
  Index point = 0;
  Index equals = 0;  // the first point with the same numbers
};

struct Statistics {
  Index points = 0;
  Index features = 0;
  Index entries = 0;  // stored numbers
  Index bytes = 0;    // that the points take in memory
  double zeros = 0;   // share of all numbers that are zero
  // Over the finite numbers; nothing when there are none.
  std::optional<double> min, max, mean;
  Index not_a_number = 0;
  Index infinite = 0;
  std::optional<Position> first_not_finite;
  std::vector<Index> constant_features;  // the same number in every point
  Index zero_points = 0;
  Index duplicates = 0;  // points whose numbers are those of an earlier point
  std::optional<Duplicate> first_duplicate;
  // Euclidean norms of the points; nothing when some are not finite.
  std::optional<double> norm_min, norm_median, norm_max;
  /// A few points are far larger than most; the linear kernel is drawn to them.
  bool heavy_tailed = false;
};

/// The same for any number of threads.
Statistics examine(const PointsView& points, int threads);

}  // namespace fwsr::app
