// What is known of a squared distance (distances.hpp): the same rule on processors and cards.
#pragma once

#include <cmath>

#include "fwsr/base/anywhere.hpp"

namespace fwsr {

/// Below this part of the squared norms a squared distance is computed from differences.
inline constexpr double doubtful_distance = 1e-7;
/// To this part of the norms differences are right; a distance below that is 0.
inline constexpr double of_differences = 0x1p-48;

/// By how much a squared distance may be too small, of a point of this squared norm, without eta and with it: what is closer
/// to another is a tie.
FWSR_ANYWHERE inline double distance_width(double distance, double square, double with_eta) {
  if (!(distance < doubtful_distance * with_eta)) return 1e-12 * (with_eta + distance);
  if (!(distance > 0)) return 0;
  const double equal = 1e-8 * distance,
               rounding = 4 * of_differences * std::sqrt(distance * square);
  return equal > rounding ? equal : rounding;
}

}  // namespace fwsr
