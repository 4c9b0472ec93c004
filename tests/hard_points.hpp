// Points that are hard on floating-point numbers, and certificates of choices from them, computed once more in extended
// precision from the raw numbers and the codes alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/solver/select.hpp"
#include "oracle/oracle.hpp"

namespace hard {

using fwsr::Center;
using fwsr::Index;
using fwsr::KernelType;
using oracle::Real;

inline std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Set {
  std::string name;
  Index n = 0, d = 0;
  std::vector<double> values;
};

inline Set normal_points(Index n, Index d, double offset = 0) {
  fwsr::Rng rng(static_cast<std::uint64_t>(n * 1000 + d));
  Set set{.name = "normal", .n = n, .d = d, .values = {}};
  for (Index i = 0; i < n * d; ++i) set.values.push_back(rng.normal() + offset);
  return set;
}

/// Whole rows, or single numbers, that stand for missing values.
inline Set with_marks(Set set, double mark, bool whole_rows) {
  set.name = (whole_rows ? "rows of " : "numbers of ") + std::to_string(mark);
  for (const Index i : {Index{7}, set.n / 2})
    for (Index l = 0; l < set.d; ++l)
      if (whole_rows || l == 3) set.values[at(i * set.d + l)] = mark;
  return set;
}

inline std::vector<Set> hard_sets(bool single, Index n = 60) {
  std::vector<Set> all = {normal_points(n, 8)};
  for (const double mark : {-999.0, 1e10, 1e20, 9.97e36})
    for (const bool rows : {true, false})
      all.push_back(with_marks(normal_points(n, 8), mark, rows));
  for (const double offset : {1e6, 1e9, 1e12, 1e15}) {
    if (single && offset > 1e6) break;
    all.push_back(normal_points(60, 8, offset));
    all.back().name = "offset " + std::to_string(offset);
  }
  all.push_back(normal_points(20, 40));
  return all;
}

inline oracle::Center center_of(Center c) {
  return c == Center::point     ? oracle::Center::point
         : c == Center::feature ? oracle::Center::feature
                                : oracle::Center::none;
}

/// f, gap and radius from P = K - K X, where K = A A^T from residuals: R = A - A X and P = A R^T lose
/// nothing to subtraction that was there before.
struct Truth {
  Real f = 0, gap = 0, radius = 0;
};

inline Real dual(const std::vector<Real>& p, fwsr::Norm q, bool nonneg) {
  Real sum = 0, most = 0, squares = 0;
  for (const Real v : p) {
    const Real part = nonneg ? std::max(Real(0), v) : std::abs(v);
    sum += part, most = std::max(most, part), squares += part * part;
  }
  return q == fwsr::Norm::one ? most : q == fwsr::Norm::two ? std::sqrt(squares) : sum;
}

inline Truth truth_of(const Set& set, const fwsr::SelectOptions& o, const fwsr::Selection& s) {
  oracle::Matrix<Real> points(set.n, set.d);
  std::copy(set.values.begin(), set.values.end(), points.values.begin());
  const bool cosine = o.kernel.type == KernelType::cosine;
  const Center center = o.center.value_or(Center::point);
  const auto a = oracle::preprocess(points, {.center = center_of(center), .normalize = cosine});
  const Index n = set.n, d = set.d, k = static_cast<Index>(s.exemplars.size());
  const auto code = [&](Index t, Index i) { return Real(s.codes[at(i * k + t)]); };
  const bool linear = cosine || o.kernel.type == KernelType::linear;
  oracle::Matrix<Real> p(n, n);
  Truth truth;
  if (linear) {
    oracle::Matrix<Real> r = a;
    for (Index i = 0; i < n; ++i)
      for (Index t = 0; t < k; ++t)
        for (Index l = 0; l < d; ++l) r(i, l) -= code(t, i) * a(s.exemplars[at(t)], l);
    for (const Real v : r.values) truth.f += v * v;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index l = 0; l < d; ++l) p(i, j) += a(i, l) * r(j, l);
  } else {
    const auto type = o.kernel.type == KernelType::rbf          ? oracle::KernelType::rbf
                      : o.kernel.type == KernelType::polynomial ? oracle::KernelType::polynomial
                                                                : oracle::KernelType::laplacian;
    const auto kernel = oracle::kernel_matrix(
        a, {.type = type, .gamma = s.gamma, .degree = o.kernel.degree, .coef0 = o.kernel.coef0});
    p = kernel;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index t = 0; t < k; ++t) p(i, j) -= kernel(i, s.exemplars[at(t)]) * code(t, j);
    for (Index i = 0; i < n; ++i) {
      truth.f += p(i, i);
      for (Index t = 0; t < k; ++t) truth.f -= code(t, i) * p(s.exemplars[at(t)], i);
    }
  }
  Real largest = 0, xp = 0;
  const auto cost = [&](Index i) {
    return o.conditions.costs.empty() ? Real(1) : Real(o.conditions.costs[at(i)]);
  };
  for (Index i = 0; i < n; ++i) {
    const std::vector<Real> row(p.values.begin() + i * n, p.values.begin() + (i + 1) * n);
    largest = std::max(largest, dual(row, o.q, o.nonneg) / cost(i));
  }
  for (Index t = 0; t < k; ++t) {
    std::vector<Real> row;
    for (Index i = 0; i < n; ++i) {
      row.push_back(code(t, i));
      xp += row.back() * p(s.exemplars[at(t)], i);
    }
    Real sum = 0, most = 0, squares = 0;
    for (const Real v : row)
      sum += std::abs(v), most = std::max(most, std::abs(v)), squares += v * v;
    const Real norm = o.q == fwsr::Norm::one   ? sum
                      : o.q == fwsr::Norm::two ? std::sqrt(squares)
                                               : most;
    truth.radius += cost(s.exemplars[at(t)]) * norm;
  }
  truth.gap = 2 * (s.beta * largest - xp);
  return truth;
}

