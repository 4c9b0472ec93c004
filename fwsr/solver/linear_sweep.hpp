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

/// The codes of a run that has ended: X = Theta A_B^T A on the exemplars.
struct CodesOf {
  const std::vector<Index>& exemplars;
  const Coefficients& theta;
};

/// What is to be told about the codes beside weights and strength.
struct Wanted {
  bool assignment = false, codes = false;
  bool sums = false;  // those of the certificate
};

struct LinearProblem {
  const Points& points;
  const std::vector<double>& covariance;  // C
  const std::vector<double>& r;
  double r_error = 0;  // what rounding may have done to r
  int threads = 1;
  Alive alive;
};

/// Sizes of what is added and subtracted, in the points' units. With w_i what rounding may have done to
/// point i and X the codes, the residual of point i is known to w_i + sum_t |X_ti| w_t.
struct Magnitudes {
  double absolute = 0;         // sum_i (||a_i|| + sum_t |X_ti| ||a_t||)^2
  double residual_errors = 0;  // sum_i (w_i + sum_t |X_ti| w_t)^2
  double longest = 0;          // max_i ||a_i||
  double roughest = 0;         // max_i w_i

  void add(const Magnitudes& other);
};

/// Sums over all points, in the points' units.
struct LinearSums {
  double xk = 0, xkx = 0, trace = 0;  // <X, K>, <X, K X>, tr K
  double largest_score = 0;           // max_i ||p_i||
  double score_error = 0;             // by which rounding may have changed it
  std::vector<Index> leaders;         // who may have it, whatever rounding has done; none: too many
  double projection = 0;              // ||A - P_T A||^2 without the eta row
  double plain_trace = 0;             // ||A||^2 without the eta row
  Magnitudes sizes;                   // what rounding is measured by
  std::vector<double> xp;             // per exemplar t: <X_t, p_t> ...
  std::vector<double> squared_score;  // ... and ||p_t||^2, from the codes themselves
};

/// Codes are sums over the basis, and right to within rounding of their terms: this times ||a_i|| is what
/// that may do to row i of A X, some units in the last place of sum_tb ||a_t|| |Theta_tb| ||a_b||.
double code_roughness(const Coefficients& theta, const std::vector<double>& basis_norms,
                      const std::vector<double>& exemplar_norms);

/// Fills weights and strength, and assignment, codes and sums when asked for.
LinearSums sweep_linear(const LinearProblem& problem, const CodesOf& codes, const Wanted& wanted,
                        Selection& selection);

}  // namespace fwsr
