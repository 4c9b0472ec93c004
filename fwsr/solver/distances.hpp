// How far the points at hand are from all exemplars, while a short answer is filled (fill.hpp). Of those that may be added
// some are permitted at a time.
#pragma once

#include <span>
#include <vector>

#include "fwsr/prep/points.hpp"
#include "fwsr/solver/questions.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

class Distances {
 public:
  /// `terms`: of the points at hand, which are behind `before` others. Both outlive it.
  Distances(const Points& candidates, const Terms& terms, Index before);

  /// ||a_i - a_t||^2 = ||a_i||^2 + ||a_t||^2 - 2 <a_i, a_t> for some more exemplars; these are not added again.
  void lower(const LowerDistances& q, int threads);
  /// `prices`: of all points; 0: not permitted.
  void permit(std::span<const double> prices);
  double largest() const;
  /// The first whose squared distance is at least this.
  FirstScore::Reply first(double enough) const;

 private:
  double of(std::size_t candidate) const;

  const Points& candidates_;
  const Terms& terms_;
  Index before_;
  std::vector<double> least_;    // of the squared distances of every candidate
  std::vector<char> permitted_;  // empty: all
};

}  // namespace fwsr
