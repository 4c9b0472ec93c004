// The methods of sparse modelling against literal solvers of the same programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/methods.hpp"
#include "problems.hpp"

namespace fwsr {
namespace {

using Matrix = std::vector<std::vector<double>>;  // rows

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double fact(const Selection& s, const std::string& name) {
  for (const Fact& f : s.facts)
    if (f.name == name) return f.value;
  ADD_FAILURE() << "no fact " << name;
  return 0;
}

struct Points2 {
  Index n = 0, d = 0;
  std::vector<double> x;
  PointsView view() const { return MatrixView<const double>{x.data(), n, d, d}; }
};

Points2 random_points(std::uint64_t seed) {
  Rng rng(seed);
  Points2 p;
  p.n = 2 + static_cast<Index>(rng.below(18));
  p.d = 1 + static_cast<Index>(rng.below(24));
  const auto kind = static_cast<problems::Kind>(rng.below(problems::kinds));
  p.x = problems::make_values(kind == problems::Kind::scaled ? problems::Kind::gaussian : kind, p.n,
                              p.d, false, rng);
  return p;
}

Matrix gram(const Points2& p, bool centred) {
  Matrix k(at(p.n), std::vector<double>(at(p.n)));
  std::vector<double> mean(at(p.d), 0.0);
  for (Index i = 0; centred && i < p.n; ++i)
    for (Index l = 0; l < p.d; ++l) mean[at(l)] += p.x[at(i * p.d + l)] / static_cast<double>(p.n);
  for (Index i = 0; i < p.n; ++i)
    for (Index j = 0; j < p.n; ++j)
      for (Index l = 0; l < p.d; ++l)
        k[at(i)][at(j)] +=
            (p.x[at(i * p.d + l)] - mean[at(l)]) * (p.x[at(j * p.d + l)] - mean[at(l)]);
  return k;
}

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (const double e : v) sum += e * e;
  return std::sqrt(sum);
}

double largest_row(const Matrix& k) {
  double most = 0;
  for (const auto& row : k) most = std::max(most, norm(row));
  return most;
}

/// lambda sum_i ||x_i|| + 1/2 tr((I - X)^T K (I - X)), by its definition.
double objective(const Matrix& k, const Matrix& x, double lambda) {
  const std::size_t n = k.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += lambda * norm(x[i]);
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        sum += ((i == c ? 1 : 0) - x[i][c]) * k[i][j] * ((j == c ? 1 : 0) - x[j][c]) / 2;
  return sum;
}

/// The returned rows as X; all exemplars must have been asked for.
Matrix full_codes(const Selection& s, Index n) {
  Matrix x(at(n), std::vector<double>(at(n), 0.0));
  const std::size_t k = s.exemplars.size();
  for (std::size_t t = 0; t < k; ++t)
    for (Index i = 0; i < n; ++i) x[at(s.exemplars[t])][at(i)] = s.codes[at(i) * k + t];
  return x;
}

/// How much the best of many small feasible moves lowers the objective. At the minimum of a convex
/// function none does.
double best_decrease(const Matrix& k, const Matrix& x, double lambda, bool affine,
                     std::uint64_t seed) {
  const std::size_t n = k.size();
  const double now = objective(k, x, lambda);
  double best = 0;
  Rng rng(seed);
  for (int trial = 0; trial < 60; ++trial) {
    Matrix y = x;
    const std::size_t i = rng.below(n), j = rng.below(n);
    const double step = std::pow(10.0, -4 * rng.uniform());
    if (trial % 3 == 0)  // towards zero, or of its own weight to another row
      for (std::size_t c = 0; c < n; ++c) {
        y[i][c] = x[i][c] * (1 - step);
        if (affine) y[j][c] += x[i][c] - y[i][c];
      }
    else
      for (std::size_t c = 0; c < n; ++c) {
        const double move = step * rng.normal() * (trial % 3 == 1 ? 1.0 : 0.01);
        y[i][c] += move;
        if (affine) y[j][c] -= move;
      }
    best = std::max(best, now - objective(k, y, lambda));
  }
  return best;
}

/// The smallest ||K - K X + 1 mu^T - lambda G|| that KKT allows, without the constraint: mu = 0.
/// Rows of the gradient must be lambda x_i / ||x_i|| where x_i is not zero, and in the ball elsewhere.
double kkt_violation(const Matrix& k, const Matrix& x, double lambda, bool affine) {
  const std::size_t n = k.size();
  Matrix g = k;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t j = 0; j < n; ++j) g[i][c] -= k[i][j] * x[j][c];
  std::vector<double> mu(n, 0.0);
  double weight = 0;
  for (std::size_t i = 0; affine && i < n; ++i) {  // from the rows that are not zero
    const double size = norm(x[i]);
    weight += size;
    for (std::size_t c = 0; c < n; ++c) mu[c] += lambda * x[i][c] - size * g[i][c];
  }
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = norm(x[i]);
    std::vector<double> row(n);
    for (std::size_t c = 0; c < n; ++c) row[c] = g[i][c] + (weight > 0 ? mu[c] / weight : 0);
    if (size > 1e-3) {
      for (std::size_t c = 0; c < n; ++c) row[c] -= lambda * x[i][c] / size;
      worst = std::max(worst, norm(row));
    } else {
      worst = std::max(worst, norm(row) - lambda);
    }
  }
  return worst / lambda;
}