/// Who chooses: `choose` where it is given, else one process that has all points.
using Choose = std::function<fwsr::Selection(const fwsr::PointsView&, const fwsr::SelectOptions&)>;

/// The certificate is within the errors that it states.
inline void expect_true_certificate(const Set& set, bool single, const fwsr::SelectOptions& o,
                                    const Choose& choose = {}) {
  Set seen = set;
  std::vector<float> floats(seen.values.begin(), seen.values.end());
  if (single) std::copy(floats.begin(), floats.end(), seen.values.begin());
  const fwsr::MatrixView<const float> of_floats{floats.data(), set.n, set.d};
  const fwsr::MatrixView<const double> of_doubles{seen.values.data(), set.n, set.d};
  const fwsr::PointsView view = single ? fwsr::PointsView(of_floats) : fwsr::PointsView(of_doubles);
  const fwsr::Selection s = choose ? choose(view, o) : fwsr::select(view, o);
  ASSERT_TRUE(s.certificate);
  const fwsr::Certificate& c = *s.certificate;
  ASSERT_TRUE(std::isfinite(c.f) && std::isfinite(c.gap) && std::isfinite(c.radius_used));
  EXPECT_GE(c.f, 0);
  EXPECT_GE(c.gap, 0);
  if (c.trusted) {
    EXPECT_TRUE(c.feasible) << c.radius_used << " of " << c.beta;
  }
  if (o.rank > 0) return;  // f and gap are those of the problem with the factor
  const Truth truth = truth_of(seen, o, s);
  // Extended precision ends somewhere, too.
  const Real slack = 1e-15L * (Real(c.f_at_zero) * 1e-2L + truth.f);
  EXPECT_NEAR(c.f, static_cast<double>(truth.f), static_cast<double>(c.f_error + slack));
  EXPECT_NEAR(c.gap, static_cast<double>(truth.gap),
              static_cast<double>(c.gap_error + slack * (1 + s.beta)));
  EXPECT_LE(truth.radius, c.radius_used * (1 + 1e-9L));
}

/// The terms of their codes are much larger than the sums of these.
inline Set points_near_a_line(Index n, std::uint64_t seed) {
  fwsr::Rng rng(seed);
  Set set{.name = "line", .n = n, .d = 6 + static_cast<Index>(seed % 3) * 10, .values = {}};
  std::vector<double> direction(at(set.d));
  for (double& v : direction) v = rng.normal();
  const double spread = std::pow(10.0, -1.0 - static_cast<double>(seed % 4));
  for (Index i = 0; i < set.n; ++i) {
    const double along = 1 + 2 * rng.uniform();
    for (const double v : direction) set.values.push_back(along * v + spread * rng.normal());
  }
  return set;
}

/// Points that leave few digits: near a line, a plane or a point, features of very different sizes, near copies, one of
/// them far away, all of them far from the origin.
inline Set hard_points(fwsr::Rng& rng, Index more = 0) {
  enum { any, line, plane, sizes, copies, outlier, point, kinds };
  const Index n = more + 4 + static_cast<Index>(rng.below(80)),
              d = 1 + static_cast<Index>(rng.below(30));
  Set set{.name = "hard", .n = n, .d = d, .values = {}};
  const auto kind = rng.below(kinds);
  const double spread = std::pow(10.0, -6 * rng.uniform());
  const double offset = rng.below(3) == 0 ? std::pow(10.0, 5 * rng.uniform()) : 0;
  std::vector<double> first(at(d)), second(at(d)), size(at(d), 1.0);
  for (double& v : first) v = rng.normal();
  for (double& v : second) v = rng.normal();
  if (kind == sizes)
    for (double& v : size) v = std::pow(10.0, 6 * rng.uniform() - 3);
  for (Index i = 0; i < n; ++i) {
    const double along = rng.normal(), also = rng.normal();
    const double far = kind == outlier && i == 3 ? 1e6 * rng.uniform() : 1;
    for (Index l = 0; l < d; ++l) {
      double v = rng.normal();
      if (kind == line) v = along * first[at(l)] + spread * v;
      if (kind == plane) v = along * first[at(l)] + also * second[at(l)] + spread * v;
      if (kind == copies && i > 0)
        v = set.values[at(i / 2 * d + l)] + (rng.below(2) == 0 ? 0 : spread * v);
      if (kind == point) v = first[at(l)] + spread * v;
      set.values.push_back(far * size[at(l)] * v + offset);
    }
  }
  return set;
}

}  // namespace hard
