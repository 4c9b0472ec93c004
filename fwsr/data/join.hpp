// Two sets of points as one.
#pragma once

#include "fwsr/base/result.hpp"
#include "fwsr/data/dataset.hpp"

namespace fwsr {

/// The points of `first`, then those of `second`, copied: in float32 where both are, sparse where both are. Ids and
/// labels are those of `first`; what has none is called "".
Result<Dataset> join(const Dataset& first, const Dataset& second);

/// Some of the points, copied, in this order. @pre they are there
Result<Dataset> some_points(const Dataset& data, const std::vector<Index>& chosen);

}  // namespace fwsr
