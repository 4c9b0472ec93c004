// Strong rank-revealing QR: for the method of that name, and for others that end with one.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

struct StrongPivots {
  std::vector<Index> points;
  std::vector<double> distances;  // of each from the span of the others
  Index swaps = 0;
  double rho = 0;  // the largest there is at the end; above f where only rounding makes it so
};
/// From the pivots of plain QR on, at most `count`. @pre f >= 1
StrongPivots strong_pivots(const Task& task, Index count, double f);

/// What the swaps hold, and what looking for one takes.
Cost strong_cost(const Sizes& sizes);

}  // namespace fwsr
