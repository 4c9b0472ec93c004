// The inner loops over one point: load it, and take dot products. Compiled for several instruction
// sets and chosen at run time; every choice adds in the same order (eight partial sums, no fused
// multiply-add), so the bits are the same on all of them.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// out[l] = ((x[l] * inner) * weights[l] - means[l] - mean) * outer, l < d. `weights` and `means`
/// may be null (1 and 0).
struct RowTransform {
  const double* weights = nullptr;
  const double* means = nullptr;
  double inner = 1;
  double mean = 0;
  double outer = 1;
};
void load_row(const float* x, Index d, const RowTransform& t, double* out);
void load_row(const double* x, Index d, const RowTransform& t, double* out);

double dot(const double* a, const double* b, Index d);

/// a.u, a.v and a.w in one sweep.
struct Dots3 {
  double u = 0, v = 0, w = 0;
};
Dots3 dot3(const double* a, const double* u, const double* v, const double* w, Index d);

/// ||a - b||^2 and ||a - b||_1.
double squared_distance(const double* a, const double* b, Index d);
double absolute_distance(const double* a, const double* b, Index d);

/// Largest |x[l]|; infinite or NaN when any entry is.
double max_abs(const float* x, Index d);
double max_abs(const double* x, Index d);

}  // namespace fwsr
