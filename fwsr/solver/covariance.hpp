// What the points alone say, whatever the radius: C = sum_i a_i a_i^T and r_i = a_i^T C a_i. Every run on them can
// share it.
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

struct Covariance {
  std::vector<double> c;  // C, dim x dim
  std::vector<double> r;  // r_i = a_i^T C a_i
  double r_error = 0;     // what rounding may have done to r
  bool single = false;    // from float32 products
};
/// `alive` is asked now and then, and Interrupted is thrown when it says no.
Covariance covariance_of(const Points& points, bool single, int threads, const Alive& alive = {});

/// Covariance of `points` from that of `plain`, which are the same without eta: eta borders C by one
/// row and column, and with s = sum_i a_i
///   r_i <- r_i + 2 eta^2 a_i.s + n eta^4.
Covariance border(const Covariance& without, const Points& plain, const Points& points,
                  int threads);

}  // namespace fwsr