MethodChoice smrs(const std::string& alpha, bool affine, const std::string& tolerance) {
  return {.name = "smrs",
          .settings = {{"alpha", alpha},
                       {"affine", affine ? "yes" : "no"},
                       {"tolerance", tolerance},
                       {"max_iterations", "200000"}}};
}

SelectOptions plain(Index k, int threads = 1) {
  SelectOptions o;
  o.exemplars = k;
  o.center = Center::none;
  o.codes = true;
  o.threads = threads;
  return o;
}

TEST(Smrs, facts_and_codes_are_those_of_the_program) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Points2 p = random_points(seed);
    const bool affine = seed % 2 == 0;
    const double alpha = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 5 : 20;
    const Selection s = select(p.view(), plain(p.n), smrs(std::to_string(alpha), affine, "1e-9"));
    const Matrix k = gram(p, false), frame = gram(p, affine);
    if (largest_row(frame) <= 1e-20 * largest_row(k)) {  // equal points
      ASSERT_EQ(fact(s, "lambda"), 0);
      continue;
    }
    const double lambda = largest_row(frame) / alpha;
    ASSERT_NEAR(fact(s, "lambda"), lambda, 1e-9 * lambda);
    ASSERT_EQ(fact(s, "rows"), static_cast<double>(s.exemplars.size()));
    const Matrix x = full_codes(s, p.n);
    const double f = objective(affine ? frame : k, x, lambda);
    ASSERT_NEAR(fact(s, "objective"), f, 1e-9 * f);
    ASSERT_LE(fact(s, "gap"), 1e-9 * f);
    for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
      ASSERT_NEAR(s.strength[t], norm(x[at(s.exemplars[t])]), 1e-9 * s.strength[0]);
      ASSERT_LE(s.strength[t], s.strength[t > 0 ? t - 1 : 0] * (1 + 1e-6));
    }
    for (Index c = 0; affine && c < p.n; ++c) {
      double sum = 0;
      for (Index i = 0; i < p.n; ++i) sum += x[at(i)][at(c)];
      ASSERT_NEAR(sum, 1, 1e-9);
    }
    ASSERT_LE(kkt_violation(k, x, lambda, affine), 2e-2);
    ASSERT_LE(best_decrease(frame, x, lambda, affine, seed), 1e-9 * f);
  }
}

