// E, the d x d matrix with R = A - A X = E A. It starts as I, and every step of the algorithm is
//
//   E <- (1 - gamma) E + gamma I - factor a w^T
//
// so that E = I - sum_t a_t g_t^T over the points a_t picked so far. While these are few, E is held
// as their pairs (a_t, g_t), and products with it cost O(m d); when they are many, as d x d numbers.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

class Residual {
 public:
  explicit Residual(Index d) : d_(d) {}

  /// out = E x and out = E^T x.
  void apply(const double* x, double* out) const;
  void apply_transposed(const double* x, double* out) const;
  /// One step of the algorithm with point j, which is a.
  void step(Index j, const double* a, const double* w, double gamma, double factor);
  /// E itself, d x d.
  std::vector<double> dense() const;

 private:
  void spread();

  Index d_;
  std::vector<Index> points_;          // the j of every pair
  std::vector<double> a_, g_;          // pairs x d, row by row
  std::vector<double> e_;              // d x d once there are too many pairs, else empty
  mutable std::vector<double> inner_;  // pairs: products on the way
};

}  // namespace fwsr
