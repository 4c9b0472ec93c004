// Certificates of points that are hard on floating-point numbers: marks for missing values among them, or
// far from the origin. Objective, gap and radius are computed once more in extended precision, from the raw
// numbers and the codes alone, and must be within the errors that the certificate itself states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/solver/select.hpp"
#include "oracle/oracle.hpp"

namespace {

using fwsr::Center;
using fwsr::Index;
using fwsr::KernelType;
using oracle::Real;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Set {
  std::string name;
  Index n = 0, d = 0;
  std::vector<double> values;
};

Set normal_points(Index n, Index d, double offset = 0) {
  fwsr::Rng rng(static_cast<std::uint64_t>(n * 1000 + d));
  Set set{.name = "normal", .n = n, .d = d, .values = {}};
  for (Index i = 0; i < n * d; ++i) set.values.push_back(rng.normal() + offset);
  return set;
}

/// Whole rows, or single numbers, that stand for missing values.
Set with_marks(Set set, double mark, bool whole_rows) {
  set.name = (whole_rows ? "rows of " : "numbers of ") + std::to_string(mark);
  for (const Index i : {Index{7}, set.n / 2})
    for (Index l = 0; l < set.d; ++l)
      if (whole_rows || l == 3) set.values[at(i * set.d + l)] = mark;
  return set;
}

std::vector<Set> hard_sets(bool single) {
  std::vector<Set> all = {normal_points(60, 8)};
  for (const double mark : {-999.0, 1e10, 1e20, 9.97e36})
    for (const bool rows : {true, false})
      all.push_back(with_marks(normal_points(60, 8), mark, rows));
  for (const double offset : {1e6, 1e9, 1e12, 1e15}) {
    if (single && offset > 1e6) break;
    all.push_back(normal_points(60, 8, offset));
    all.back().name = "offset " + std::to_string(offset);
  }
  all.push_back(normal_points(20, 40));
  return all;
}

oracle::Center center_of(Center c) {
  return c == Center::point     ? oracle::Center::point
         : c == Center::feature ? oracle::Center::feature
                                : oracle::Center::none;
}

/// f, gap and radius from P = K - K X, where K = A A^T from residuals: R = A - A X and P = A R^T lose
/// nothing to subtraction that was there before.
struct Truth {
  Real f = 0, gap = 0, radius = 0;
};

Real dual(const std::vector<Real>& p, fwsr::Norm q, bool nonneg) {
  Real sum = 0, most = 0, squares = 0;
  for (const Real v : p) {
    const Real part = nonneg ? std::max(Real(0), v) : std::abs(v);
    sum += part, most = std::max(most, part), squares += part * part;
  }
  return q == fwsr::Norm::one ? most : q == fwsr::Norm::two ? std::sqrt(squares) : sum;
}

Truth truth_of(const Set& set, const fwsr::SelectOptions& o, const fwsr::Selection& s) {
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

void expect_true_certificate(const Set& set, bool single, const fwsr::SelectOptions& o) {
  Set seen = set;
  std::vector<float> floats(seen.values.begin(), seen.values.end());
  if (single) std::copy(floats.begin(), floats.end(), seen.values.begin());
  const fwsr::Selection s =
      single ? fwsr::select(fwsr::MatrixView<const float>{floats.data(), set.n, set.d, set.d}, o)
             : fwsr::select(fwsr::MatrixView<const double>{seen.values.data(), set.n, set.d, set.d},
                            o);
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

void try_all(const fwsr::SelectOptions& base, const std::string& name) {
  for (const bool single : {false, true})
    for (const Set& set : hard_sets(single))
      for (const Center center : {Center::point, Center::none, Center::feature})
        for (const double alpha : {0.0, 2.0})
          for (const bool precise : {false, true}) {
            if (precise && !single) continue;
            SCOPED_TRACE(testing::Message()
                         << name << ", " << set.name << (single ? ", float32" : ", float64")
                         << (precise ? ", precise" : "") << ", centre " << static_cast<int>(center)
                         << ", alpha " << alpha);
            fwsr::SelectOptions o = base;
            o.exemplars = 5;
            o.codes = true;
            o.center = center;
            o.precise = precise;
            if (alpha > 0) o.alpha = alpha;
            expect_true_certificate(set, single, o);
          }
}

TEST(Certificate, is_right_beside_marks_and_far_away_linear) {
  try_all({}, "linear");
}
TEST(Certificate, is_right_beside_marks_and_far_away_cosine) {
  try_all({.kernel = {.type = KernelType::cosine}}, "cosine");
}
TEST(Certificate, is_right_beside_marks_and_far_away_rbf) {
  try_all({.kernel = {.type = KernelType::rbf}}, "rbf");
}
TEST(Certificate, is_right_beside_marks_and_far_away_laplacian) {
  try_all({.kernel = {.type = KernelType::laplacian}}, "laplacian");
}
TEST(Certificate, is_right_beside_marks_and_far_away_polynomial) {
  try_all({.kernel = {.type = KernelType::polynomial}}, "polynomial");
}
TEST(Certificate, is_right_beside_marks_and_far_away_factor) {
  try_all({.kernel = {.type = KernelType::rbf}, .rank = 16}, "factor");
}
TEST(Certificate, is_right_beside_marks_and_far_away_other_norms) {
  try_all({.q = fwsr::Norm::one}, "q = 1");
  try_all({.q = fwsr::Norm::infinity}, "q = infinity");
  try_all({.nonneg = true}, "X >= 0");
}
TEST(Certificate, is_right_for_more_exemplars_than_dimensions_far_away) {
  for (const double offset : {0.0, 1e9, 1e15}) {
    SCOPED_TRACE(offset);
    expect_true_certificate(normal_points(200, 8, offset), false, {.exemplars = 40, .codes = true});
  }
}

// The terms of the codes are much larger than their sums: rounding may hide who has the largest score.
TEST(Certificate, is_right_near_a_line) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    fwsr::Rng rng(seed);
    Set set{.name = "line", .n = 120, .d = 6 + static_cast<Index>(seed % 3) * 10, .values = {}};
    std::vector<double> direction(at(set.d));
    for (double& v : direction) v = rng.normal();
    const double spread = std::pow(10.0, -1.0 - static_cast<double>(seed % 4));
    for (Index i = 0; i < set.n; ++i) {
      const double along = 1 + 2 * rng.uniform();
      for (const double v : direction) set.values.push_back(along * v + spread * rng.normal());
    }
    for (const std::int64_t iterations : {20, 60, 61})
      expect_true_certificate(set, false,
                              {.exemplars = 4, .max_iterations = iterations, .codes = true});
  }
}

/// Points that leave few digits: near a line, a plane or a point, features of very different sizes, near copies, one of
/// them far away, all of them far from the origin.
Set hard_points(fwsr::Rng& rng) {
  enum { any, line, plane, sizes, copies, outlier, point, kinds };
  const Index n = 4 + static_cast<Index>(rng.below(80)), d = 1 + static_cast<Index>(rng.below(30));
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

TEST(Certificate, is_right_for_points_that_leave_few_digits) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    fwsr::Rng rng(seed);
    const Set set = hard_points(rng);
    fwsr::SelectOptions o{.exemplars = 1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(
                                               std::min<Index>(set.n, 20))))};
    o.codes = true;
    o.center = std::vector{Center::none, Center::point, Center::feature}[rng.below(3)];
    o.kernel.type = std::vector{KernelType::linear, KernelType::linear, KernelType::rbf,
                                KernelType::cosine, KernelType::polynomial}[rng.below(5)];
    o.kernel.degree = 2;
    if (rng.below(3) == 0) o.max_iterations = 5 + static_cast<std::int64_t>(rng.below(200));
    if (rng.below(3) == 0) o.alpha = std::pow(10.0, 2 * rng.uniform() - 1);
    if (rng.below(4) == 0) o.refine = fwsr::Refine::exchange;
    if (rng.below(4) == 0)
      for (Index i = 0; i < set.n; ++i) o.conditions.costs.push_back(1e-3 * (0.5 + rng.uniform()));
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", n " << set.n << ", d " << set.d << ", kernel "
                 << fwsr::name_of(o.kernel.type) << ", k " << o.exemplars);
    try {
      expect_true_certificate(set, false, o);
    } catch (const fwsr::Error& e) {  // alpha beside a polynomial may be beyond all numbers
      ADD_FAILURE() << e.what();
    }
  }
}

