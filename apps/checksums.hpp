// A short word for the numbers of a point, by which it is known again.
#pragma once

#include <string>
#include <vector>

#include "fwsr/data/dataset.hpp"

namespace fwsr::app {

/// Of some points, in this order: the same for equal numbers, whether they are stored dense or sparse, in float32 or
/// float64. Two different points have the same one in some 10^19 cases. @throws Error
std::vector<std::string> checksums_of(const Dataset& data, const std::vector<Index>& points);

}  // namespace fwsr::app
