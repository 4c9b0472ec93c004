// What every point is multiplied with in the sweep over all points that makes the sums of the certificate
// (linear_sweep.hpp), in the order that takes least.
//
// With T the exemplars, B the basis, u_t = A_B Theta_t^T and h_b = A_T Theta G_b - 2 C a_b, a point a has
//
//   s_t = a_t.a     x_t = u_t.a = sum_b Theta_tb a_b.a     p_t = s_t - sum_e K_te x_e = (a_t - sum_e K_te u_e).a
//   ||p||^2 = r + sum_b (h_b.a) (sum_t Theta_tb s_t) = r + a^T M a
//
// Each can be had from the features or from the numbers before it: a vector takes d or m products. The part of a in the
// span of T has squared length s^T (A_T^T A_T)^-1 s, or ||Q a||^2 with orthonormal rows Q where that loses digits.
#pragma once

#include "fwsr/solver/linear_sweep.hpp"

namespace fwsr {

class SweepDirections {
 public:
  /// @pre z.full. `eta`: the last entry of every row; 0: there is none.
  SweepDirections(const SweepTables& z, Index dim, double eta);

  /// Room for one block of up to `rows` points.
  struct Scratch {
    Scratch(const SweepDirections& with, Index rows);
    SmallMatrix a;              // the points, row by row: to be filled in
    SmallMatrix v, s, x, t, p;  // products; s, x and p have k columns
    SmallMatrix along, plain;   // (A_T^T A_T)^-1 s, of s without eta
    std::vector<double> sizes;  // |x_t|
  };
  /// s, x and p of the first `rows` points of `block.a`.
  void multiply(Index rows, Scratch& block) const;
  /// ||p||^2 - r of a point of the block, and the squared length of its part in the span of T without eta.
  double score_less_r(const Scratch& block, Index row) const;
  double squared_along(const Scratch& block, Index row) const;

 private:
  friend struct Scratch;

  bool codes_from_features_, misfit_from_features_, by_square_, from_products_;
  Index k_, m_, rank_ = 0, dim_;
  double eta_squared_;
  SmallMatrix with_;  // a_t, or all of the basis; u_t; a_t - sum K u; h; Q: those that are wanted
  Index codes_at_ = 0, misfit_at_ = 0, h_at_ = 0, along_at_ = 0;
  std::vector<Index> places_;
  SmallMatrix theta_, among_, square_, inverse_;  // square: M
};

}  // namespace fwsr
