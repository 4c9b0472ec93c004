// What a page says about every point: which exemplar stands for it, how far that is, and what all exemplars together leave of
// it. One pass over the points; the same answer for any number of threads.
//
//   left_i = ||a_i - P_T a_i||^2 / ||a_i||^2,   P_T the projection on the span of the exemplars T
//
// in the space that the run worked in: centred, scaled, of its kernel. Of classes each in its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/report/prefixes.hpp"
#include "fwsr/report/run.hpp"

namespace fwsr::report {

struct Measured {
  /// For every point the place of its exemplar, those of all runs laid end to end; -1: none.
  std::vector<std::int32_t> group;
  /// From it, in units of the root-mean-square norm of the points; dissimilarities as they are.
  std::vector<float> distance;
  std::vector<float> left;    // see above; empty: there is no span
  std::vector<float> amount;  // ||a_i - P_T a_i||^2 in units of the mean ||a_i||^2
  /// What the first 1, 2, ... exemplars leave of all points; of classes the first of each class, or all that it has.
  std::vector<double> error;
  /// The same for points drawn at random, on average, of at most so many points.
  std::vector<double> random;
  /// Groups of fewer exemplars: of at most so many points evenly spaced, the exemplars, and those with the most left over.
  PrefixGroups prefixes;
};

inline constexpr Index most_points_in_map = 20'000;
inline constexpr std::size_t most_worst_points = 15;
inline constexpr Index random_draws = 5;
inline constexpr Index random_points = 4000;

Measured measure(const PointsView& points, const std::vector<Run>& runs,
                 std::span<const double> weights, int threads, const KeepGoing& keep_going = {});

}  // namespace fwsr::report
