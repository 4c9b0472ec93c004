#include <algorithm>
#include <cmath>

#include "oracle/oracle.hpp"

namespace oracle {
namespace {

Real square(Real v) {
  return v * v;
}

/// Mean of `count` numbers; exactly the number itself when all are equal.
template <class At>
Real mean_of(Index count, At&& at) {
  Real sum = 0, low = at(0), high = at(0);
  for (Index i = 0; i < count; ++i) {
    sum += at(i);
    low = std::min(low, Real(at(i)));
    high = std::max(high, Real(at(i)));
  }
  return low == high ? low : sum / static_cast<Real>(count);
}

Real norm_of_row(const Matrix<Real>& a, Index i) {
  Real sum = 0;
  for (Index j = 0; j < a.cols; ++j) sum += square(a(i, j));
  return std::sqrt(sum);
}

void divide_rows_by_norms(Matrix<Real>& a) {
  for (Index i = 0; i < a.rows; ++i) {
    const Real norm = norm_of_row(a, i);
    if (norm == 0) continue;
    for (Index j = 0; j < a.cols; ++j) a(i, j) /= norm;
  }
}

void divide_features_by_deviations(Matrix<Real>& a) {
  for (Index j = 0; j < a.cols; ++j) {
    const auto feature = [&](Index i) { return a(i, j); };
    const Real mean = mean_of(a.rows, feature);
    Real variance = 0;
    for (Index i = 0; i < a.rows; ++i) variance += square(a(i, j) - mean);
    variance /= static_cast<Real>(a.rows);
    if (variance == 0) continue;
    for (Index i = 0; i < a.rows; ++i) a(i, j) /= std::sqrt(variance);
  }
}

}  // namespace

Matrix<Real> preprocess(Matrix<Real> a, const Preprocessing& how) {
  if (how.scale == Scale::unit) divide_rows_by_norms(a);
  if (how.scale == Scale::standard) divide_features_by_deviations(a);
  if (how.center == Center::point) {
    for (Index i = 0; i < a.rows; ++i) {
      const Real mean = mean_of(a.cols, [&](Index j) { return a(i, j); });
      for (Index j = 0; j < a.cols; ++j) a(i, j) -= mean;
    }
  }
  if (how.center == Center::feature) {
    for (Index j = 0; j < a.cols; ++j) {
      const Real mean = mean_of(a.rows, [&](Index i) { return a(i, j); });
      for (Index i = 0; i < a.rows; ++i) a(i, j) -= mean;
    }
  }
  if (how.normalize) divide_rows_by_norms(a);
  return a;
}

Real root_mean_square(const Matrix<Real>& a) {
  Real sum = 0;
  for (const Real v : a.values) sum += square(v);
  return std::sqrt(sum / static_cast<Real>(a.rows));
}

Matrix<Real> kernel_matrix(const Matrix<Real>& a, const Kernel& kernel) {
  Matrix<Real> k(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Index l = 0; l < a.rows; ++l) {
      Real product = 0, squared = 0, absolute = 0;
      for (Index j = 0; j < a.cols; ++j) {
        product += a(i, j) * a(l, j);
        squared += square(a(i, j) - a(l, j));
        absolute += std::abs(a(i, j) - a(l, j));
      }
      switch (kernel.type) {
        case KernelType::linear:
          k(i, l) = product;
          break;
        case KernelType::rbf:
          k(i, l) = std::exp(-kernel.gamma * squared);
          break;
        case KernelType::polynomial:
          k(i, l) = std::pow(kernel.gamma * product + kernel.coef0, kernel.degree);
          break;
        case KernelType::cosine: {
          const Real norms = norm_of_row(a, i) * norm_of_row(a, l);
          k(i, l) = norms == 0 ? 0 : product / norms;
          break;
        }
        case KernelType::laplacian:
          k(i, l) = std::exp(-kernel.gamma * absolute);
          break;
      }
    }
  }
  return k;
}

Matrix<double> rounded(const Matrix<Real>& m) {
  Matrix<double> out(m.rows, m.cols);
  for (std::size_t i = 0; i < m.values.size(); ++i)
    out.values[i] = static_cast<double>(m.values[i]);
  return out;
}

}  // namespace oracle