// Many features and few points in float32: K in float32, and a radius that makes much of its rounding.
TEST(Certificate, is_right_whatever_the_radius_in_float32) {
  for (const double alpha : {0.5, 5e-3, 5e-6})
    expect_true_certificate(normal_points(60, 70), true,
                            {.exemplars = 5, .alpha = alpha, .codes = true});
}

TEST(Certificate, tells_what_is_left_of_points_beside_a_huge_eta) {
  for (const double size : {1.0, 1e-4, 1e-6, 1e-8}) {
    SCOPED_TRACE(size);
    const Index n = 200, d = 3;
    Set set = normal_points(n, d);
    for (double& v : set.values) v *= size;
    const fwsr::Selection s =
        fwsr::select(fwsr::MatrixView<const double>{set.values.data(), n, d, d},
                     {.exemplars = 1, .eta = 100, .center = Center::none});
    const double* const a = set.values.data() + s.exemplars.at(0) * d;
    Real left = 0, all = 0, own = 0;
    for (Index l = 0; l < d; ++l) own += Real(a[l]) * a[l];
    for (Index i = 0; i < n; ++i) {
      Real square = 0, along = 0;
      for (Index l = 0; l < d; ++l) {
        square += Real(set.values[at(i * d + l)]) * set.values[at(i * d + l)];
        along += Real(set.values[at(i * d + l)]) * a[l];
      }
      all += square;
      left += square - along * along / own;
    }
    EXPECT_NEAR(s.certificate->reconstruction_error, static_cast<double>(left / all), 1e-9);
  }
}

