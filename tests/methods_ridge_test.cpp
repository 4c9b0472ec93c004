// greedy-cssp and omp with a ridge and through a factor of the kernel, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "lent_rows.hpp"
#include "method_tests.hpp"
#include "problems.hpp"
#include "ridge.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

using oracle::Matrix;
using oracle::Real;
using problems::Data;
using problems::Kind;
using problems::Storage;

/// The points, or their kernel, and how to regress on some of them.
struct Literal {
  const Matrix<Real>& data;
  Real mu;
  std::function<Matrix<Real>(const Matrix<Real>&, const std::vector<Index>&, Real)> left_of;

  Matrix<Real> left(const std::vector<Index>& chosen) const { return left_of(data, chosen, mu); }
};

enum class Rule { gain, correlation, cosine };

/// What the rule makes largest: of `gain` by how much g falls, g from its definition both times.
Real score(const Literal& l, Rule rule, const std::vector<Index>& chosen, const Matrix<Real>& left,
           const Matrix<Real>& start, Index i) {
  if (rule == Rule::gain) {
    std::vector<Index> more = chosen;
    more.push_back(i);
    return ridge::trace(left) - ridge::trace(l.left(more));
  }
  Real t = 0;  // ||A^T P a_i||^2
  for (Index j = 0; j < left.rows; ++j) t += left(i, j) * left(i, j);
  return rule == Rule::cosine ? t / start(i, i) : t;
}

/// Every pick is the best given those before, but for ties and rounding, and has this score as its strength.
/// Rounding moves a^T P a by some units in the last place of the largest ||a||^2, where s of it is left.
void follow(const Literal& l, Rule rule, const Selection& s, Index wanted,
            const Matrix<Real>& raw) {
  const Matrix<Real> start = l.left({});
  const Index n = start.rows;
  Real largest = 0, whole = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, start(i, i)), whole += start(i, i);
  const auto units = static_cast<Real>(std::numeric_limits<double>::epsilon()) *
                     static_cast<Real>(100 + 10 * wanted);
  std::vector<Index> chosen;
  for (std::size_t step = 0; step < s.exemplars.size(); ++step) {
    const Matrix<Real> left = l.left(chosen);
    const Index pick = s.exemplars[step];
    ASSERT_TRUE(pick >= 0 && pick < n);
    ASSERT_EQ(std::count(chosen.begin(), chosen.end(), pick), 0) << "twice";
    Index best = -1;
    Real most = 0;
    for (Index i = 0; i < n; ++i) {
      if (std::count(chosen.begin(), chosen.end(), i) > 0) continue;
      const Real own = score(l, rule, chosen, left, start, i);
      if (own > most) most = own, best = i;
    }
    ASSERT_GE(best, 0) << "step " << step << ": nothing is left";
    Real t = 0;
    for (Index j = 0; j < n; ++j) t += left(best, j) * left(best, j);
    const Real rounding = units * (largest / left(best, best) + whole * left(best, best) / t);
    const Real own = score(l, rule, chosen, left, start, pick);
    ASSERT_GE(own, most * (1 - 2e-8L - rounding)) << "step " << step;
    const Real told = s.strength[step], is = rule == Rule::gain ? own : std::sqrt(own);
    ASSERT_NEAR(static_cast<double>(told / is), 1, static_cast<double>(1e-8L + rounding))
        << "step " << step;
    for (Index j = 0; j < pick; ++j)
      ASSERT_FALSE(std::count(chosen.begin(), chosen.end(), j) == 0 && same_point(raw, pick, j))
          << "the first of equals";
    chosen.push_back(pick);
  }
  if (std::ssize(chosen) == wanted) return;
  for (Index i = 0; i < n; ++i)
    ASSERT_TRUE(std::count(chosen.begin(), chosen.end(), i) > 0 || start(i, i) <= 1e-20L * largest)
        << "there is another: " << i;
}

struct Case {
  const char* method;
  std::map<std::string, std::string> settings;
  Rule rule;
};
const std::vector<Case> cases = {{"greedy-cssp", {}, Rule::gain},
                                 {"omp", {}, Rule::correlation},
                                 {"omp", {{"normalize", "yes"}}, Rule::cosine}};
const std::vector<std::string> ridges = {"1e-6", "1e-4", "0.01", "0.1", "1", "10"};

MethodChoice choice_of(const Case& c, const std::string& mu) {
  MethodChoice choice{.name = c.method, .settings = c.settings};
  choice.settings["mu"] = mu;
  return choice;
}

