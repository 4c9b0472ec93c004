// The small program over the simplex, against its conditions of the optimum and against points on a fine grid.
#include "fwsr/methods/simplex_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/rows.hpp"

namespace {

using fwsr::Combination;
using fwsr::Index;
using fwsr::minimise_on_simplex;
using Rows = std::vector<std::vector<double>>;

std::vector<double> squares_of(const Rows& points) {
  std::vector<double> squares;
  for (const auto& a : points)
    for (const auto& b : points)
      squares.push_back(fwsr::squared_distance(a.data(), b.data(), std::ssize(a)));
  return squares;
}

/// f itself, and its gap over all corners of the simplex, in long double.
struct Plain {
  Plain(const std::vector<double>& squares, const std::vector<double>& h,
        const std::vector<double>& x) {
    const std::size_t m = x.size();
    long double along = 0, least = std::numeric_limits<long double>::infinity();
    for (std::size_t s = 0; s < m; ++s) {
      long double g = h[s];
      for (std::size_t t = 0; t < m; ++t) g -= static_cast<long double>(squares[s * m + t]) * x[t];
      value += x[s] * (g + h[s]) / 2;
      along += x[s] * g;
      least = std::min(least, g);
      sum += x[s];
    }
    gap = along - least;
  }
  long double value = 0, gap = 0, sum = 0;
};

/// Points of many kinds: few or many for their dimension, in a plane of it, with copies, nearly flat.
Rows points_for(std::uint64_t seed, Index m, Index d, fwsr::Rng& rng) {
  Rows points(static_cast<std::size_t>(m), std::vector<double>(static_cast<std::size_t>(d)));
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t l = 0; l < points[i].size(); ++l) {
      const double v = seed % 4 == 1 && l >= 2 ? 0.0 : rng.normal();
      points[i][l] = seed % 4 == 2 && l > 0 ? 1e-4 * v : v;
    }
    if (seed % 4 == 3 && i % 3 == 2) points[i] = points[i / 2];
  }
  return points;
}

TEST(SimplexProgram, ends_at_the_optimum_within_its_gap) {
  int inside = 0, outside = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    fwsr::Rng rng(seed);
    const Index m = 1 + static_cast<Index>(rng.below(30)), d = 1 + static_cast<Index>(rng.below(8));
    const Rows points = points_for(seed, m, d, rng);
    const std::vector<double> squares = squares_of(points);
    const double scale = 1e-300 + *std::max_element(squares.begin(), squares.end());
    const bool ball = seed % 5 == 0;
    std::vector<double> h(points.size());
    std::vector<double> from(static_cast<std::size_t>(d));
    for (double& v : from) v = 2 * rng.normal();
    if (!ball)
      for (std::size_t t = 0; t < h.size(); ++t)
        h[t] = fwsr::squared_distance(from.data(), points[t].data(), d);
    std::vector<double> x(points.size());
    x[static_cast<std::size_t>(rng.below(x.size()))] = 1;
    const double least = 1e-13 * (scale + *std::max_element(h.begin(), h.end()));
    const Combination c = minimise_on_simplex({squares.data(), m}, h, x, {1e-9, least});
    const Plain plain(squares, h, c.x);
    for (const double v : c.x) EXPECT_GE(v, 0);
    EXPECT_NEAR(static_cast<double>(plain.sum), 1, 1e-11);
    EXPECT_NEAR(c.value, static_cast<double>(plain.value), 100 * least);
    EXPECT_NEAR(c.gap, static_cast<double>(plain.gap), 100 * least);
    EXPECT_LE(plain.gap, std::max(1e-9L * std::abs(plain.value), 100.0L * least));
    (plain.value > 1e-6 ? outside : inside) += !ball;
    // No other point of the simplex is better by more than the gap.
    for (int tried = 0; tried < 30; ++tried) {
      std::vector<double> y(points.size());
      double sum = 0;
      for (double& v : y) sum += v = -std::log1p(-rng.uniform());
      for (double& v : y) v /= sum;
      EXPECT_GE(Plain(squares, h, y).value, plain.value - plain.gap - 1e-12L * scale);
    }
  }
  EXPECT_GT(inside, 20);
  EXPECT_GT(outside, 100);
}

TEST(SimplexProgram, of_a_nearly_flat_circle_ends) {
  // Steps between its points hardly move across it: pairwise steps alone would not end.
  Rows points;
  for (int i = 0; i < 60; ++i) {
    const double angle = 2 * std::numbers::pi * i / 60;
    points.push_back({std::cos(angle), 1e-4 * std::sin(angle), 1e-3 * std::sin(7 * angle)});
  }
  const std::vector<double> squares = squares_of(points), from = {0.3, 0.7, 0.1};
  std::vector<double> h, x(points.size());
  for (const auto& p : points) h.push_back(fwsr::squared_distance(from.data(), p.data(), 3));
  x[0] = 1;
  const Combination c = minimise_on_simplex({squares.data(), 60}, h, x, {1e-8, 0});
  EXPECT_LE(c.gap, 1e-8 * c.value);
}

TEST(SimplexProgram, ends_early_where_it_is_below_what_matters) {
  const Rows points = {{0, 0}, {4, 0}, {0, 4}};
  const std::vector<double> squares = squares_of(points), h = {2, 10, 10};  // of (1, 1)
  const Combination c = minimise_on_simplex({squares.data(), 3}, h, {1, 0, 0}, {1e-9, 1e-12, 1.9});
  EXPECT_LT(c.value, 1.9);
  EXPECT_GT(c.gap, 0.1);
}

}  // namespace