TEST(Certificate, codes_that_cannot_tell_what_is_included_are_warned_of) {
  for (const double offset : {0.0, 1e6}) {
    const Set set = normal_points(100, 4, offset);
    fwsr::SelectOptions o{.exemplars = 2, .center = Center::none};
    o.conditions.included = {0, 1, 2, 3, 4, 5};
    const fwsr::Selection s =
        fwsr::select(fwsr::MatrixView<const double>{set.values.data(), 100, 4, 4}, o);
    EXPECT_EQ(std::any_of(s.warnings.begin(), s.warnings.end(),
                          [](const std::string& w) { return w.find("codes tell") == 0; }),
              offset > 0);
  }
}

TEST(Certificate, says_when_double_does_not_suffice) {
  const auto select = [](const Set& set) {
    return fwsr::select(fwsr::MatrixView<const double>{set.values.data(), set.n, set.d, set.d},
                        {.exemplars = 5, .center = Center::none});
  };
  EXPECT_TRUE(select(normal_points(60, 8)).certificate->trusted);
  const fwsr::Selection s = select(with_marks(normal_points(60, 8), 1e20, false));
  EXPECT_FALSE(s.certificate->trusted);
  EXPECT_GT(s.certificate->gap_error, 1e-3 * s.certificate->f);
  EXPECT_TRUE(std::any_of(s.warnings.begin(), s.warnings.end(), [](const std::string& w) {
    return w.find("certificate") != std::string::npos;
  }));
}

// ---- marks

std::string warning_about_marks(const Set& set) {
  const fwsr::Selection s = fwsr::select(
      fwsr::MatrixView<const double>{set.values.data(), set.n, set.d, set.d}, {.exemplars = 3});
  for (const std::string& w : s.warnings)
    if (w.find("missing value") != std::string::npos) return w;
  return "";
}

TEST(Certificate, of_points_that_are_all_equal_is_trusted) {
  for (const double value : {0.0, 1.5, -1e12}) {
    const std::vector<double> x(40 * 3, value);
    const auto s =
        fwsr::select(fwsr::MatrixView<const double>{x.data(), 40, 3, 3}, {.exemplars = 2});
    ASSERT_TRUE(s.certificate) << value;
    EXPECT_TRUE(s.certificate->trusted) << value;
    EXPECT_GE(s.certificate->gap, 0) << value;
  }
}

TEST(Certificate, is_refused_where_no_number_could_tell_the_objective) {
  for (const double size : {1e-200, 1e200}) {
    std::vector<double> x;
    for (int i = 0; i < 60; ++i) x.push_back(size * (1 + i % 7 + 0.1 * (i % 11)));
    try {
      fwsr::select(fwsr::MatrixView<const double>{x.data(), 20, 3, 3}, {.exemplars = 2});
      ADD_FAILURE() << "points of size " << size << " were answered";
    } catch (const fwsr::Error& e) {
      EXPECT_NE(std::string(e.what()).find("too large or too small"), std::string::npos)
          << e.what();
    }
  }
}

TEST(Marks, of_missing_values_are_named) {
  for (const double mark : {-999.0, 1e10, 1e20, 9.97e36}) {
    const std::string w = warning_about_marks(with_marks(normal_points(60, 8), mark, true));
    EXPECT_NE(w.find("point 7 "), std::string::npos) << mark << ": " << w;
  }
  EXPECT_NE(warning_about_marks(with_marks(normal_points(60, 8), 1e20, false))
                .find("point 7 has 1e+20 in feature 3"),
            std::string::npos);
}

TEST(Marks, ordinary_points_are_none) {
  EXPECT_EQ(warning_about_marks(normal_points(60, 8)), "");
  EXPECT_EQ(warning_about_marks(normal_points(60, 8, 1e9)), "");
  Set zeros = with_marks(normal_points(60, 8), 0, true);
  EXPECT_EQ(warning_about_marks(zeros), "");
  Set one_hot{.name = "one-hot", .n = 40, .d = 10, .values = std::vector<double>(400)};
  for (Index i = 0; i < 40; ++i) one_hot.values[at(i * 10 + i % 10)] = 1;
  EXPECT_EQ(warning_about_marks(one_hot), "");
  Set images = normal_points(60, 16);
  for (double& v : images.values) v = std::clamp(std::round(128 + 60 * v), 0.0, 255.0);
  for (const double white : {255.0, 128.0, 0.0})
    EXPECT_EQ(warning_about_marks(with_marks(images, white, true)), "");
  Set heavy = normal_points(60, 8);
  for (double& v : heavy.values) v = std::exp(4 * v);
  EXPECT_EQ(warning_about_marks(heavy), "");
  Set signs = normal_points(60, 8);
  for (double& v : signs.values) v = v > 0 ? 1 : -1;
  EXPECT_EQ(warning_about_marks(signs), "");
}

}  // namespace