/// The literal ADMM of the article: n x n matrices, and a linear system for every step.
Matrix literal_admm(const Matrix& k, double lambda, bool affine, int steps) {
  const std::size_t n = k.size();
  const double rho = lambda;
  Matrix inverse(n, std::vector<double>(n, 0.0)), m = k;  // (K + rho I)^-1 by Gauss-Jordan
  for (std::size_t i = 0; i < n; ++i) m[i][i] += rho, inverse[i][i] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = m[i][i];
    for (std::size_t c = 0; c < n; ++c) m[i][c] /= pivot, inverse[i][c] /= pivot;
    for (std::size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const double by = m[j][i];
      for (std::size_t c = 0; c < n; ++c)
        m[j][c] -= by * m[i][c], inverse[j][c] -= by * inverse[i][c];
    }
  }
  std::vector<double> ones(n, 0.0);  // the inverse times 1
  double total = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) ones[i] += inverse[i][j], total += inverse[i][j];
  Matrix z(n, std::vector<double>(n, 0.0)), u = z, x = z;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t c = 0; c < n; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        x[i][c] = 0;
        for (std::size_t j = 0; j < n; ++j)
          x[i][c] += inverse[i][j] * (k[j][c] + rho * (z[j][c] - u[j][c]));
        sum += x[i][c];
      }
      for (std::size_t i = 0; affine && i < n; ++i) x[i][c] += ones[i] * (1 - sum) / total;
    }
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> row(n);
      for (std::size_t c = 0; c < n; ++c) row[c] = x[i][c] + u[i][c];
      const double size = norm(row), keep = size > lambda / rho ? 1 - lambda / rho / size : 0;
      for (std::size_t c = 0; c < n; ++c) z[i][c] = keep * row[c], u[i][c] = row[c] - z[i][c];
    }
  }
  return affine ? x : z;
}

TEST(Smrs, objective_is_that_of_the_literal_program) {
  for (std::uint64_t seed = 200; seed < 320; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Points2 p = random_points(seed);
    const bool affine = seed % 2 == 0;
    const Matrix k = gram(p, false);
    const Selection s = select(p.view(), plain(p.n), smrs("5", affine, "1e-8"));
    const double lambda = fact(s, "lambda");
    if (lambda == 0) continue;  // equal points
    const double f = objective(k, literal_admm(k, lambda, affine, 1500), lambda);
    // The literal one is feasible, so it is no better than the optimum; after so many steps hardly worse.
    EXPECT_LE(fact(s, "objective") - fact(s, "gap"), f * (1 + 1e-9));
    EXPECT_LE(f, fact(s, "objective") * (1 + 2e-3));
  }
}

TEST(Smrs, zero_exactly_from_the_largest_lambda_on) {
  const Points2 p = random_points(7);
  const auto rows = [&](const char* alpha) {
    return fact(select(p.view(), plain(1), smrs(alpha, false, "1e-9")), "rows");
  };
  EXPECT_EQ(rows("1"), 0);
  EXPECT_GT(rows("1.01"), 0);
}

TEST(Smrs, the_affine_program_does_not_see_a_shift) {
  Points2 p = random_points(11);
  const Selection s = select(p.view(), plain(p.n), smrs("5", true, "1e-9"));
  for (Index i = 0; i < p.n; ++i)
    for (Index l = 0; l < p.d; ++l) p.x[at(i * p.d + l)] += 3.0 + static_cast<double>(l);
  const Selection moved = select(p.view(), plain(p.n), smrs("5", true, "1e-9"));
  EXPECT_NEAR(fact(s, "lambda"), fact(moved, "lambda"), 1e-9 * fact(s, "lambda"));
  EXPECT_NEAR(fact(s, "objective"), fact(moved, "objective"), 1e-8 * fact(s, "objective"));
}

TEST(Smrs, badly_scaled_features_keep_their_certificate) {
  Rng rng(5);
  Points2 p{.n = 60, .d = 8, .x = {}};
  for (Index i = 0; i < p.n; ++i)
    for (Index l = 0; l < p.d; ++l)
      p.x.push_back(rng.normal() * std::pow(10.0, -static_cast<double>(l)));
  for (const bool affine : {false, true}) {
    const Selection s = select(p.view(), plain(p.n), smrs("50", affine, "1e-9"));
    const Matrix k = gram(p, affine);
    const double f = objective(k, full_codes(s, p.n), fact(s, "lambda"));
    EXPECT_NEAR(fact(s, "objective"), f, 1e-9 * f);
    EXPECT_LE(fact(s, "gap"), 1e-9 * f);
  }
}

