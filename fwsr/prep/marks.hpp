// Rows of one value, met in the visit that looks for NaN: marks for missing values are among them.
#pragma once

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

/// Of a block of points.
struct ConstantRows {
  double largest_other = 0;  // |x| in rows that are not of one value
  double largest = 0;        // |x| of those that are ...
  Index first = -1;          // ... and the first that has it, ...
  double value = 0;          // ... with its sign

  /// `centred`: the squares of `row` are those of its numbers less their mean.
  void see(Index point, const RowSums& row, Index features, bool centred);
};

}  // namespace fwsr
