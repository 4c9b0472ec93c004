// Beside included exemplars that leave all, few or most directions open: the literal algorithm, and residuals in full.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/select.hpp"
#include "lent_rows.hpp"
#include "problems.hpp"
#include "random_conditions.hpp"
#include "same.hpp"

namespace {

using fwsr::Index;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

constexpr Index d = 14, n = 80;
const std::vector<Index> ranks = {d, d - 1, d - 8, d - 9, 2, 1};

/// Points of which the first rank + 3 have numbers in the first `rank` features alone.
std::vector<double> values_of(Index rank, std::uint64_t seed) {
  fwsr::Rng rng(seed);
  std::vector<double> values(at(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l)
      values[at(i * d + l)] = i < rank + 3 && l >= rank ? 0.0 : rng.normal();
  return values;
}

std::vector<Index> first_of(Index count) {
  std::vector<Index> some;
  for (Index i = 0; i < count; ++i) some.push_back(i);
  return some;
}

/// Sums of squares over rows of d numbers, in long double.
struct Literal {
  using Row = std::vector<long double>;

  Literal(const fwsr::Points& points, Index features) : dim(points.dim()), length(features) {
    std::vector<double> row(at(dim));
    for (Index i = 0; i < points.size(); ++i) {
      points.row(i, row.data());
      rows.emplace_back(row.begin(), row.begin() + length);
    }
  }
  static long double dot(const Row& a, const Row& b) {
    long double sum = 0;
    for (std::size_t l = 0; l < a.size(); ++l) sum += a[l] * b[l];
    return sum;
  }
  static void take(Row& from, const Row& of, long double times) {
    for (std::size_t l = 0; l < from.size(); ++l) from[l] -= times * of[l];
  }
  /// Takes from all rows what these span.
  void take_span(const std::vector<Index>& of) {
    std::vector<Row> basis;
    for (const Index i : of) {
      Row own = rows[at(i)];
      const long double before = dot(own, own);
      for (int twice = 0; twice < 2; ++twice)
        for (const Row& q : basis) take(own, q, dot(own, q));
      const long double square = dot(own, own);
      if (square <= 1e-20L * before) continue;
      for (long double& v : own) v /= std::sqrt(square);
      basis.push_back(std::move(own));
    }
    for (Row& row : rows)
      for (int twice = 0; twice < 2; ++twice)
        for (const Row& q : basis) take(row, q, dot(row, q));
  }
  long double sum(const std::vector<double>& weights) const {
    long double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      sum += (weights.empty() ? 1 : weights[i]) * dot(rows[i], rows[i]);
    return sum;
  }

  Index dim, length;
  std::vector<Row> rows;
};

TEST(IncludedSpan, sums_of_residuals_are_those_of_the_points) {
  for (const Index rank : ranks)
    for (const double eta : {0.0, 0.7})
      for (const bool weighted : {false, true})
        for (const Storage storage :
             {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32}) {
          SCOPED_TRACE(std::to_string(rank) + ", eta " + std::to_string(eta) + ", weighted " +
                       std::to_string(weighted) + ", storage " +
                       std::to_string(static_cast<int>(storage)));
          fwsr::Rng rng(static_cast<std::uint64_t>(rank) + 11);
          const problems::Data data(n, d, values_of(rank, 5), storage);
          const fwsr::Points points(
              data.view(), {}, {.center = fwsr::Center::none, .eta = eta, .eta_relative = false},
              1);
          fwsr::Terms terms{.included = first_of(rank + 3)};
          for (Index i = 0; i < n && weighted; ++i) terms.weights.push_back(2 * rng.uniform());
          if (weighted) terms.weights[at(n / 2)] = 0;
          fwsr::LocalPoints set(points, 2);
          set.narrow(terms);

          const std::vector<Index> exemplars{30, 41};
          const fwsr::Coefficients theta{.basis = {30, 41, 60},
                                         .theta = {0.02, -0.01, 0.005, 0.01, 0.03, -0.02},
                                         .offset = {}};
          Literal left(points, points.dim());
          left.take_span(terms.included);
          Literal residuals = left;
          for (std::size_t i = 0; i < residuals.rows.size(); ++i)
            for (std::size_t t = 0; t < 2; ++t)
              for (std::size_t b = 0; b < 3; ++b)
                Literal::take(residuals.rows[i], left.rows[at(exemplars[t])],
                              theta.theta[t * 3 + b] *
                                  Literal::dot(left.rows[at(theta.basis[b])], left.rows[i]));
          const auto whole = static_cast<double>(Literal(points, points.dim()).sum(terms.weights));
          const fwsr::CodesOf codes{.exemplars = exemplars, .theta = theta, .left = true};
          const auto literal = static_cast<double>(residuals.sum(terms.weights));
          EXPECT_NEAR(set.residual_sum(codes), literal, 1e-13 * (whole + literal));

          // What all of them leave together, without the row of eta.
          std::vector<Index> all = terms.included;
          all.insert(all.end(), exemplars.begin(), exemplars.end());
          Literal beyond(points, d);
          const auto trace = static_cast<double>(beyond.sum(terms.weights));
          beyond.take_span(all);
          const fwsr::Regression found = set.project(all, 2);
          EXPECT_NEAR(found.projection, static_cast<double>(beyond.sum(terms.weights)),
                      1e-13 * trace);
          EXPECT_NEAR(found.trace, trace, 1e-13 * trace);
        }
}

fwsr::SelectOptions options_of(Index rank, Index k) {
  fwsr::SelectOptions o;
  o.exemplars = k;
  o.center = fwsr::Center::none;
  o.codes = o.assignment = true;
  o.conditions.included = first_of(rank + 3);
  return o;
}

TEST(IncludedSpan, choice_and_certificate_are_those_of_the_literal_algorithm) {
  random_conditions::Tally tally;
  std::uint64_t seed = 0;
  for (const Index rank : ranks) {
    if (rank == d) continue;
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32})
      for (const int kind : {0, 1, 2, 3, 4}) {
        fwsr::Rng rng(++seed);
        const Index k = std::min<Index>(4, d - rank);
        problems::Problem p{.seed = seed,
                            .kind = problems::Kind::gaussian,
                            .data = problems::Data(n, d, values_of(rank, seed), storage),
                            .options = options_of(rank, k)};
        fwsr::SelectOptions& o = p.options;
        for (Index i = 0; i < n; ++i) {
          if (kind == 1) o.conditions.weights.push_back(i % 9 == 0 ? 0 : 2 * rng.uniform());
          if (kind == 2) o.conditions.costs.push_back(0.5 + rng.uniform());
          if (kind == 3) o.conditions.candidates.push_back(i % 2 == 0 || i == n - 1);
        }
        if (kind == 4) o.eta = 0.4, o.eta_relative = false;
        random_conditions::try_problem(p, fwsr::plan(p.data.view(), o), tally);
      }
  }
  random_conditions::print("included that span much", tally);
  EXPECT_EQ(tally.problems, 75);
  EXPECT_GE(tally.whole, 60);
}