TEST(Smrs, edges) {
  const auto picks = [](const std::vector<double>& x, Index n, Index k, bool affine) {
    const Index d = static_cast<Index>(x.size()) / n;
    return select(MatrixView<const double>{x.data(), n, d, d}, plain(k), smrs("5", affine, "1e-6"))
        .exemplars;
  };
  const std::vector<Index> none, first = {0}, two = {0, 1};
  for (const bool affine : {false, true}) {
    EXPECT_EQ(picks({3, 4}, 1, 1, affine), first);
    EXPECT_EQ(picks({1, 2, 1, 2, 1, 2}, 3, 2, affine), two);  // copies: the first ones
  }
  EXPECT_EQ(picks({0, 0, 0, 0}, 2, 2, false), none);  // nothing to represent
  EXPECT_EQ(picks({0, 0, 0, 0}, 2, 2, true), two);    // codes still have to sum to 1
}

TEST(Smrs, one_answer_for_any_number_of_threads_and_storage) {
  Rng rng(3);
  const Index n = 700, d = 40;
  const std::vector<double> x = problems::make_values(problems::Kind::clustered, n, d, true, rng);
  for (const auto storage : {problems::Storage::dense_f32, problems::Storage::dense_f64,
                             problems::Storage::csr_f64_i32}) {
    const problems::Data data(n, d, x, storage);
    std::vector<Selection> all;
    for (const int threads : {1, 2, 8})
      all.push_back(select(data.view(), plain(12, threads), smrs("20", true, "1e-3")));
    for (const Selection& s : all) {
      EXPECT_EQ(s.exemplars, all[0].exemplars);
      EXPECT_EQ(s.strength, all[0].strength);
      EXPECT_EQ(s.codes, all[0].codes);
    }
  }
}

TEST(Smrs, remove_duplicates_leaves_out_what_is_close) {
  Rng rng(9);
  Points2 p{.n = 40, .d = 5, .x = {}};
  for (Index i = 0; i < p.n; ++i)
    for (Index l = 0; l < p.d; ++l)
      p.x.push_back(i % 2 == 0 ? rng.normal() * 3 : p.x[at((i - 1) * p.d + l)] + 1e-6);
  MethodChoice choice = smrs("50", true, "1e-6");
  const auto pairs = [&](const Selection& s) {
    int found = 0;
    for (const Index i : s.exemplars)
      for (const Index j : s.exemplars) found += i / 2 == j / 2 && i < j;
    return found;
  };
  EXPECT_GT(pairs(select(p.view(), plain(12), choice)), 0);
  choice.settings["remove_duplicates"] = "yes";
  const Selection s = select(p.view(), plain(12), choice);
  EXPECT_EQ(pairs(s), 0);
  EXPECT_GT(s.exemplars.size(), 5u);
}

TEST(KernelSmrs, is_smrs_on_the_kernel_matrix) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Points2 p = random_points(seed);
    Matrix k(at(p.n), std::vector<double>(at(p.n)));
    for (Index i = 0; i < p.n; ++i)
      for (Index j = 0; j < p.n; ++j) {
        double far = 0;
        for (Index l = 0; l < p.d; ++l)
          far += std::pow(p.x[at(i * p.d + l)] - p.x[at(j * p.d + l)], 2);
        k[at(i)][at(j)] = std::exp(-0.05 * far);
      }
    SelectOptions o = plain(p.n);
    o.kernel.type = KernelType::rbf;
    o.kernel.gamma = 0.05;
    MethodChoice choice = smrs("10", seed % 2 == 0, "1e-9");
    choice.name = "kernel-smrs";
    const Selection s = select(p.view(), o, choice);
    const Matrix x = full_codes(s, p.n);
    const double f = objective(k, x, fact(s, "lambda"));
    if (fact(s, "lambda") == 0) continue;  // equal points
    ASSERT_NEAR(fact(s, "objective"), f, 1e-7 * f);
    ASSERT_LE(fact(s, "gap"), 1e-8 * f);
    ASSERT_LE(best_decrease(k, x, fact(s, "lambda"), seed % 2 == 0, seed), 1e-8 * f);
  }
}

