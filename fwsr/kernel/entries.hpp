// Kernel values from inner products or distances, a row at a time; compiled for several instruction
// sets (linalg/widest.hpp). All are scaled: K = factor k + extra.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

struct Affine {
  double factor = 1, extra = 0;
};

/// exp(-gamma ||a - b_j||^2) from <a, b_j>: ||a||^2 + ||b_j||^2 - 2 <a, b_j>.
///
/// The difference carries the rounding of its terms, some units of T's last place of
/// t = gamma (||a||^2 + ||b_j||^2), and the kernel t K units. Where that is too much for float, or
/// where rounding could have made the whole distance and it matters, the entry is `unsure`.
template <class T>
struct GaussianRow {
  double norm = 0;           // ||a||^2
  const T* norms = nullptr;  // ||b_j||^2
  double gamma = 0;
  Affine scale;
};
inline constexpr float unsure = -1;

/// values: inner products on entry, kernel values on return. Answers how many are unsure.
Index gaussian_row(const GaussianRow<float>& row, Index n, float* values);
Index gaussian_row(const GaussianRow<double>& row, Index n, double* values);

/// exp(-gamma x) of distances x: the Laplacian kernel, or the Gaussian one of squared distances.
void decay_row(double gamma, const Affine& scale, Index n, float* values);
void decay_row(double gamma, const Affine& scale, Index n, double* values);

/// (gamma x + coef0)^degree of inner products x.
struct PolynomialRow {
  double gamma = 1, coef0 = 0;
  int degree = 1;
  Affine scale;
};
void polynomial_row(const PolynomialRow& row, Index n, float* values);
void polynomial_row(const PolynomialRow& row, Index n, double* values);

/// ||a_i - b_j||_1 for all rows of two blocks (d numbers each), to out[i * stride + j].
template <class T>
struct DistanceBlock {
  const T* left = nullptr;
  Index rows = 0;
  const T* right = nullptr;
  Index columns = 0;
  Index d = 0;
  T* out = nullptr;
  Index stride = 0;
};
void absolute_distances(const DistanceBlock<float>& block);
void absolute_distances(const DistanceBlock<double>& block);

/// e^x of every value.
void exp_row(Index n, float* values);
void exp_row(Index n, double* values);

}  // namespace fwsr
