// What is looked up in the points of a page: classes in the order of people, and what tells a point from the others.
// Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/report/rows.hpp"

namespace fwsr::report {

/// Refuses what is not as Rows says. @throws Error
void check_rows(const Rows& rows);

/// The classes as people count: numbers before words, and 2 before 10.
struct Classes {
  std::vector<std::string> names = {};
  std::vector<Index> place = {};   // of a code of the labels among the names; -1: has no points
  std::vector<Index> points = {};  // how many

  explicit Classes(const Rows& rows);
  Index of(const Rows& rows, Index row) const;  // -1: there are no classes
};

/// What tells a point from the others: the features farthest from their means, in standard deviations.
struct Telling {
  Index feature = 0;
  double value = 0;
  double deviations = 0;  // signed
};
class Features {
 public:
  /// Means and deviations of at most 2000 points.
  explicit Features(const Rows& rows);
  std::vector<Telling> of(Index row, std::size_t most) const;

 private:
  const Rows& rows_;
  std::vector<double> mean_, deviation_;
};

}  // namespace fwsr::report