TEST(KernelSmrs, takes_a_kernel_matrix) {
  const Points2 p = random_points(21);
  const Matrix k = gram(p, false);
  std::vector<double> given;
  for (const auto& row : k) given.insert(given.end(), row.begin(), row.end());
  SelectOptions o = plain(3);
  o.kernel.type = KernelType::precomputed;
  MethodChoice choice = smrs("10", true, "1e-9");
  const Selection by_points = select(p.view(), plain(3), choice);
  choice.name = "kernel-smrs";
  const Selection by_kernel =
      select(MatrixView<const double>{given.data(), p.n, p.n, p.n}, o, choice);
  EXPECT_NEAR(fact(by_points, "objective"), fact(by_kernel, "objective"),
              1e-8 * fact(by_points, "objective"));
  EXPECT_EQ(by_points.exemplars, by_kernel.exemplars);
}

/// Dissimilarities of points by the definition of the metric.
Matrix dissimilarities(const Points2& p, bool squared) {
  Matrix d(at(p.n), std::vector<double>(at(p.n), 0.0));
  for (Index i = 0; i < p.n; ++i)
    for (Index j = 0; j < p.n; ++j) {
      double sum = 0;
      for (Index l = 0; l < p.d; ++l)
        sum += std::pow(p.x[at(i * p.d + l)] - p.x[at(j * p.d + l)], 2);
      d[at(i)][at(j)] = squared ? sum : std::sqrt(sum);
    }
  return d;
}

double row_norm(const std::vector<double>& z, bool infinite) {
  return infinite ? *std::max_element(z.begin(), z.end()) : norm(z);
}

double ds3_objective(const Matrix& d, const Matrix& z, double lambda, bool infinite) {
  double sum = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    sum += lambda * row_norm(z[i], infinite);
    for (std::size_t j = 0; j < d.size(); ++j) sum += d[i][j] * z[i][j];
  }
  return sum;
}

/// lambda_max of the article, for d without two smallest sums.
double ds3_largest_lambda(const Matrix& d, bool infinite) {
  const auto n = static_cast<double>(d.size());
  std::size_t best = 0;
  std::vector<double> sums;
  for (const auto& row : d) {
    double sum = 0;
    for (const double v : row) sum += v;
    if (!sums.empty() && sum < sums[best] * (1 - 1e-12)) best = sums.size();
    sums.push_back(sum);
  }
  double most = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    double absolute = 0, squares = 0;
    for (std::size_t j = 0; j < d.size(); ++j) {
      absolute += std::abs(d[i][j] - d[best][j]) / 2;
      squares += std::pow(d[i][j] - d[best][j], 2);
    }
    if (infinite)
      most = std::max(most, absolute);
    else if (sums[i] > sums[best] * (1 + 1e-12))
      most = std::max(most, std::sqrt(n) / 2 * squares / (sums[i] - sums[best]));
  }
  return most;
}

/// What the best of many small moves of weight from one row to another, in some columns, gains.
double ds3_decrease(const Matrix& d, const Matrix& z, double lambda, bool infinite,
                    std::uint64_t seed) {
  Rng rng(seed);
  const double now = ds3_objective(d, z, lambda, infinite);
  double best = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Matrix y = z;
    const std::size_t i = rng.below(d.size()), j = rng.below(d.size());
    const double step = std::pow(10.0, -3 * rng.uniform());
    for (std::size_t c = 0; c < d.size(); ++c) {
      if (trial % 3 != 0 && rng.uniform() < 0.5) continue;
      const double move = trial % 2 == 0 ? step * y[i][c] : std::min(step, y[i][c]);
      y[i][c] -= move;
      y[j][c] += move;
    }
    best = std::max(best, now - ds3_objective(d, y, lambda, infinite));
  }
  return best;
}

MethodChoice ds3(double alpha, bool infinite, const std::string& metric,
                 const std::string& tolerance = "1e-9") {
  return {.name = "ds3",
          .settings = {{"alpha", std::to_string(alpha)},
                       {"p", infinite ? "inf" : "2"},
                       {"metric", metric},
                       {"tolerance", tolerance},
                       {"max_iterations", "1000000"}}};
}

