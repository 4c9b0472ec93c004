// A few points taken out of a set, with all that makes points of their numbers: they can go where the others are not, and
// are the same there, to the last bit.
#pragma once

#include <memory>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

struct PointCopies {
  std::vector<Index> which;  // of those that were asked for
  bool sparse = false, single = false;
  Index features = 0;
  std::vector<double> values;  // as stored, row by row
  std::vector<Index> columns;  // of sparse points ...
  std::vector<Index> lengths;  // ... and how many each has
  std::vector<double>
      numbers;  // inner, mean, outer, squared norm and product with the means, of each
  // What all points share.
  Preprocessing prep;
  Common common;
  double factor = 1, unit = 1, eta = 0, rms_norm = 0;
};

/// Points of their own. `parts` came from portions of one set, and tell together about points 0, 1, ... of a question.
std::unique_ptr<Points> points_from(const std::vector<PointCopies>& parts);

}  // namespace fwsr
