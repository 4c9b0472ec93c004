// A small program over the simplex, by Frank-Wolfe:
//
//   minimise  f(x) = <h, x> - 1/2 x^T D x   over x >= 0 with sum 1,   D_st = ||a_s - a_t||^2 of m points,
//
// convex. With h the squared distances of a point a from these, f is ||a - sum_t x_t a_t||^2; with h = 0 the dual of the
// smallest ball that holds them, of squared radius max -f.
//
// Pairwise steps (Lacoste-Julien and Jaggi 2015): weight moves from the worst of the points in use to the best of all.
// Every few of them x becomes the best over those in use (Wolfe 1976), so that they end. The gap max_y <g, x - y> over the
// simplex, g = h - D x, bounds what f is above its least.
#pragma once

#include <limits>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// D, row by row.
struct SquareDistances {
  const double* data = nullptr;
  Index stride = 0;

  const double* row(Index t) const { return data + t * stride; }
};

struct Combination {
  std::vector<double> x;
  double value = 0;  // of f
  double gap = 0;    // and how far the least can be below it at most
};

inline constexpr int most_simplex_steps = 20000;

/// Ends when the gap is at most `enough` of |f| or `least`, when f is below `futile`, or after so many steps.
struct SimplexEnd {
  double enough = 0, least = 0, futile = -std::numeric_limits<double>::infinity();
};

/// From x on, which is in the simplex.
Combination minimise_on_simplex(const SquareDistances& squares, const std::vector<double>& h,
                                std::vector<double> x, const SimplexEnd& end);

}  // namespace fwsr
