// One pass over the points of the covariance form that says everything about the codes X: who
// represents whom, and the sums of the certificate.
//
// With B the basis, T the exemplars and X = Theta A_B^T A, the residual is R = E A,
// E = I - A_T Theta A_B^T, and the score of point i follows from C = A A^T and r_i = a_i^T C a_i, which
// come from the raw data alone:
//
//   ||p_i||^2 = ||C^(1/2) E^T a_i||^2 = r_i - 2 q_i.t_i + t_i^T G t_i
//   t_i = Theta^T A_T^T a_i     q_i = A_B^T C a_i     G = A_B^T C A_B
//
// so that the largest of them, and with it the gap, costs products with few vectors instead of
// another n d^2.
#pragma once

#include <optional>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

struct LinearProblem {
  const Points& points;
  const std::vector<double>& covariance;  // C
  const std::vector<double>& r;
  double r_error = 0;  // what rounding may have done to r
  int threads = 1;
  Alive alive;
};

/// Sums over all points, in the points' units.
struct LinearSums {
  double xk = 0, xkx = 0, trace = 0;  // <X, K>, <X, K X>, tr K
  double largest_score = 0;           // max_i ||p_i||
  double score_error = 0;             // by which rounding may have changed it
  std::vector<Index> leaders;         // who may have it, whatever rounding has done; none: too many
  double projection = 0;              // ||A - P_T A||^2 without the eta row
  double plain_trace = 0;             // ||A||^2 without the eta row
};

/// ||p_i|| from the points themselves: one more pass over them.
double score_of(const Points& points, Index i, const std::vector<Index>& exemplars,
                const Coefficients& theta, int threads);

/// Fills weights and strength, and assignment and codes when asked for; `full`: the sums too.
LinearSums sweep_linear(const LinearProblem& problem, const std::vector<Index>& exemplars,
                        const Coefficients& theta, bool assignment, bool keep_codes, bool full,
                        Selection& selection);

}  // namespace fwsr
