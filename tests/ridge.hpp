// Regression with a ridge on some of the points, by its definition: dense matrices, inverted by elimination.
#pragma once

#include <cmath>
#include <vector>

#include "fwsr/base/index.hpp"
#include "oracle/oracle.hpp"

namespace ridge {

using fwsr::Index;
using oracle::Matrix;
using oracle::Real;

/// Of a positive definite matrix: no pivoting.
inline Matrix<Real> inverse(Matrix<Real> m) {
  const Index n = m.rows;
  Matrix<Real> out(n, n);
  for (Index i = 0; i < n; ++i) out(i, i) = 1;
  for (Index p = 0; p < n; ++p) {
    const Real pivot = m(p, p);
    for (Index c = 0; c < n; ++c) m(p, c) /= pivot, out(p, c) /= pivot;
    for (Index l = 0; l < n; ++l) {
      const Real factor = m(l, p);
      for (Index c = 0; c < n && l != p; ++c) {
        m(l, c) -= factor * m(p, c);
        out(l, c) -= factor * out(p, c);
      }
    }
  }
  return out;
}

inline Real trace(const Matrix<Real>& m) {
  Real sum = 0;
  for (Index i = 0; i < m.rows; ++i) sum += m(i, i);
  return sum;
}

/// A^T P A, n x n, for points that are the rows of `a`: P = (I + A_T A_T^T / mu)^-1 itself, d x d.
inline Matrix<Real> left_of_points(const Matrix<Real>& a, const std::vector<Index>& chosen,
                                   Real mu) {
  const Index n = a.rows, d = a.cols;
  Matrix<Real> m(d, d);
  for (Index l = 0; l < d; ++l) {
    m(l, l) = 1;
    for (Index c = 0; c < d; ++c)
      for (const Index t : chosen) m(l, c) += a(t, l) * a(t, c) / mu;
  }
  const Matrix<Real> p = inverse(m);
  Matrix<Real> pa(n, d), out(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l)
      for (Index c = 0; c < d; ++c) pa(i, l) += p(l, c) * a(i, c);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < d; ++l) out(i, j) += pa(i, l) * a(j, l);
  return out;
}

/// In a kernel's space A^T P A = K - K_T^T (K_TT + M)^-1 K_T = K - Y^T Y: Y = L^-1 K_T, exemplars x points, with the
/// Cholesky factor L of K_TT + M. M is diagonal: the ridge of every exemplar. One without a ridge that depends on those
/// before it adds nothing.
inline Matrix<Real> explained(const Matrix<Real>& k, const std::vector<Index>& chosen,
                              const std::vector<Real>& ridges) {
  const auto count = static_cast<Index>(chosen.size());
  const auto e = [&](Index p) { return chosen[static_cast<std::size_t>(p)]; };
  Matrix<Real> lower(count, count), y(count, k.rows);
  for (Index p = 0; p < count; ++p) {
    for (Index l = 0; l <= p; ++l) {
      Real rest = k(e(p), e(l)) + (p == l ? ridges[static_cast<std::size_t>(p)] : 0);
      for (Index c = 0; c < l; ++c) rest -= lower(p, c) * lower(l, c);
      const bool nothing = p == l && rest <= 1e-13L * k(e(p), e(p));
      lower(p, l) = nothing            ? 0
                    : p == l           ? std::sqrt(rest)
                    : lower(l, l) == 0 ? 0
                                       : rest / lower(l, l);
    }
    for (Index i = 0; i < k.rows && lower(p, p) > 0; ++i) {
      Real rest = k(e(p), i);
      for (Index c = 0; c < p; ++c) rest -= lower(p, c) * y(c, i);
      y(p, i) = rest / lower(p, p);
    }
  }
  return y;
}

inline Matrix<Real> explained(const Matrix<Real>& k, const std::vector<Index>& chosen, Real mu) {
  return explained(k, chosen, std::vector<Real>(chosen.size(), mu));
}

inline Matrix<Real> left_of_kernel(const Matrix<Real>& k, const std::vector<Index>& chosen,
                                   Real mu) {
  const Matrix<Real> y = explained(k, chosen, mu);
  Matrix<Real> out = k;
  for (Index i = 0; i < k.rows; ++i)
    for (Index j = 0; j < k.rows; ++j)
      for (Index p = 0; p < y.rows; ++p) out(i, j) -= y(p, i) * y(p, j);
  return out;
}

/// g(T) = min_X ||A - A_T X||^2 + mu ||X||^2 = tr(P C) = tr(A^T P A).
inline Real g_of_kernel(const Matrix<Real>& k, const std::vector<Index>& chosen, Real mu) {
  Real g = trace(k);
  for (const Real y : explained(k, chosen, mu).values) g -= y * y;
  return g;
}

/// The same beside exemplars B_0 that are free, of points that count by weights (none: 1 each):
/// min over X and Y of  sum_i s_i (||a_i - B_0 y_i - A_T x_i||^2 + mu ||x_i||^2).
inline Real g_beside(const Matrix<Real>& k, const std::vector<double>& weights,
                     const std::vector<Index>& free, const std::vector<Index>& chosen, Real mu) {
  std::vector<Index> all = free;
  all.insert(all.end(), chosen.begin(), chosen.end());
  std::vector<Real> ridges(free.size(), 0);
  ridges.resize(all.size(), mu);
  const Matrix<Real> y = explained(k, all, ridges);
  Real g = 0;
  for (Index i = 0; i < k.rows; ++i) {
    Real left = k(i, i);
    for (Index p = 0; p < y.rows; ++p) left -= y(p, i) * y(p, i);
    g += (weights.empty() ? 1 : weights[static_cast<std::size_t>(i)]) * left;
  }
  return g;
}

}  // namespace ridge