TEST(Ds3, facts_and_codes_are_those_of_the_program) {
  int solved = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Points2 p = random_points(seed);
    const bool infinite = seed % 2 == 0, squared = seed % 3 == 0;
    const double alpha = seed % 5 == 0 ? 2 : seed % 5 < 3 ? 5 : 20;
    const Selection s =
        select(p.view(), plain(p.n), ds3(alpha, infinite, squared ? "squared" : "euclidean"));
    const Matrix d = dissimilarities(p, squared);
    const double lambda = ds3_largest_lambda(d, infinite) / alpha;
    if (!(lambda > 1e-12)) continue;  // equal points, or two alike
    ++solved;
    ASSERT_NEAR(fact(s, "lambda"), lambda, 1e-6 * lambda);
    const Matrix z = full_codes(s, p.n);
    for (Index c = 0; c < p.n; ++c) {
      double sum = 0;
      for (Index i = 0; i < p.n; ++i) {
        ASSERT_GE(z[at(i)][at(c)], 0);
        sum += z[at(i)][at(c)];
      }
      ASSERT_NEAR(sum, 1, 1e-6);
    }
    const double f = ds3_objective(d, z, fact(s, "lambda"), infinite);
    ASSERT_NEAR(fact(s, "objective"), f, 1e-6 * f);
    ASSERT_LE(fact(s, "gap"), 1e-9 * f);
    ASSERT_LE(ds3_decrease(d, z, fact(s, "lambda"), infinite, seed), 1e-6 * f);
    for (std::size_t t = 0; t < s.exemplars.size(); ++t)
      ASSERT_NEAR(s.strength[t], row_norm(z[at(s.exemplars[t])], infinite), 1e-9);
  }
  EXPECT_GT(solved, 100);
}

TEST(Ds3, one_exemplar_at_the_largest_lambda) {
  for (std::uint64_t seed = 30; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Points2 p = random_points(seed);
    const Matrix d = dissimilarities(p, false);
    std::vector<double> sums;
    for (const auto& row : d) sums.push_back(std::accumulate(row.begin(), row.end(), 0.0));
    std::vector<double> sorted = sums;
    std::sort(sorted.begin(), sorted.end());
    if (sorted[1] < sorted[0] * (1 + 1e-3)) continue;  // two points that are as good
    const Selection s = select(p.view(), plain(1), ds3(1, seed % 2 == 0, "euclidean", "1e-7"));
    const auto best = std::min_element(sums.begin(), sums.end()) - sums.begin();
    EXPECT_EQ(s.exemplars, std::vector<Index>{best});
    const double ones = seed % 2 == 0 ? 1 : std::sqrt(static_cast<double>(p.n));
    const double alone = fact(s, "lambda") * ones + sorted[0];
    EXPECT_NEAR(fact(s, "objective"), alone, 1e-6 * alone);
  }
}

TEST(Ds3, takes_a_matrix_and_says_so_of_any_number_of_threads) {
  Rng rng(12);
  Points2 p{.n = 150, .d = 3, .x = {}};
  for (Index e = 0; e < p.n * p.d; ++e) p.x.push_back(rng.normal());
  std::vector<double> given;
  for (const auto& row : dissimilarities(p, false))
    given.insert(given.end(), row.begin(), row.end());
  const MatrixView<const double> matrix{given.data(), p.n, p.n, p.n};
  const Selection by_points = select(p.view(), plain(8), ds3(20, true, "euclidean", "1e-6"));
  SelectOptions o;
  o.exemplars = 8;
  o.codes = true;
  std::vector<Selection> all;
  for (const int threads : {1, 2, 8}) {
    o.threads = threads;
    all.push_back(select(matrix, o, ds3(20, true, "precomputed", "1e-6")));
    EXPECT_EQ(all.back().exemplars, all[0].exemplars);
    EXPECT_EQ(all.back().codes, all[0].codes);
    EXPECT_EQ(all.back().strength, all[0].strength);
  }
  EXPECT_NEAR(fact(all[0], "objective"), fact(by_points, "objective"),
              3e-6 * fact(by_points, "objective"));
}

