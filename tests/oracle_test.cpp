// The oracle against cases worked out by hand, and against what must hold for every run of it.
#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/base/random.hpp"

namespace {

using oracle::Index;
using oracle::Real;
using Matrix = oracle::Matrix<Real>;

constexpr Real infinity = std::numeric_limits<Real>::infinity();
/// A few operations on numbers near 1, in extended precision.
constexpr double tight = 1e-17;

Matrix matrix(Index rows, Index cols, std::vector<Real> values) {
  Matrix m(rows, cols);
  m.values = std::move(values);
  return m;
}

void expect_values(const Matrix& m, const std::vector<Real>& wanted, double tolerance = tight) {
  ASSERT_EQ(m.values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(double(m.values[i] - wanted[i]), 0, tolerance) << "entry " << i;
}

void expect_near(Real value, Real wanted, double tolerance = tight) {
  EXPECT_NEAR(double(value - wanted), 0, tolerance) << double(value) << " for " << double(wanted);
}

Matrix random_points(fwsr::Rng& rng, Index n, Index d) {
  Matrix a(n, d);
  for (Real& v : a.values) v = rng.normal();
  return a;
}

Real sum_of_row_norms(const Matrix& x, oracle::Norm q) {
  Real sum = 0;
  for (Index i = 0; i < x.rows; ++i) sum += oracle::row_norm(x, i, q);
  return sum;
}

// ---- preprocessing -----------------------------------------------------------------------------

TEST(OraclePreprocess, divides_features_by_population_deviations_and_leaves_constant_ones) {
  // feature 1: 1, 3 has mean 2 and deviation 1; feature 2: 0, 4 deviation 2; feature 3 is constant
  const Matrix a = matrix(2, 3, {1, 0, 0.1L, 3, 4, 0.1L});
  expect_values(oracle::preprocess(a, {.scale = oracle::Scale::standard}),
                {1, 0, 0.1L, 3, 2, 0.1L});
}

TEST(OraclePreprocess, divides_points_by_norms_and_leaves_zero_points) {
  const Matrix a = matrix(2, 2, {3, 4, 0, 0});
  expect_values(oracle::preprocess(a, {.scale = oracle::Scale::unit}), {0.6L, 0.8L, 0, 0});
}

TEST(OraclePreprocess, centres_points_or_features_after_scaling) {
  const Matrix a = matrix(2, 2, {3, 4, 6, 8});
  expect_values(oracle::preprocess(a, {.center = oracle::Center::point}), {-0.5L, 0.5L, -1, 1});
  expect_values(oracle::preprocess(a, {.center = oracle::Center::feature}), {-1.5L, -2, 1.5L, 2});
  expect_values(
      oracle::preprocess(a, {.center = oracle::Center::point, .scale = oracle::Scale::unit}),
      {-0.1L, 0.1L, -0.1L, 0.1L});
  const Matrix unit = oracle::preprocess(
      a, {.center = oracle::Center::point, .scale = oracle::Scale::none, .normalize = true});
  expect_values(unit, {-std::sqrt(0.5L), std::sqrt(0.5L), -std::sqrt(0.5L), std::sqrt(0.5L)});
}

TEST(OraclePreprocess, makes_constant_points_and_features_exactly_zero) {
  const Matrix a = matrix(3, 3, {0.1L, 0.1L, 0.1L, 0.7L, 0.7L, 0.7L, 1e9L / 7, 1e9L / 7, 1e9L / 7});
  for (const Real v : oracle::preprocess(a, {.center = oracle::Center::point}).values)
    EXPECT_EQ(v, 0);
  const Matrix b = matrix(3, 1, {0.1L, 0.1L, 0.1L});
  for (const Real v : oracle::preprocess(b, {.center = oracle::Center::feature}).values)
    EXPECT_EQ(v, 0);
}

TEST(OraclePreprocess, root_mean_square_is_over_points) {
  expect_near(oracle::root_mean_square(matrix(2, 2, {3, 4, 0, 1})), std::sqrt(13.0L));
}

// ---- kernels -----------------------------------------------------------------------------------

TEST(OracleKernel, follows_the_definitions) {
  // <x, y> = 2, ||x||^2 = 5, ||y||^2 = 1, ||x - y||^2 = 2, ||x - y||_1 = 2
  const Matrix a = matrix(2, 2, {2, 1, 1, 0});
  const auto between = [&](oracle::Kernel kernel) {
    const Matrix k = oracle::kernel_matrix(a, kernel);
    EXPECT_EQ(k(0, 1), k(1, 0));
    return k(0, 1);
  };
  expect_near(between({.type = oracle::KernelType::linear}), 2);
  expect_near(between({.type = oracle::KernelType::rbf, .gamma = 0.5L}), std::exp(-1.0L));
  expect_near(between({.type = oracle::KernelType::laplacian, .gamma = 0.25L}), std::exp(-0.5L));
  expect_near(
      between({.type = oracle::KernelType::polynomial, .gamma = 0.5L, .degree = 3, .coef0 = 2}),
      27);
  expect_near(between({.type = oracle::KernelType::cosine}), 2 / std::sqrt(5.0L));
}

TEST(OracleKernel, cosine_makes_a_zero_point_orthogonal_to_everything) {
  expect_values(
      oracle::kernel_matrix(matrix(2, 2, {3, 4, 0, 0}), {.type = oracle::KernelType::cosine}),
      {1, 0, 0, 0});
}

TEST(OracleKernel, eta_is_a_last_feature) {
  Matrix k = oracle::kernel_matrix(matrix(2, 2, {2, 1, 1, 0}), {});
  oracle::add_eta(k, 0.5L);
  expect_values(k, oracle::kernel_matrix(matrix(2, 3, {2, 1, 0.5L, 1, 0, 0.5L}), {}).values);
}

// ---- Algorithm 1 by hand -----------------------------------------------------------------------

TEST(OracleSelect, two_orthogonal_points_with_a_large_radius) {
  // Points (2, 0) and (0, 1). Step 1 picks the first: nu = 4, num = 40, den = 400, X = e_1 e_1^T.
  // Step 2 picks the second: num = 10, den = 100 + 4, f = 1 - 100 / 104.
  const auto run = oracle::select(matrix(2, 2, {4, 0, 0, 1}), {.exemplars = 2, .beta = 10});
  ASSERT_EQ(run.trace.size(), 2u);
  EXPECT_EQ(run.status, oracle::Status::exemplars_reached);
  EXPECT_EQ(run.exemplars, (std::vector<Index>{0, 1}));
  expect_near(run.f_at_zero, 5);
  expect_near(run.trace[0].score, 4);
  expect_near(run.trace[0].gap, 80);
  expect_near(run.trace[0].gamma, 0.1L);
  expect_near(run.trace[0].f, 1);
  expect_near(run.trace[0].lead, 0.75L);
  EXPECT_EQ(run.trace[0].rows, 1);
  EXPECT_EQ(run.trace[1].pick, 1);
  expect_near(run.trace[1].score, 1);
  expect_near(run.trace[1].gap, 20);
  expect_near(run.trace[1].gamma, 10 / 104.0L);
  expect_near(run.trace[1].f, 4 / 104.0L);
  EXPECT_EQ(run.trace[1].rows, 2);
  expect_values(run.x, {94 / 104.0L, 0, 0, 100 / 104.0L});
}

TEST(OracleSelect, small_radius_takes_a_full_step_then_grows) {
  // beta = 1/2: gamma = 1, X = e_1 e_1^T / 2, f = 2. Then S = X, the gap is 0, beta becomes 1 and
  // the next full step gives X = e_1 e_1^T, f = 1; after that the second point comes with beta = 1.
  const auto run = oracle::select(matrix(2, 2, {4, 0, 0, 1}), {.exemplars = 2, .beta = 0.5L});
  ASSERT_GE(run.trace.size(), 3u);
  EXPECT_EQ(run.trace[0].gamma, 1);
  expect_near(run.trace[0].f, 2);
  expect_near(run.trace[0].from_full, 1);
  EXPECT_EQ(run.trace[1].pick, 0);
  EXPECT_EQ(run.trace[1].beta, 1);
  expect_near(run.trace[1].gap, 2);
  expect_near(run.trace[1].f, 1);
  EXPECT_EQ(run.trace[1].rows, 1);
  EXPECT_EQ(run.trace[2].pick, 1);
  expect_near(run.trace[2].gap, 2);
  expect_near(run.trace[2].gamma, 1 / 5.0L);  // num 1, den 1 + 4
  expect_near(run.trace[2].f, 1 - 1 / 5.0L);
  EXPECT_EQ(run.status, oracle::Status::exemplars_reached);
}

TEST(OracleSelect, stop_ends_where_the_gap_closes) {
  const auto run =
      oracle::select(matrix(2, 2, {4, 0, 0, 1}),
                     {.exemplars = 2, .beta = 0.5L, .when_converged = oracle::WhenConverged::stop});
  EXPECT_EQ(run.status, oracle::Status::converged);
  EXPECT_EQ(run.trace.size(), 1u);
  EXPECT_EQ(run.exemplars, (std::vector<Index>{0}));
  expect_near(run.ending.gap, 0);
  EXPECT_EQ(run.beta, 0.5L);
}

TEST(OracleSelect, a_full_step_forgets_the_earlier_rows) {
  // K = diag(1, 0.99), beta = 0.02, absolute delta = 0.1; every gap below 0.1 doubles beta.
  // 1: gaps 0.04, 0.08, 0.16 at beta = 0.08: full step, X_11 = 0.08
  // 2: p = (0.92, 0.99), gaps 0.0112, 0.1696 at 0.16: num / den = 0.0848 / 0.031744, X_22 = 0.16
  // 3: p = (1, 0.8316), gaps 0.053888, 0.373888 at 0.32: num / den = 0.186944 / 0.127744, X_11 =
  // 0.32 4: p = (0.68, 0.99), gap 0.1984: num / den = 0.0992 / 0.203776, an ordinary step
  const auto run =
      oracle::select(matrix(2, 2, {1, 0, 0, 0.99L}),
                     {.exemplars = 2, .beta = 0.02L, .delta = 0.1L, .delta_absolute = true});
  ASSERT_EQ(run.trace.size(), 4u);
  const std::vector<Index> picks = {0, 1, 0, 1}, rows = {1, 1, 1, 2};
  const std::vector<Real> betas = {0.08L, 0.16L, 0.32L, 0.32L};
  const std::vector<Real> gaps = {0.16L, 0.1696L, 0.373888L, 0.1984L};
  const std::vector<Real> gammas = {1, 1, 1, 0.0992L / 0.203776L};
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_EQ(run.trace[t].pick, picks[t]) << "step " << t;
    EXPECT_EQ(run.trace[t].rows, rows[t]) << "step " << t;
    expect_near(run.trace[t].beta, betas[t]);
    expect_near(run.trace[t].gap, gaps[t]);
    expect_near(run.trace[t].gamma, gammas[t]);
  }
  expect_near(run.trace[2].f, 0.68L * 0.68L + 0.99L);
  EXPECT_EQ(run.exemplars, (std::vector<Index>{0, 1}));
}

TEST(OracleSelect, ties_go_to_the_smallest_index_and_do_not_count_as_unclear) {
  const auto run = oracle::select(matrix(3, 3, {1, 0, 0, 0, 2, 0, 0, 0, 2}), {.beta = 9});
  EXPECT_EQ(run.trace[0].pick, 1);
  expect_near(run.trace[0].lead, 0.5L);
  const auto even = oracle::select(matrix(2, 2, {2, 0, 0, 2}), {.beta = 9});
  EXPECT_EQ(even.trace[0].pick, 0);
  EXPECT_TRUE(std::isinf(even.trace[0].lead));
}

// K = [[3, -1], [-1, 2]], from the points (sqrt 3, 0) and (-1/sqrt 3, sqrt(5/3)); f(0) = 5.
const Matrix two = matrix(2, 2, {3, -1, -1, 2});

TEST(OracleSelect, q_one_moves_a_single_entry) {
  // largest entry 3 at (1, 1): S = 10 e_1 e_1^T, num = 30, den = 300, X_11 = 1, f = 5 - 3
  const auto run = oracle::select(two, {.beta = 10, .q = oracle::Norm::one});
  expect_near(run.trace[0].score, 3);
  expect_near(run.trace[0].gap, 60);
  expect_near(run.trace[0].gamma, 0.1L);
  expect_near(run.trace[0].f, 2);
  expect_near(run.trace[0].lead, 1 / 3.0L);  // of the other row's 2 over 3; inside the row 1 over 3
  expect_values(run.x, {1, 0, 0, 0});
}

TEST(OracleSelect, q_infinity_moves_a_row_of_signs) {
  // l1 norms 4 and 3: S = 10 e_1 (1, -1), num = 40, den = 200 * 3, gamma = 1/15, f = 5 - 1600/600
  const auto run = oracle::select(two, {.beta = 10, .q = oracle::Norm::infinity});
  expect_near(run.trace[0].score, 4);
  expect_near(run.trace[0].gap, 80);
  expect_near(run.trace[0].gamma, 1 / 15.0L);
  expect_near(run.trace[0].f, 5 - 8 / 3.0L);
  expect_near(run.trace[0].lead, 0.25L);
  expect_values(run.x, {2 / 3.0L, -2 / 3.0L, 0, 0});
}

TEST(OracleSelect, nonneg_sees_positive_parts_only) {
  // q = 2: positive part of row 1 is (3, 0): as q = 1 above. q = inf: S = 10 e_1 (1, 0), the same.
  for (const oracle::Norm q : {oracle::Norm::two, oracle::Norm::infinity}) {
    const auto run = oracle::select(two, {.beta = 10, .q = q, .nonneg = true});
    expect_near(run.trace[0].score, 3);
    expect_near(run.trace[0].f, 2);
    expect_values(run.x, {1, 0, 0, 0});
  }
}

TEST(OracleSelect, q_two_uses_the_row_itself) {
  // nu = sqrt 10: num = 10 sqrt 10, den = 100 * 3, gamma = sqrt(10) / 30, X_1 = (1, -1/3)
  const auto run = oracle::select(two, {.beta = 10});
  expect_near(run.trace[0].score, std::sqrt(10.0L));
  expect_near(run.trace[0].gamma, std::sqrt(10.0L) / 30);
  expect_values(run.x, {1, -1 / 3.0L, 0, 0});
  expect_near(run.trace[0].f, 5 - 10 / 3.0L);
}

TEST(OracleSelect, matching_pursuit_subtracts_projections) {
  // X_1 = p_1 / K_11 = (1, -1/3), f = 5/3, P = [[0, 0], [0, 5/3]]; then X_2 = (0, 5/6), and
  // P = P - k_2 (0, 5/6) = [[0, 5/6], [0, 0]], f = tr P - <X, P> = 5/18.
  const auto run = oracle::select(two, {.exemplars = 2, .beta = infinity});
  ASSERT_EQ(run.trace.size(), 2u);
  expect_near(run.trace[0].f, 5 / 3.0L);
  expect_near(run.trace[1].score, 5 / 3.0L);
  expect_near(run.trace[1].f, 5 / 18.0L);
  EXPECT_TRUE(std::isinf(run.trace[1].gap));
  expect_values(run.x, {1, -1 / 3.0L, 0, 5 / 6.0L});
  EXPECT_EQ(run.status, oracle::Status::exemplars_reached);
}

TEST(OracleSelect, endings) {
  using oracle::Status, oracle::WhenConverged;
  const Matrix zero(3, 3);
  const Matrix equal = matrix(3, 3, std::vector<Real>(9, 2));
  EXPECT_EQ(oracle::select(zero, {.beta = 5}).status, Status::exhausted);
  EXPECT_TRUE(oracle::select(zero, {.beta = 5}).exemplars.empty());
  EXPECT_EQ(oracle::select(zero, {.beta = 5, .when_converged = WhenConverged::stop}).status,
            Status::converged);
  EXPECT_EQ(oracle::select(zero, {.beta = infinity}).status, Status::converged);
  for (const Real beta : {0.01L, 1.0L, 100.0L}) {
    const auto run = oracle::select(equal, {.exemplars = 3, .beta = beta});
    EXPECT_EQ(run.status, Status::exhausted) << "beta " << double(beta);
    EXPECT_EQ(run.exemplars, (std::vector<Index>{0}));
  }
  EXPECT_EQ(oracle::select(equal, {.exemplars = 3, .beta = infinity}).status, Status::converged);
  const auto cut = oracle::select(two, {.exemplars = 2, .beta = 0.5L, .max_iterations = 1});
  EXPECT_EQ(cut.status, Status::iteration_limit);
  EXPECT_EQ(cut.trace.size(), 1u);
}

TEST(OracleSelect, grows_after_fifty_steps_without_a_new_row) {
  // Three orthogonal points, the last one tiny: at beta = 1.9 the optimum shares the radius between
  // the first two (soft thresholding), so that the third is not reached before beta grows.
  const auto run = oracle::select(matrix(3, 3, {4, 0, 0, 0, 3, 0, 0, 0, 1e-3L}),
                                  {.exemplars = 3, .beta = 1.9L, .max_iterations = 2000});
  Index stale = 0;
  bool grew_by_count = false;
  for (std::size_t t = 1; t < run.trace.size(); ++t) {
    const auto& before = run.trace[t - 1];
    stale = before.rows > (t > 1 ? run.trace[t - 2].rows : 0) ? 0 : stale + 1;
    if (stale < 50) {
      EXPECT_EQ(run.trace[t].beta, before.beta) << "step " << t;
    } else {
      EXPECT_EQ(run.trace[t].beta, 2 * before.beta) << "step " << t;
      grew_by_count = true;
      stale = 0;
    }
  }
  EXPECT_TRUE(grew_by_count);
  EXPECT_EQ(run.status, oracle::Status::exemplars_reached);
}

// ---- certificate -------------------------------------------------------------------------------

TEST(OracleCertificate, of_a_matrix_by_hand) {
  // X = (1, -1/3; 0, 0): P = [[0, 0], [0, 5/3]], <X, P> = 0, gap = 2 * 2 * 5/3
  const auto c = oracle::certify(two, matrix(2, 2, {1, -1 / 3.0L, 0, 0}), {}, 2);
  expect_near(c.f, 5 / 3.0L);
  expect_near(c.f_at_zero, 5);
  expect_near(c.gap, 20 / 3.0L);
  expect_near(c.radius_used, std::sqrt(10.0L) / 3);
}

TEST(OracleCertificate, projection_error_by_hand) {
  // onto (1, 0): the second coordinates remain
  const Matrix a = matrix(3, 2, {1, 0, 1, 1, 0, 2});
  expect_near(oracle::projection_error(a, {0}), 5);
  expect_near(oracle::projection_error(a, {0, 1}), 0);
  expect_near(oracle::projection_error(a, {}), 7);
  const Matrix k = oracle::kernel_matrix(a, {});
  expect_near(oracle::projection_error_of_kernel(k, {0}), 5);
  expect_near(oracle::projection_error_of_kernel(k, {2, 0, 1}), 0);
}

TEST(OracleCertificate, projection_error_ignores_repeated_directions) {
  fwsr::Rng rng(5);
  Matrix a = random_points(rng, 9, 4);
  for (Index j = 0; j < 4; ++j) a(1, j) = 3 * a(0, j);
  const Real once = oracle::projection_error(a, {0, 2});
  expect_near(oracle::projection_error(a, {0, 1, 2}), once);
  expect_near(oracle::projection_error_of_kernel(oracle::kernel_matrix(a, {}), {0, 1, 2}), once,
              1e-16);
}

TEST(OracleCertificate, boolean_objective_by_hand) {
  // T = {1}: K_TT + rho^2 = 3 + 1 = 4; 5 - (9 + 1) / 4 + lambda
  expect_near(oracle::boolean_objective(two, {0}, 0.5L, 1), 0.5L + 5 - 2.5L);
  // rho -> 0 leaves the projection error
  expect_near(oracle::boolean_objective(two, {0}, 0, 1e-12L),
              oracle::projection_error_of_kernel(two, {0}));
}

// ---- invariants --------------------------------------------------------------------------------

struct Setting {
  oracle::Norm q;
  bool nonneg;
  Real beta;
};

TEST(OracleInvariants, descent_gap_constraint_and_from_scratch) {
  const std::vector<Setting> settings = {
      {oracle::Norm::two, false, 0.7L},  {oracle::Norm::two, false, 30},
      {oracle::Norm::one, false, 6},     {oracle::Norm::infinity, false, 6},
      {oracle::Norm::two, true, 6},      {oracle::Norm::one, true, 2},
      {oracle::Norm::infinity, true, 1},
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    fwsr::Rng rng(seed);
    const Index n = 5 + static_cast<Index>(rng.below(20)),
                d = 1 + static_cast<Index>(rng.below(12));
    const Matrix k = oracle::kernel_matrix(random_points(rng, n, d), {});
    for (const Setting& s : settings) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " q " << int(s.q) << " nonneg "
                                      << s.nonneg << " beta " << double(s.beta));
      oracle::Settings how{.exemplars = std::min<Index>(n, 6),
                           .beta = s.beta,
                           .q = s.q,
                           .nonneg = s.nonneg,
                           .max_iterations = 100};
      const auto run = oracle::select(k, how);
      how.from_scratch = true;
      const auto again = oracle::select(k, how);

      ASSERT_EQ(run.trace.size(), again.trace.size());
      Real before = run.f_at_zero;
      for (std::size_t t = 0; t < run.trace.size(); ++t) {
        const auto& step = run.trace[t];
        EXPECT_LE(step.f, before + 1e-16L * run.f_at_zero) << "step " << t;
        EXPECT_GE(step.gap, -1e-16L * run.f_at_zero) << "step " << t;
        EXPECT_EQ(step.pick, again.trace[t].pick) << "step " << t;
        expect_near(step.f / run.f_at_zero, again.trace[t].f / run.f_at_zero, 1e-15);
        before = step.f;
      }
      EXPECT_LE(sum_of_row_norms(run.x, s.q), run.beta * (1 + 1e-16L));
      if (s.nonneg) {
        EXPECT_GE(*std::min_element(run.x.values.begin(), run.x.values.end()), 0);
      }
      const auto c = oracle::certify(k, run.x, how, run.beta);
      expect_near(c.f / run.f_at_zero, before / run.f_at_zero, 1e-15);
    }
  }
}

