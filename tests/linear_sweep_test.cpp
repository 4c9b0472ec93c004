// The scores behind the certificate of the covariance form, against residuals formed in full.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/linear_sweep.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/residual_rows.hpp"

namespace {

using fwsr::Index;

constexpr Index n = 60, d = 12;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

struct Case {
  std::vector<double> values;
  fwsr::Points points;
  std::vector<Index> exemplars{5, 17};
  fwsr::Coefficients theta;

  explicit Case(bool copies)
      : values(numbers(copies)),
        points(fwsr::MatrixView<const double>{values.data(), n, d, d}, {}, {}, 1) {
    theta.basis = {5, 17, 30};
    theta.theta = {0.02, -0.01, 0.005, 0.01, 0.03, -0.02};
  }

  static std::vector<double> numbers(bool copies) {
    fwsr::Rng rng(21);
    std::vector<double> values(at(n * d));
    for (double& v : values) v = rng.normal();
    for (Index i = 20; copies && i < n; ++i)
      for (Index l = 0; l < d; ++l) values[at(i * d + l)] = 9.0 * std::cos(static_cast<double>(l));
    return values;
  }

  /// ||p_i||, p_i = a_i^T (A - A_T Theta A_B^T A), entry by entry.
  double score(Index i) const {
    std::vector<std::vector<double>> a(at(n), std::vector<double>(at(points.dim())));
    for (Index j = 0; j < n; ++j) points.row(j, a[at(j)].data());
    const auto dot = [&](Index x, Index y) {
      double sum = 0;
      for (std::size_t l = 0; l < a[0].size(); ++l) sum += a[at(x)][l] * a[at(y)][l];
      return sum;
    };
    double square = 0;
    for (Index j = 0; j < n; ++j) {
      double p = dot(i, j);
      for (std::size_t t = 0; t < exemplars.size(); ++t)
        for (std::size_t b = 0; b < theta.basis.size(); ++b)
          p -= dot(i, exemplars[t]) * theta.theta[t * theta.basis.size() + b] *
               dot(theta.basis[b], j);
      square += p * p;
    }
    return std::sqrt(square);
  }

  fwsr::LinearSums sums(double r_error) const {
    fwsr::LocalPoints set(points, 1);
    const auto found = set.covariance(false);
    fwsr::Covariance covariance = *found;
    covariance.r_error = r_error;
    fwsr::Selection selection;
    return set.describe(covariance, {exemplars, theta}, {.sums = true}, selection);
  }
};

TEST(LinearSweep, a_score_from_one_pass_is_that_of_the_residuals) {
  const Case c(false);
  for (Index i = 0; i < n; i += 7)
    EXPECT_NEAR(fwsr::LocalPoints(c.points, 1).score_of(i, {c.exemplars, c.theta}), c.score(i),
                1e-12 * c.score(i));
}

TEST(LinearSweep, those_who_may_lead_are_all_there) {
  const Case c(false);
  Index best = 0;
  for (Index i = 0; i < n; ++i)
    if (c.score(i) > c.score(best)) best = i;
  const fwsr::LinearSums exact = c.sums(0);
  EXPECT_EQ(exact.leaders, std::vector<Index>{best});
  EXPECT_NEAR(exact.largest_score, c.score(best), 1e-12 * c.score(best));
  // Scores squared may be off by four times the error of r, either way.
  const double top = c.score(best) * c.score(best), error = 0.03 * top;
  std::vector<Index> near;
  for (Index i = 0; i < n; ++i)
    if (c.score(i) * c.score(i) >= top - 8 * error) near.push_back(i);
  ASSERT_GT(near.size(), 1u);
  ASSERT_LE(near.size(), 16u);
  EXPECT_EQ(c.sums(error).leaders, near);
}

/// All sums by their definitions, of points row by row.
struct Literal {
  double xk = 0, xkx = 0, largest = 0;
  std::vector<double> xp, squared_score, squares;

