// What the exemplars stand for, and what they miss.
#pragma once

#include <vector>

#include "fwsr/report/features.hpp"
#include "fwsr/report/measure.hpp"
#include "fwsr/report/rows.hpp"

namespace fwsr::report {

/// The points that an exemplar stands for.
struct Group {
  Index points = 0;
  double mean_distance = 0;
  std::vector<Index> nearest = {},
                     farthest = {};  // without itself, the first the nearest, and the farthest
  std::vector<Index> classes = {};   // points of each class
};

/// With at most `members` of the nearest, and as many of the farthest that are not among these.
std::vector<Group> groups_of(const Rows& rows, const Classes& classes, const Measured& measured,
                             const std::vector<Index>& exemplars, std::size_t members);

/// The points with the largest values, the first the largest; of equal ones those that come first.
std::vector<Index> largest(const std::vector<float>& values, std::size_t most);

/// The groups of more than one point, the loosest first.
std::vector<std::size_t> loosest(const std::vector<Group>& groups, std::size_t most);

}  // namespace fwsr::report
