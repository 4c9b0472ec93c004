// Cholesky's factor in the order given, and its inverse. Internal.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr::report {

/// L^-1, row by row, of matrix = L L^T (symmetric, positive semi-definite, m x m). Rows of vectors within the span of those
/// before them are 0: such a vector adds nothing.
std::vector<double> inverse_triangle(const std::vector<double>& matrix, Index m);

inline double square_of(double v) {
  return v * v;
}

}  // namespace fwsr::report
