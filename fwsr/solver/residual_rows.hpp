// What the codes leave of every point, R = A - A X, from the points themselves: no digit is lost to subtraction of
// sums. The certificate asks for it where the sums of one sweep (linear_sweep.hpp) are too coarse.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/linear_sweep.hpp"

namespace fwsr {

struct ScoreBound {
  double score = 0;
  double error = 0;  // by which rounding may have changed it
};

/// Codes X = Theta A_B^T A as vectors.
struct ResidualVectors {
  Index dim = 0;
  std::vector<double> basis, chosen;  // rows a_b and a_t
  std::vector<double> theta;
};

// `weights`: of the points; empty: 1 each.

/// ||A - A X||^2: one pass over the points.
SegmentSums<double> residual_squares(const Points& points, const ResidualVectors& x,
                                     const std::vector<double>& weights, int threads,
                                     const KeepGoing& keep_going);

/// E^T a of some rows a, one after the other.
std::vector<double> score_vectors(const ResidualVectors& x, const std::vector<double>& a);
/// sum_l <a_l, w>^2 of all rows w together: ||p_i||^2 where w = E^T a_i.
SegmentSums<double> projected_squares(const Points& points, std::span<const double> w,
                                      const std::vector<double>& weights, int threads,
                                      const KeepGoing& keep_going);

/// ||p_i||^2 = a_i^T (R R^T) a_i of all points, from R R^T: as much as another set-up, in double.
SegmentSums<Gram> residual_moments(const Points& points, const ResidualVectors& x,
                                   const std::vector<double>& weights, int threads,
                                   const KeepGoing& keep_going);
std::vector<double> residual_scores(const Points& points, std::span<const double> rr, int threads,
                                    const KeepGoing& keep_going);
/// What rounding may have done to that of point i: a part of ||a_i||^2 tr R R^T, f. A point that is much larger than
/// the others may lead for that alone.
double residual_score_error(const Points& points, double f, Index i);

}  // namespace fwsr
