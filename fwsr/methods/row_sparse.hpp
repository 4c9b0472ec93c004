// The row-sparse program of SMRS and its relatives, and an ADMM for it.
//
//   min_X  lambda sum_i ||x_i||_2 + 1/2 ||A - A X||_F^2      [1^T X = 1^T: affine]
//
// x_i is row i of X, A has one column per point. With K = A^T A = V diag(s) V^T, V n x r with
// orthonormal columns, the rows of an optimal X lie in the span of the columns of V (of V and 1, when
// affine): turning the rows changes no norm, and what is outside that span has nothing to fit and no
// constraint to meet. So X = Y V^T with Y n x r, and what is left is
//
//   min_Y  lambda sum_i ||y_i||_2 + 1/2 sum_l s_l ||e_l - v_l^T Y||^2,      e_l row l of the identity.
//
// Affine: the program does not change when all points are shifted, so they may be centred; then
// V^T 1 = 0, and the constraint is one more column 1 / sqrt(n) of V with s = infinity. In both cases
// nothing but V and s is left of the data: no n x n matrix for points of d < n features, and a
// step costs O(n r^2) in place of the O(n^2 d) of Pourkamali-Anaraki & Becker, "Efficient solvers for
// sparse subspace clustering" (2018), whose inversion lemma is here the diagonal G below.
//
// ADMM with X = Z, scaled dual U, penalty rho and over-relaxation omega, where T = Z - U:
//
//   W = G (I - V^T T),   G = diag(s_l / (s_l + rho)),  1 for the constraint: it is met exactly
//   X = T + V W
//   D = omega X + (1 - omega) Z + U = Z + (1 - omega) U + omega V W
//   z_i <- (1 - lambda / (rho ||d_i||))_+ d_i,   U <- D - Z
//
// Z and U are both multiples of D, row by row: D and one number per row are all that is kept. V^T U
// follows from V^T D = V^T Z + (1 - omega) V^T U + omega W, so a step is one product V W with all rows
// and one V^T Z with the non-zero ones.
//
// Certificate. The dual is  max_L  sum_l (L_ll - ||L_l||^2 / (2 s_l))  over r x r matrices L with
// ||v_i^T L||_2 <= lambda for every row v_i of V. rho W is the gradient of the smooth part at X in
// this frame; scaled until it is feasible it gives a lower bound in every step. The upper bound is the
// objective at Z, its rows moved in proportion to their norms so that the constraint is met exactly.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/methods/row_frame.hpp"

namespace fwsr {

struct RowSparseOptions {
  double lambda = 0;
  double tolerance = 1e-4;  // stop when gap <= tolerance x objective
  Index max_iterations = 0;
  int threads = 1;
  KeepGoing keep_going = {};
};

struct RowSparseSolution {
  LargeArray<double> rows;    // Y: points x columns
  std::vector<double> norms;  // ||x_i||_2
  double objective = 0, gap = 0;
  double primal_residual = 0, dual_residual = 0;  // of the last step, relative
  Index iterations = 0;
  bool converged = false;
};
/// @pre lambda > 0, or there is nothing but the constraint in the frame
RowSparseSolution solve_row_sparse(const RowFrame& frame, const RowSparseOptions& options);

/// Rows `chosen` of X = Y V^T, chosen x points.
std::vector<double> codes_of(const RowFrame& frame, const RowSparseSolution& solution,
                             std::span<const Index> chosen, int threads);

}  // namespace fwsr