Real mean_diagonal(const Matrix<Real>& k) {
  return ridge::trace(k) / static_cast<Real>(k.rows);
}

TEST(Ridge, every_pick_of_points_is_the_best) {
  for (const Case& c : cases)
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
      Rng rng(seed);
      const Index n = between(rng, 1, 22), d = between(rng, 1, 16);
      const Data data = random_data(rng, n, d);
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 8)));
      o.center = seed % 3 == 0 ? Center::point : seed % 3 == 1 ? Center::none : Center::feature;
      const std::string& mu = ridges[seed % ridges.size()];
      SCOPED_TRACE(testing::Message()
                   << c.method << " seed " << seed << " mu " << mu << ", " << n << " x " << d);
      const Selection s = select(data.view(), o, choice_of(c, mu));
      const auto reference = problems::reference_of(data.exact(), o, s.gamma);
      const Real weight = std::stold(mu) * mean_diagonal(reference.k);
      if (!(weight > 0)) {  // all points are zero
        EXPECT_TRUE(s.exemplars.empty());
        continue;
      }
      follow({reference.points, weight, ridge::left_of_points}, c.rule, s, o.exemplars,
             data.exact());
      if (HasFatalFailure()) return;
    }
}

TEST(Ridge, every_pick_in_the_space_of_a_kernel_is_the_best) {
  const KernelType types[] = {KernelType::rbf, KernelType::polynomial, KernelType::laplacian,
                              KernelType::cosine};
  for (const Case& c : cases)
    for (std::uint64_t seed = 0; seed < 72; ++seed) {
      Rng rng(seed);
      const Index n = between(rng, 1, 22), d = between(rng, 1, 12);
      const auto kind = static_cast<Kind>(rng.below(4));  // some with copies
      const Data data = data_of(kind, n, d, rng);
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 8)));
      o.kernel.type = types[seed % 4];
      const std::string& mu = ridges[seed % ridges.size()];
      SCOPED_TRACE(testing::Message() << c.method << " seed " << seed << " mu " << mu);
      const Selection s = select(data.view(), o, choice_of(c, mu));
      const auto reference = problems::reference_of(data.exact(), o, s.gamma);
      const Real weight = std::stold(mu) * mean_diagonal(reference.k);
      follow({reference.k, weight, ridge::left_of_kernel}, c.rule, s, o.exemplars, data.exact());
      if (HasFatalFailure()) return;
    }
}

TEST(Ridge, every_pick_of_a_given_kernel_is_the_best) {
  for (const Case& c : cases)
    for (std::uint64_t seed = 0; seed < 36; ++seed) {
      Rng rng(seed);
      const Index n = between(rng, 1, 20), d = between(rng, 1, 30);
      auto points = problems::make_values(Kind::gaussian, n, d, false, rng);
      if (n > 6) std::copy_n(points.begin(), 2 * d, points.begin() + 4 * d);  // copies
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 8)));
      o.kernel.type = KernelType::precomputed;
      const Data data = kernel_data(points, n, d);
      const Matrix<Real> exact = data.exact();
      const std::string& mu = ridges[seed % ridges.size()];
      SCOPED_TRACE(testing::Message() << c.method << " seed " << seed << " mu " << mu);
      const Selection s = select(data.view(), o, choice_of(c, mu));
      follow({exact, std::stold(mu) * mean_diagonal(exact), ridge::left_of_kernel}, c.rule, s,
             o.exemplars, exact);
      if (HasFatalFailure()) return;
    }
}

/// Points on few directions with singular values over eight decades: with the smallest ridge, all but what it leaves is
/// taken away, and most numbers have to be computed again.
TEST(Ridge, scores_keep_their_digits_when_little_is_left) {
  for (const Case& c : cases)
    for (std::uint64_t seed = 0; seed < 12; ++seed)
      for (const bool kernel : {false, true}) {
        Rng rng(seed);
        const Index n = 26, d = seed % 2 ? 12 : 30, k = 14;
        std::vector<double> values(at(n * d));
        for (Index i = 0; i < n; ++i)
          for (Index l = 0; l < d; ++l)
            values[at(i * d + l)] = rng.normal() * std::pow(10.0, -static_cast<double>(l % 9));
        const Data data(n, d, values, Storage::dense_f64);
        SelectOptions o = plain(k);
        if (kernel) o.kernel = {.type = KernelType::polynomial, .gamma = 1, .degree = 1};
        if (kernel) o.kernel.coef0 = 0;
        SCOPED_TRACE(testing::Message() << c.method << " seed " << seed << " kernel " << kernel);
        const Selection s = select(data.view(), o, choice_of(c, "1e-6"));
        EXPECT_EQ(std::ssize(s.exemplars), k);
        const auto reference = problems::reference_of(data.exact(), o, s.gamma);
        const Real weight = 1e-6L * mean_diagonal(reference.k);
        follow({reference.k, weight, ridge::left_of_kernel}, c.rule, s, k, data.exact());
        if (HasFatalFailure()) return;
      }
}

