// The three numbers per point that replace the n x n gradient (q = 2), and the search for the best.
//
//   r_i = ||k_i||^2   fixed      c_i = ||p_i||^2   the score squared      h_i = <p_i, k_i>
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

class Scores {
 public:
  explicit Scores(Index n) : r(size(n)), c(size(n)), h(size(n)) {}

  /// Point i after X <- (1 - gamma) X + length e_j v^T, with x = K_ij, y = (K v)_i, z = (P v)_i.
  void update(Index i, double gamma, double length, double x, double y, double z) {
    double& ci = c[size(i)];
    double& hi = h[size(i)];
    const double ri = r[size(i)];
    const double keep = 1 - gamma;
    const double bx = length * x;
    ci = keep * keep * ci + gamma * gamma * ri - 2 * gamma * bx * y + bx * bx +
         2 * keep * (gamma * hi - bx * z);
    hi = keep * hi + gamma * ri - bx * y;
  }

  /// The smallest index among the points whose score is within a relative `tie` of the largest.
  Index best(double tie, int threads) const;

  std::vector<double> r, c, h;

 private:
  static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
};

/// Scores closer than this, relatively, are equal; the smaller index wins. Rounding then never
/// decides between points that are equally good, whatever the form.
inline constexpr double tie_double = 1e-10;
inline constexpr double tie_single = 1e-6;

}  // namespace fwsr
