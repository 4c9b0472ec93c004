// A small lasso, one column of sparse subspace clustering on the few points that may have a code:
//
//   minimise  ||c||_1 + lambda/2 ||a - A_S c||^2      and where `affine`   1^T c = 1
//
// from the products G = A_S^T A_S, b = A_S^T a and ||a||^2. Coordinate descent, with the constraint on pairs of
// coordinates, takes turns with steps to the solution for the signs as they are, as far as none of them changes (Lee,
// Battle, Raina and Ng 2007), which end in finitely many steps.
//
// Dual: with r = a - A c, rho_j = lambda <a_j, r> over all j in question and theta = t lambda r,
//
//   theta^T a - ||theta||^2 / (2 lambda) + (1 - t max_j rho_j where affine)
//
// is a lower bound for every t >= 0 with t |rho_j| <= 1, or, affine, t (max rho - min rho) <= 2.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// What the bound needs of a residual.
struct Residual {
  double with_point = 0;       // <r, a>
  double square = 0;           // ||r||^2
  double most = 0, least = 0;  // rho
};
/// How far ||c||_1 + lambda/2 ||r||^2 is above the least at most.
double lasso_gap(double norm, const Residual& r, double lambda, bool affine);

struct SmallLasso {
  std::vector<double> gram;      // m x m
  std::vector<double> products;  // b
  double square = 0;             // ||a||^2
  double lambda = 1;
  bool affine = false;

  Index size() const { return static_cast<Index>(products.size()); }
  double objective(const std::vector<double>& c) const;
  /// From c on, until the gap is at most `enough` times the objective. With the constraint c has to obey it.
  void solve(std::vector<double>& c, double enough) const;
};

}  // namespace fwsr