TEST(OracleInvariants, lemma_1_no_full_step_when_beta_exceeds_n) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    fwsr::Rng rng(seed);
    const Index n = 3 + static_cast<Index>(rng.below(20)),
                d = 1 + static_cast<Index>(rng.below(12));
    const Matrix k = oracle::kernel_matrix(random_points(rng, n, d), {});
    const auto run = oracle::select(k, {.exemplars = n,
                                        .beta = 1.01L * static_cast<Real>(n),
                                        .when_converged = oracle::WhenConverged::stop,
                                        .max_iterations = 200});
    Real before = run.f_at_zero;
    for (std::size_t t = 0; t < run.trace.size(); ++t) {
      const auto& step = run.trace[t];
      EXPECT_LT(step.gamma, 1) << "seed " << seed << " step " << t;
      // f_{t+1} = f_t - num^2 / den, with num = gap / 2 and gamma = num / den
      expect_near(step.f / run.f_at_zero, (before - step.gamma * step.gap / 2) / run.f_at_zero,
                  1e-16);
      before = step.f;
    }
  }
}

TEST(OracleInvariants, double_matrices_give_the_same_picks) {
  fwsr::Rng rng(11);
  const Matrix k = oracle::kernel_matrix(random_points(rng, 40, 15), {});
  const auto fine = oracle::select(k, {.exemplars = 10, .beta = 100});
  const auto coarse = oracle::select(oracle::rounded(k), {.exemplars = 10, .beta = 100});
  EXPECT_EQ(fine.exemplars, coarse.exemplars);
}

}  // namespace