TEST(Ridge, goes_on_where_the_points_are_spanned_and_ends_where_the_rest_is_zero) {
  Rng rng(3);
  const Index n = 12, d = 2;
  std::vector<double> values(at(n * d));
  for (Index i = 0; i < 7 * d; ++i) values[at(i)] = rng.normal();  // the rest is zero
  std::copy_n(values.begin(), d, values.begin() + 2 * d);          // and two are copies
  const Data data(n, d, values, Storage::dense_f64);
  for (const KernelType type : {KernelType::linear, KernelType::polynomial})
    for (const Case& c : cases) {
      SelectOptions o = plain(10);
      o.kernel.type = type;
      if (type == KernelType::polynomial) o.kernel = {.type = type, .gamma = 1, .degree = 1};
      o.kernel.coef0 = 0;
      const Selection s = select(data.view(), o, choice_of(c, "0.1"));
      std::vector<Index> sorted = s.exemplars;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6})) << c.method;
      EXPECT_EQ(s.status, Status::exhausted);
      ASSERT_FALSE(s.warnings.empty());
      EXPECT_NE(s.warnings.front().find("asked for 10, found 7"), std::string::npos);
      const Selection without = select(data.view(), o, choice_of(c, "0"));
      EXPECT_EQ(std::ssize(without.exemplars), d);
    }
}

