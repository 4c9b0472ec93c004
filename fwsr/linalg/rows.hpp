// The inner loops over one point in double precision: dot products and distances. Compiled for several instruction
// sets and chosen at run time; every choice adds in the same order (eight partial sums, no fused
// multiply-add), so the bits are the same on all of them.
#pragma once

#include <span>

#include "fwsr/base/index.hpp"

namespace fwsr {

double dot(const double* a, const double* b, Index d);

/// sum_l weights_(begin + l) a_l b_l; no weights: a.b.
double weighted_dot(std::span<const double> weights, Index begin, const double* a, const double* b,
                    Index d);

/// a.u, a.v and a.w in one sweep.
struct Dots3 {
  double u = 0, v = 0, w = 0;
};
Dots3 dot3(const double* a, const double* u, const double* v, const double* w, Index d);

/// ||a - b||^2 and ||a - b||_1.
double squared_distance(const double* a, const double* b, Index d);
double absolute_distance(const double* a, const double* b, Index d);

}  // namespace fwsr
