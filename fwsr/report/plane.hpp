// Where the points of a map stand.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/report/measure.hpp"
#include "fwsr/report/rows.hpp"

namespace fwsr::report {

struct Plane {
  std::vector<double> x = {}, y = {};  // of each point asked for
  std::string across = {}, up = {};    // what the axes are, in words
};

/// The features named `axes` where there are two; else the first two principal components of these points as the run
/// scaled them. Of a given matrix: of what it says about points and exemplars.
Plane plane_of(const Rows& rows, const Run& run, std::span<const Index> axes,
               std::span<const Index> points, int threads);

}  // namespace fwsr::report