  Literal(const fwsr::Points& points, const std::vector<Index>& t,
          const fwsr::Coefficients& theta) {
    const Index count = points.size(), k = std::ssize(t), m = std::ssize(theta.basis);
    std::vector<std::vector<double>> a(at(count), std::vector<double>(at(points.dim())));
    for (Index j = 0; j < count; ++j) points.row(j, a[at(j)].data());
    const auto inner = [&](Index i, Index j) {
      double sum = 0;
      for (std::size_t l = 0; l < a[at(i)].size(); ++l) sum += a[at(i)][l] * a[at(j)][l];
      return sum;
    };
    std::vector<double> x(at(k * count));
    for (Index e = 0; e < k; ++e)
      for (Index j = 0; j < count; ++j)
        for (Index b = 0; b < m; ++b)
          x[at(e * count + j)] += theta.theta[at(e * m + b)] * inner(theta.basis[at(b)], j);
    const auto p = [&](Index i, Index j) {  // entry j of row i of K - K X
      double left = inner(i, j);
      for (Index e = 0; e < k; ++e) left -= inner(i, t[at(e)]) * x[at(e * count + j)];
      return left;
    };
    xp.resize(at(k)), squared_score.resize(at(k)), squares.resize(at(k));
    for (Index e = 0; e < k; ++e)
      for (Index j = 0; j < count; ++j) {
        const double code = x[at(e * count + j)], left = p(t[at(e)], j);
        xk += code * inner(t[at(e)], j);
        xkx += code * (inner(t[at(e)], j) - left);
        xp[at(e)] += code * left;
        squared_score[at(e)] += left * left;
        squares[at(e)] += code * code;
      }
    for (Index i = 0; i < count; ++i) {
      double square = 0;
      for (Index j = 0; j < count; ++j) square += p(i, j) * p(i, j);
      largest = std::max(largest, std::sqrt(square));
    }
  }
};

/// Few and many features beside exemplars and basis, so that every order of products has its turn (sweep_directions.hpp);
/// exemplars that are nearly the same; eta.
TEST(LinearSweep, the_sums_are_those_of_their_definitions_in_whatever_order_products_are_made) {
  struct Shape {
    Index features, exemplars, basis;
    double eta;
    bool close;
  };
  for (const Shape& shape :
       {Shape{12, 2, 3, 0, false}, Shape{12, 3, 3, 0.7, false}, Shape{3, 5, 9, 0, false},
        Shape{3, 2, 9, 0.3, false}, Shape{7, 6, 8, 0, false}, Shape{30, 4, 6, 0, true},
        Shape{30, 9, 25, 1.5, false}, Shape{1, 1, 1, 0, false}}) {
    SCOPED_TRACE(testing::Message() << shape.features << " features, " << shape.exemplars << " of "
                                    << shape.basis << ", eta " << shape.eta);
    const Index f = shape.features, k = shape.exemplars, m = shape.basis;
    fwsr::Rng rng(static_cast<std::uint64_t>(f * 100 + k * 10 + m));
    std::vector<double> values(at(n * f));
    for (double& v : values) v = rng.normal();
    for (Index l = 0; shape.close && l < f; ++l)
      values[at(f + l)] = values[at(l)] + 1e-7 * rng.normal();
    const fwsr::Points points(fwsr::MatrixView<const double>{values.data(), n, f, f}, {},
                              {.center = fwsr::Center::none, .eta = shape.eta}, 1);
    fwsr::Coefficients theta;
    for (Index b = 0; b < m; ++b) theta.basis.push_back(b);
    for (Index e = 0; e < k * m; ++e) theta.theta.push_back(0.02 * rng.normal());
    const std::vector<Index> exemplars(theta.basis.begin(), theta.basis.begin() + k);
    const Literal wanted(points, exemplars, theta);
    fwsr::LocalPoints set(points, 1);
    const auto covariance = set.covariance(false);
    fwsr::Selection found;
    const fwsr::LinearSums sums =
        set.describe(*covariance, {exemplars, theta}, {.sums = true}, found);
    const double size = sums.trace;
    EXPECT_NEAR(sums.xk, wanted.xk, 1e-12 * size);
    EXPECT_NEAR(sums.xkx, wanted.xkx, 1e-12 * size);
    EXPECT_NEAR(sums.largest_score, wanted.largest, 1e-9 * wanted.largest);
    for (std::size_t e = 0; e < exemplars.size(); ++e) {
      EXPECT_NEAR(sums.xp[e], wanted.xp[e], 1e-12 * size);
      EXPECT_NEAR(sums.squared_score[e], wanted.squared_score[e], 1e-12 * size * size);
      EXPECT_NEAR(found.strength[e], std::sqrt(wanted.squares[e]), 1e-12 * size);
    }
    if (k < f - 1) {
      EXPECT_NEAR(sums.projection, set.project(exemplars, 1).projection, 1e-9 * size);
    } else {
      EXPECT_EQ(sums.projection, 0);  // next to nothing is left, and asked for by itself
    }
  }
}

TEST(LinearSweep, too_many_who_may_lead_are_not_told) {
  const Case c(true);  // forty copies of one point
  EXPECT_TRUE(c.sums(1e-12).leaders.empty());
}

}  // namespace
