// What the codes leave of every point, R = A - A X, from the points themselves: no digit is lost to subtraction of
// sums. The certificate asks for it where the sums of one sweep (linear_sweep.hpp) are too coarse.
#pragma once

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/linear_sweep.hpp"

namespace fwsr {

struct ScoreBound {
  double score = 0;
  double error = 0;  // by which rounding may have changed it
};

/// ||A - A X||^2: one pass over the points.
double residual_sum(const Points& points, const CodesOf& x, int threads, const Alive& alive);

/// ||p_i||: one pass over the points.
double score_of(const Points& points, Index i, const CodesOf& x, int threads);

/// max_i ||p_i||, with ||p_i||^2 = a_i^T (R R^T) a_i: as much as another set-up, in double.
ScoreBound largest_score(const Points& points, const CodesOf& x, int threads, const Alive& alive);

}  // namespace fwsr
