#include "fwsr/report/triangle.hpp"

#include <cmath>

#include "fwsr/base/at.hpp"

namespace fwsr::report {

std::vector<double> inverse_triangle(const std::vector<double>& matrix, Index m) {
  constexpr double within = 1e-12;  // of its own square: the rest is rounding
  std::vector<double> inverse(at(m * m)), lower(at(m * m));
  for (Index t = 0; t < m; ++t) {
    double rest = matrix[at(t * m + t)];
    double* const own = lower.data() + t * m;
    for (Index j = 0; j < t; ++j) {
      // Row t of L: L^-1 times column t of the matrix.
      double sum = 0;
      for (Index l = 0; l <= j; ++l) sum += inverse[at(j * m + l)] * matrix[at(l * m + t)];
      own[j] = sum;
      rest -= sum * sum;
    }
    if (!(rest > within * matrix[at(t * m + t)])) continue;
    const double length = std::sqrt(rest);
    double* const out = inverse.data() + t * m;
    for (Index j = 0; j < t; ++j)
      for (Index l = 0; l <= j; ++l) out[l] -= own[j] * inverse[at(j * m + l)] / length;
    out[t] = 1 / length;
  }
  return inverse;
}

}  // namespace fwsr::report