TEST(IncludedSpan, who_asks_for_more_than_is_left_is_told_the_truth) {
  for (const Index rank : ranks)
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32}) {
      SCOPED_TRACE(std::to_string(rank) + ", storage " + std::to_string(static_cast<int>(storage)));
      const problems::Data data(n, d, values_of(rank, 3), storage);
      fwsr::SelectOptions o = options_of(rank, d + 1);
      if (rank != d) o.alpha = 0;
      const fwsr::Selection s = fwsr::select(data.view(), o);
      const fwsr::Certificate& c = *s.certificate;
      EXPECT_GE(c.f, 0);
      EXPECT_GE(c.gap, 0);
      const fwsr::Points points(data.view(), {}, {.center = fwsr::Center::none}, 1);
      Literal left(points, d);
      const auto whole = static_cast<double>(left.sum({}));
      left.take_span(s.exemplars);
      EXPECT_NEAR(c.reconstruction_error, static_cast<double>(left.sum({})) / whole, 1e-12);
      double stand = 0;
      for (const double w : s.weights) stand += w;
      EXPECT_EQ(stand, static_cast<double>(n));
      const bool told = std::any_of(s.warnings.begin(), s.warnings.end(), [](const std::string& w) {
        return w.find("included span all") != std::string::npos;
      });
      EXPECT_EQ(told, rank == d);
      if (rank != d) continue;
      EXPECT_EQ(s.status, fwsr::Status::exhausted);
      EXPECT_EQ(s.exemplars, o.conditions.included);
      EXPECT_EQ(s.f_at_zero, 0);
      EXPECT_LE(c.f, c.f_error);
      EXPECT_LE(c.gap, c.gap_error);
    }
}

TEST(IncludedSpan, streamed_points_and_threads_change_no_bit) {
  for (const Index rank : ranks) {
    const problems::Data data(n, d, values_of(rank, 8), Storage::dense_f64);
    const fwsr::LentRows<double> rows(std::get<fwsr::MatrixView<const double>>(data.view()));
    for (const bool codes : {false, true}) {
      fwsr::SelectOptions o = options_of(rank, 3);
      o.codes = codes;
      o.threads = 1;
      const fwsr::Selection one = fwsr::select(data.view(), o);
      o.threads = 3;
      same::expect_same(one, fwsr::select(data.view(), o));
      same::expect_same(one, fwsr::select(rows.view(), o));
    }
  }
}

}  // namespace
