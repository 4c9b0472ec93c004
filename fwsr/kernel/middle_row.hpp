// What is taken from points before their distances are found: distances do not feel it, and small numbers lose fewer
// digits in them.
#pragma once

#include <limits>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// The median of each of d features of some rows: where most of them are, however far away a few may be.
std::vector<double> middle_row(const std::vector<double>& rows, Index d);
/// The same of some of the points, evenly spaced.
std::vector<double> middle_of(const Points& points);

/// gamma ||a||^2 of points so far from there that distances from norms, in double, might be off by what float32 is: these
/// are found from differences.
inline constexpr double far_in_double = 0x1p-23 / std::numeric_limits<double>::epsilon();

}  // namespace fwsr
