// How far the points at hand are from all exemplars, while a short answer is filled (fill.hpp). Of those that may be added
// some are permitted at a time.
//
//   ||a_i - a_t||^2 = ||a_i||^2 + ||a_t||^2 - 2 <a_i, a_t>
//
// to 2^-53 of the squared norms or so. What is little beside these is computed again from differences, so that points which
// are small beside one giant, or beside what they have in common, are told apart as others are. eta is in no difference.
#pragma once

#include <span>
#include <vector>

#include "fwsr/prep/points.hpp"
#include "fwsr/solver/distance_width.hpp"
#include "fwsr/solver/questions.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

class Distances {
 public:
  /// `terms`: of the points at hand, which are behind `before` others. Both outlive it.
  Distances(const Points& candidates, const Terms& terms, Index before);

  /// From some more exemplars; these are not added again.
  void lower(const LowerDistances& q, int threads);
  /// `prices`: of all points; 0: not permitted.
  void permit(std::span<const double> prices);
  double largest() const;
  /// The first whose squared distance is at least this, but for its width.
  FirstScore::Reply first(double enough) const;

 private:
  double of(std::size_t candidate) const;
  /// `products`: with one exemplar, whose row and squared norm (with eta) these are.
  void lower_some(std::span<const double> products, std::span<const double> exemplar, double square,
                  Index first, Index last);

  const Points& candidates_;
  const Terms& terms_;
  Index before_;
  std::vector<double> least_;    // of the squared distances of every candidate
  std::vector<char> permitted_;  // empty: all
};

}  // namespace fwsr
