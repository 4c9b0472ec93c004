// The scores behind the certificate of the covariance form, against residuals formed in full.
#include <gtest/gtest.h>

#include <cmath>
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

TEST(LinearSweep, too_many_who_may_lead_are_not_told) {
  const Case c(true);  // forty copies of one point
  EXPECT_TRUE(c.sums(1e-12).leaders.empty());
}

}  // namespace