TEST(Ridge, of_nothing_chooses_what_the_smallest_does_where_that_is_clear) {
  Index compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Index n = between(rng, 8, 40), d = between(rng, 4, 12);
    const Data data = gaussian_data(n, d, rng);
    SelectOptions o = plain(std::min<Index>(d - 1, 4));
    if (seed % 2) o.kernel.type = KernelType::rbf;
    const Selection without = select(data.view(), o, {"greedy-cssp"});
    const Selection zero = select(data.view(), o, {"greedy-cssp", {{"mu", "0"}}});
    same::expect_same(without, zero);
    const Selection with = select(data.view(), o, {"greedy-cssp", {{"mu", "1e-6"}}});
    // A ridge moves gains by some mu / s: that of a pick is compared where the second best is farther behind.
    const auto reference = problems::reference_of(data.exact(), o, without.gamma);
    const Real weight = 1e-6L * mean_diagonal(reference.k);
    std::vector<Index> chosen;
    for (std::size_t t = 0; t < without.exemplars.size(); ++t) {
      const Matrix<Real> left = ridge::left_of_kernel(reference.k, chosen, weight);
      std::vector<Real> gains;
      for (Index i = 0; i < n; ++i) {
        Real energy = 0;
        for (Index j = 0; j < n; ++j) energy += left(i, j) * left(i, j);
        if (std::count(chosen.begin(), chosen.end(), i) == 0) gains.push_back(energy / left(i, i));
      }
      std::sort(gains.begin(), gains.end(), std::greater<>());
      if (gains[1] > gains[0] * 0.99L) break;
      ASSERT_EQ(with.exemplars[t], without.exemplars[t]) << "seed " << seed << " step " << t;
      chosen.push_back(without.exemplars[t]);
      ++compared;
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(Ridge, has_the_same_bits_for_any_number_of_threads) {
  Rng rng(8);
  const Index n = 1500, d = 9, k = 25;
  std::vector<double> values(at(n * d));
  for (double& v : values) v = rng.normal();
  std::copy_n(values.begin(), 200 * d, values.begin() + 900 * d);  // copies
  for (const Storage storage : {Storage::dense_f32, Storage::csr_f64_i32})
    for (const KernelType type : {KernelType::linear, KernelType::rbf})
      for (const Case& c : cases) {
        const Data data(n, d, values, storage);
        SelectOptions o = plain(k);
        o.kernel.type = type;
        o.threads = 1;
        const Selection one = select(data.view(), o, choice_of(c, "0.001"));
        EXPECT_EQ(std::ssize(one.exemplars), k);
        for (const int threads : {2, 7}) {
          o.threads = threads;
          const Selection many = select(data.view(), o, choice_of(c, "0.001"));
          EXPECT_EQ(one.exemplars, many.exemplars);
          same::expect_same_bits(one.strength, many.strength, "strength");
          same::expect_same_bits(one.weights, many.weights, "weights");
        }
      }
}

TEST(Ridge, of_every_class_by_itself_is_in_units_of_that_class) {
  Rng rng(9);
  const Index n = 60, d = 5;
  std::vector<double> values(at(n * d));
  std::vector<Index> members[2];
  std::vector<int> labels;
  for (Index i = 0; i < n; ++i) {
    const bool second = i % 3 == 1;
    labels.push_back(second ? 1 : 0);
    members[second].push_back(i);
    for (Index l = 0; l < d; ++l) values[at(i * d + l)] = rng.normal() * (second ? 100 : 1);
  }
  const Data data(n, d, values, Storage::dense_f64);
  for (const Case& c : cases) {
    const auto parts = select_per_class(data.view(), labels, {.number = 4, .named = {}}, plain(4),
                                        choice_of(c, "0.1"));
    ASSERT_EQ(parts.size(), 2u);
    for (std::size_t which = 0; which < 2; ++which) {
      std::vector<double> own;
      for (const Index i : members[which])
        own.insert(own.end(), values.begin() + i * d, values.begin() + (i + 1) * d);
      const Data alone(std::ssize(members[which]), d, own, Storage::dense_f64);
      const Selection s = select(alone.view(), plain(4), choice_of(c, "0.1"));
      std::vector<Index> expected;
      for (const Index e : s.exemplars) expected.push_back(members[which][at(e)]);
      EXPECT_EQ(parts[which].selection.exemplars, expected);
    }
  }
}

TEST(Ridge, is_zero_or_large_enough_for_rounding) {
  const Data data(3, 2, {1, 0, 0, 1, 1, 1}, Storage::dense_f64);
  for (const char* method : {"greedy-cssp", "omp"}) {
    for (const char* fine : {"0", "1e-6", "1e6"})
      EXPECT_EQ(select(data.view(), plain(1), {method, {{"mu", fine}}}).exemplars.size(), 1u);
    for (const char* refused : {"1e-7", "-1", "1e7"}) try {
        select(data.view(), plain(1), {method, {{"mu", refused}}});
        ADD_FAILURE() << method << " took mu = " << refused;
      } catch (const Error& e) {
        EXPECT_EQ(e.what(),
                  "mu must be 0 or between 1e-06 and 1000000, got " + std::string(refused));
      }
  }
}

// ---- through a factor of the kernel -----------------------------------------------------------------

/// The factor that a run of these options works on, and its rows as a matrix of the caller's.
struct FactorOf {
  SerialBlas serial;  // as in a run
  PreparedProblem prepared;
  PointsView rows;

  FactorOf(const PointsView& view, const SelectOptions& o, const Plan& plan)
      : prepared(prepare_problem(view, {}, o, plan, {})), rows(prepared.factor->rows()) {}
};

TEST(MethodFactor, in_place_of_the_kernel_gives_a_method_its_rows_as_points) {
  const KernelType types[] = {KernelType::rbf, KernelType::polynomial, KernelType::laplacian};
  Index seen = 0;
  for (std::uint64_t seed = 0; seed < 48; ++seed)
    for (const Case& c : cases) {
      Rng rng(seed);
      const Index n = between(rng, 3, 300), d = between(rng, 1, 12);
      const auto kind = static_cast<Kind>(rng.below(4));
      const Data data = data_of(kind, n, d, rng);
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 12)));
      o.kernel.type = types[seed % 3];
      o.rank = between(rng, 1, n + 2);
      o.assignment = true;
      const MethodChoice choice = choice_of(c, seed % 4 == 0 ? "0" : ridges[seed % ridges.size()]);
      SCOPED_TRACE(testing::Message() << c.method << " seed " << seed << ": " << n << " x " << d
                                      << ", rank " << o.rank << ", k " << o.exemplars);
      const Request request(o, choice);
      const Plan plan = request.plan(data.view());
      EXPECT_EQ(plan.kernel_by, KernelBy::factor);
      const Selection s = request.run(data.view(), plan);
      const FactorOf f(data.view(), request.options, plan);
      SelectOptions linear = plain(o.exemplars);
      linear.assignment = true;
      const Selection expected = select(f.rows, linear, choice);
      EXPECT_EQ(s.exemplars, expected.exemplars);
      EXPECT_EQ(s.status, expected.status);
      const double unit = f.prepared.factor->unit() * f.prepared.source->unit();
      for (std::size_t t = 0; t < s.strength.size(); ++t) {
        const bool cosine = c.rule == Rule::cosine;  // has the unit of a length
        EXPECT_NEAR(s.strength[t] * (cosine ? unit : unit * unit), expected.strength[t],
                    1e-12 * expected.strength[t]);
      }
      // What is said about the answer is measured with the kernel itself.
      EXPECT_EQ(s.kernel_rank, f.prepared.factor->rank());
      EXPECT_EQ(s.kernel_error, f.prepared.factor->error());
      EXPECT_EQ(s.gamma, f.prepared.gamma());
      const auto reference = problems::reference_of(data.exact(), o, s.gamma);
      for (Index i = 0; i < n && !s.exemplars.empty(); ++i) {
        const auto square = [&](Index e) {
          return reference.k(i, i) - 2 * reference.k(i, e) + reference.k(e, e);
        };
        Real least = square(s.exemplars[0]);
        for (const Index e : s.exemplars) least = std::min(least, square(e));
        EXPECT_LE(square(s.exemplars[at(s.assignment[at(i)])]),
                  least + 1e-6L * (reference.k(i, i) + least));
      }
      Real rest = 0;  // the projection: a ridge of next to nothing
      const Real tiny = 1e-12L * mean_diagonal(reference.k);
      rest = ridge::g_of_kernel(reference.k, s.exemplars, tiny) / ridge::trace(reference.k);
      ASSERT_TRUE(s.certificate);
      EXPECT_NEAR(s.certificate->reconstruction_error, static_cast<double>(rest), 1e-6);
      EXPECT_NEAR(s.f_at_zero,
                  static_cast<double>(ridge::trace(reference.k)) * (1 - *s.kernel_error),
                  1e-5 * s.f_at_zero);
      ++seen;
    }
  EXPECT_EQ(seen, 144);
}