TEST(Ds3, alpha_grows_until_there_are_enough_rows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Points2 p{.n = 40, .d = 3, .x = {}};
    for (Index e = 0; e < p.n * p.d; ++e)
      p.x.push_back(rng.normal() + static_cast<double>(e / p.d % 3) * 9);
    const bool infinite = seed % 2 == 0;
    const Selection s = select(p.view(), plain(15), ds3(0, infinite, "euclidean", "1e-7"));
    EXPECT_EQ(s.exemplars.size(), 15u);
    EXPECT_GE(fact(s, "alpha"), 40);
    const Selection same =
        select(p.view(), plain(15), ds3(fact(s, "alpha"), infinite, "euclidean", "1e-7"));
    EXPECT_NEAR(fact(s, "lambda"), fact(same, "lambda"), 1e-12 * fact(s, "lambda"));
    EXPECT_NEAR(fact(s, "objective"), fact(same, "objective"), 2e-7 * fact(s, "objective"));
  }
}

TEST(Ds3, edges) {
  const auto picks = [](const std::vector<double>& x, Index n, Index k, bool infinite) {
    const Index d = static_cast<Index>(x.size()) / n;
    return select(MatrixView<const double>{x.data(), n, d, d}, plain(k),
                  ds3(5, infinite, "euclidean", "1e-6"))
        .exemplars;
  };
  const std::vector<Index> first = {0};
  for (const bool infinite : {false, true}) {
    EXPECT_EQ(picks({3, 4}, 1, 1, infinite), first);
    EXPECT_EQ(picks({1, 2, 1, 2, 1, 2}, 3, 2, infinite), first);  // copies: one is enough
    EXPECT_EQ(picks({0, 0, 0, 0}, 2, 2, infinite), first);
    EXPECT_EQ(picks({0, 1, 5}, 3, 3, infinite).empty(), false);
  }
}

/// The stages by hand: smrs on the survivors, of which the larger rows go on.
std::vector<Index> literal_stages(const Points2& p, Index k, const MethodChoice& choice) {
  std::vector<Index> survivors;
  for (Index i = 0; i < p.n; ++i) survivors.push_back(i);
  for (;;) {
    Points2 part{.n = static_cast<Index>(survivors.size()), .d = p.d, .x = {}};
    for (const Index i : survivors)
      part.x.insert(part.x.end(), p.x.begin() + i * p.d, p.x.begin() + (i + 1) * p.d);
    const Index keep = std::max(k, std::min((part.n + 1) / 2, part.n - 1));
    std::vector<Index> next = select(part.view(), plain(keep), choice).exemplars;
    for (Index& i : next) i = survivors[at(i)];
    if (static_cast<Index>(next.size()) <= k) return next;
    std::sort(next.begin(), next.end());
    survivors = next;
  }
}

TEST(Dsmrs, is_smrs_on_the_survivors) {
  int several = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Points2 p = random_points(seed);
    const Index k = 1 + static_cast<Index>(seed % 4) % p.n;
    MethodChoice choice = smrs("20", seed % 2 == 0, "1e-10");
    const std::vector<Index> expected = literal_stages(p, k, choice);
    choice.name = "dsmrs";
    SelectOptions o = plain(k);
    o.codes = false;
    const Selection s = select(p.view(), o, choice);
    several += fact(s, "stages") > 1;
    EXPECT_EQ(s.exemplars, expected);
  }
  EXPECT_GT(several, 50);
}

TEST(Dsmrs, one_answer_for_any_number_of_threads_and_storage) {
  Rng rng(4);
  const Index n = 400, d = 30;
  const std::vector<double> x = problems::make_values(problems::Kind::clustered, n, d, true, rng);
  for (const auto storage : {problems::Storage::dense_f32, problems::Storage::csr_f64_i64}) {
    const problems::Data data(n, d, x, storage);
    std::vector<Selection> all;
    for (const int threads : {1, 2, 8}) {
      SelectOptions o = plain(7, threads);
      o.codes = false;
      all.push_back(select(data.view(), o, {.name = "dsmrs", .settings = {{"tolerance", "1e-3"}}}));
      EXPECT_EQ(all.back().exemplars, all[0].exemplars);
      EXPECT_EQ(all.back().strength, all[0].strength);
    }
    EXPECT_EQ(all[0].exemplars.size(), 7u);
  }
}

}  // namespace
}  // namespace fwsr
