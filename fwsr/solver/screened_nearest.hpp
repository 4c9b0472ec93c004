// Who of many exemplars is nearest to a point, mostly by products in float32.
//
// With m the mean of the exemplars, u_i = a_i - m and b_t = a_t - m,
//
//   ||a_i - a_t||^2 = ||u_i||^2 + ||b_t||^2 - 2 u_i.b_t
//
// A sum of d products in float32, in whatever order, is off by at most (d + 4) 2^-24 ||u_i|| ||b_t||, the rounding of u_i
// and b_t included. Exemplars that this leaves in doubt, mostly one, are told apart in double.
#pragma once

#include <vector>

#include "fwsr/prep/points.hpp"

namespace fwsr {

class ScreenedNearest {
 public:
  /// `rows`: the exemplars as points have them, one after the other. @pre there is one, and `rows` outlive this
  ScreenedNearest(const std::vector<double>& rows, Index dim);

  /// For one thread and up to this many points at a time.
  struct Scratch {
    std::vector<float> points, products;
    std::vector<double> row;
  };
  /// The places of the nearest of points first .. last: of those that rounding in double cannot tell apart the first.
  void of(const Points& points, Index first, Index last, Scratch& scratch, Index* places) const;

 private:
  Index among(const double* row, const float* half, float enough) const;

  const std::vector<double>& rows_;
  Index dim_, count_;
  std::vector<double> shift_;          // m, padded
  std::vector<float> small_;           // b_t
  std::vector<double> plain_squares_;  // ||a_t||^2
  std::vector<float> halves_;          // ||b_t||^2 / 2
  double longest_ = 0;                 // max_t ||b_t||
};

}  // namespace fwsr