TEST(MethodFactor, of_full_rank_chooses_as_the_kernel_does_where_that_is_clear) {
  Index compared = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const Case& c : cases) {
      Rng rng(seed);
      const Index n = between(rng, 10, 40), d = between(rng, 2, 6);
      const Data data = gaussian_data(n, d, rng);
      SelectOptions o = plain(4);
      o.kernel.type = KernelType::rbf;
      const std::string& mu = ridges[2 + seed % 4];
      const Selection exact = select(data.view(), o, choice_of(c, mu));
      o.rank = n;
      const Selection through = select(data.view(), o, choice_of(c, mu));
      const auto reference = problems::reference_of(data.exact(), o, exact.gamma);
      const Literal l{reference.k, std::stold(mu) * mean_diagonal(reference.k),
                      ridge::left_of_kernel};
      const Matrix<Real> start = l.left({});
      std::vector<Index> chosen;
      for (std::size_t t = 0; t < exact.exemplars.size(); ++t) {
        const Matrix<Real> left = l.left(chosen);
        std::vector<Real> scores;
        for (Index i = 0; i < n; ++i)
          if (std::count(chosen.begin(), chosen.end(), i) == 0)
            scores.push_back(score(l, c.rule, chosen, left, start, i));
        std::sort(scores.begin(), scores.end(), std::greater<>());
        if (scores[1] > scores[0] * (1 - 1e-6L)) break;
        ASSERT_EQ(through.exemplars[t], exact.exemplars[t]) << c.method << " seed " << seed;
        chosen.push_back(exact.exemplars[t]);
        ++compared;
      }
    }
  EXPECT_GT(compared, 400);
}

TEST(MethodFactor, of_every_class_streamed_and_with_any_threads_gives_a_method_the_same) {
  Rng rng(11);
  const Index n = 700, d = 6;
  const Data data(n, d, problems::make_values(Kind::clustered, n, d, true, rng),
                  Storage::dense_f32);
  const auto dense = std::get<MatrixView<const float>>(data.view());
  const LentRows<float> rows(dense);
  std::vector<int> labels;
  for (Index i = 0; i < n; ++i) labels.push_back(i % 3 == 0 ? 0 : 1);
  for (const Case& c : cases) {
    SelectOptions o = plain(8);
    o.kernel.type = KernelType::rbf;
    o.rank = 40;
    o.refine = Refine::exchange;
    o.threads = 1;
    const MethodChoice choice = choice_of(c, "0.1");
    const Selection one = select(data.view(), o, choice);
    const auto by_class =
        select_per_class(data.view(), labels, {.number = 5, .named = {}}, o, choice);
    for (const int threads : {2, 3}) {
      o.threads = threads;
      same::expect_same(one, select(data.view(), o, choice));
      same::expect_same(one, select(rows.view(), o, choice));
      const auto again =
          select_per_class(rows.view(), labels, {.number = 5, .named = {}}, o, choice);
      ASSERT_EQ(by_class.size(), again.size());
      for (std::size_t part = 0; part < by_class.size(); ++part)
        same::expect_same(by_class[part].selection, again[part].selection);
    }
  }
}

TEST(MethodFactor, is_what_exchange_behind_a_method_works_on) {
  Rng rng(12);
  const Index n = 400, d = 5, k = 9;
  const Data data(n, d, problems::make_values(Kind::clustered, n, d, true, rng),
                  Storage::dense_f64);
  std::vector<MethodChoice> choices = {{"random"}};
  for (const Case& c : cases) choices.push_back(choice_of(c, "0.1"));
  for (const MethodChoice& choice : choices)
    for (const Index rank : {Index{0}, Index{30}}) {
      SelectOptions o = plain(k);
      o.kernel.type = KernelType::rbf;
      o.rank = rank;
      const Selection before = select(data.view(), o, choice);
      o.refine = Refine::exchange;
      const Selection s = select(data.view(), o, choice);
      ASSERT_TRUE(s.refinement);
      EXPECT_TRUE(s.refinement->local_optimum);
      EXPECT_EQ(s.plan.kernel_by, rank > 0 ? KernelBy::factor : KernelBy::none);
      const auto reference = problems::reference_of(data.exact(), o, s.gamma);
      Matrix<Real> worked_on = reference.k;
      if (rank > 0) {
        const FactorOf f(data.view(), o, s.plan);
        const auto rows = std::get<MatrixView<const double>>(f.rows);
        const Real unit = f.prepared.factor->unit() * f.prepared.source->unit();
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            worked_on(i, j) = 0;
            for (Index l = 0; l < rows.cols; ++l)
              worked_on(i, j) += Real(rows.row(i)[at(l)]) * rows.row(j)[at(l)] / unit / unit;
          }
      }
      const Real mu = 0.1L * mean_diagonal(worked_on), whole = ridge::trace(worked_on);
      const Real after = ridge::g_of_kernel(worked_on, s.exemplars, mu);
      EXPECT_NEAR(s.refinement->after, static_cast<double>(after),
                  static_cast<double>(1e-9L * whole));
      EXPECT_NEAR(s.refinement->before,
                  static_cast<double>(ridge::g_of_kernel(worked_on, before.exemplars, mu)),
                  static_cast<double>(1e-9L * whole));
      for (std::size_t p = 0; p < s.exemplars.size(); ++p)
        for (Index j = 0; j < n; j += 7) {
          std::vector<Index> other = s.exemplars;
          if (std::count(other.begin(), other.end(), j) > 0) continue;
          other[p] = j;
          ASSERT_GE(ridge::g_of_kernel(worked_on, other, mu), after - 1e-9L * whole);
        }
    }
}

TEST(MethodFactor, is_for_kernels_that_are_computed_and_methods_that_have_the_option) {
  const Data data(4, 2, {1, 0, 0, 1, 1, 1, 2, 1}, Storage::dense_f64);
  const auto told = [&](const char* method, KernelType type) -> std::string {
    SelectOptions o = plain(1);
    o.kernel.type = type;
    o.rank = 2;
    try {
      select(data.view(), o, {method});
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  for (const char* method : {"greedy-cssp", "omp"}) {
    EXPECT_EQ(told(method, KernelType::rbf), "");
    EXPECT_EQ(told(method, KernelType::linear), told("fwsr", KernelType::linear));
  }
  EXPECT_NE(told("fwsr", KernelType::linear), "");
  EXPECT_EQ(told("k-center", KernelType::rbf).find("rank is an option of fwsr, not of k-center"),
            0u);
  SelectOptions o = plain(1);
  o.kernel.type = KernelType::rbf;
  o.rank = 2;
  const Request with(o, {"omp"});
  o.rank = 0;
  const Request without(o, {"omp"});
  EXPECT_THROW(with.run(data.view(), without.plan(data.view())), Error);
  EXPECT_THROW(without.run(data.view(), with.plan(data.view())), Error);
}

}  // namespace
}  // namespace fwsr
