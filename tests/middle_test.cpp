// Moving to the middle against its definition: sums of squared distances within every group, point by point.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "compare.hpp"
#include "exchange_ways.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep.hpp"
#include "problems.hpp"
#include "ridge.hpp"

namespace {

using exchange_ways::at, exchange_ways::Prepared, exchange_ways::some_of, exchange_ways::Way,
    exchange_ways::ways;
using fwsr::Index, fwsr::KernelType;
using oracle::Matrix, oracle::Real;

/// Squared distances in the space where exemplars move, from the inner products there.
Matrix<Real> distances_of(const Matrix<Real>& k) {
  Matrix<Real> d(k.rows, k.rows);
  for (Index i = 0; i < k.rows; ++i)
    for (Index j = 0; j < k.rows; ++j) d(i, j) = k(i, i) + k(j, j) - 2 * k(i, j);
  return d;
}

/// Who stands for whom: the nearest, of those equally near the first; an exemplar for itself.
std::vector<Index> groups_of(const Matrix<Real>& d, const std::vector<Index>& exemplars,
                             Real rounding) {
  std::vector<Index> groups;
  for (Index i = 0; i < d.rows; ++i) {
    Index best = 0;
    for (std::size_t t = 0; t < exemplars.size(); ++t) {
      if (d(i, exemplars[t]) < d(i, exemplars[at(best)]) - rounding) best = static_cast<Index>(t);
      if (exemplars[t] == i) {
        best = static_cast<Index>(t);
        break;
      }
    }
    groups.push_back(best);
  }
  for (std::size_t t = 0; t < exemplars.size(); ++t)
    groups[at(exemplars[t])] = static_cast<Index>(t);
  return groups;
}

struct Literal {
  std::vector<Index> exemplars;
  Index moves = 0, rounds = 0;
};
/// One group after the other: the point with the least sum of squared distances from all of it, each times exp(-gamma
/// times that of the other from the exemplar); of those equally good the first; where it is less than the exemplar's own.
Literal literal_middles(const Matrix<Real>& d, std::vector<Index> exemplars, Real gamma,
                        Real rounding, Index most = 1000) {
  Literal found{.exemplars = std::move(exemplars)};
  for (bool any = true; any && found.rounds < most; ++found.rounds) {
    any = false;
    const std::vector<Index> groups = groups_of(d, found.exemplars, rounding);
    for (std::size_t p = 0; p < found.exemplars.size(); ++p) {
      const auto sum = [&](Index i) {
        Real all = 0;
        for (Index j = 0; j < d.rows; ++j)
          if (groups[at(j)] == static_cast<Index>(p))
            all += std::exp(-gamma * d(j, found.exemplars[p])) * d(i, j);
        return all;
      };
      Index best = found.exemplars[p];
      const Real own = sum(best);
      Real least = own;
      for (Index i = 0; i < d.rows; ++i)
        if (groups[at(i)] == static_cast<Index>(p) && sum(i) < least - rounding)
          best = i, least = sum(i);
      if (best == found.exemplars[p]) continue;
      found.exemplars[p] = best;
      ++found.moves;
      any = true;
    }
  }
  return found;
}

/// The inner products of the points themselves, or K where exemplars move in the kernel's space.
Matrix<Real> space_of(const Prepared& prepared, KernelType type) {
  if (!fwsr::middle_of_points(type)) return prepared.k;
  const fwsr::Points& points = *prepared.problem.points;
  const Index n = points.size(), dim = points.dim();
  Matrix<Real> k(n, n);
  std::vector<double> rows(at(n * dim));
  points.rows(0, n, rows.data());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < dim; ++l)
        k(i, j) += static_cast<Real>(rows[at(i * dim + l)]) * rows[at(j * dim + l)];
  return k;
}

/// Of the weights, for distances between points as `prepared` has them.
Real gamma_of(const Prepared& prepared) {
  if (prepared.problem.type.type != KernelType::rbf) return 0;
  const Real unit = prepared.problem.points->unit();
  return prepared.problem.gamma() / unit / unit;
}

std::vector<double> normal_numbers(Index count, fwsr::Rng& random) {
  std::vector<double> values(at(count));
  for (double& v : values) v = random.normal();
  return values;
}

TEST(Middle, is_the_point_with_the_least_sum_of_squared_distances) {
  Index moves = 0, seen = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    fwsr::Rng random(seed);
    const Index n = 6 + static_cast<Index>(random.uniform() * 60);
    const Index d = 1 + static_cast<Index>(random.uniform() * 6);
    const Index k =
        1 + static_cast<Index>(random.uniform() * static_cast<double>(std::min<Index>(8, n - 1)));
    std::vector<double> values = normal_numbers(n * d, random);
    if (seed % 3 == 0) std::copy_n(values.begin(), 2 * d, values.begin() + 4 * d);  // copies
    if (seed % 5 == 0)
      for (double& v : values) v += 1000;  // far from the origin
    const bool dense = seed % 2 || seed % 5 == 0;
    const problems::Data data(
        n, d, values, dense ? problems::Storage::dense_f64 : problems::Storage::csr_f64_i32);
    for (const Way& way : ways(seed % 4 == 0 ? 0.5 : 0.0)) {
      const KernelType type = way.options.kernel.type;
      if (seed % 5 == 0 && !fwsr::middle_of_points(type)) continue;
      SCOPED_TRACE(testing::Message()
                   << way.name << ", seed " << seed << ": " << n << " x " << d << ", k = " << k);
      Prepared prepared(data, way, 2);
      const auto middle = fwsr::middle_points(prepared.problem, 2, {});
      const Matrix<Real> far = distances_of(space_of(prepared, type));
      const std::vector<Index> start = some_of(n, k, random);
      const Real close = 1e-9 * *std::max_element(far.values.begin(), far.values.end());
      const Literal literal = literal_middles(far, start, gamma_of(prepared), close);
      const fwsr::Moved found = fwsr::move_to_middles(*middle, start, 0);
      EXPECT_EQ(found.exemplars, literal.exemplars);
      EXPECT_EQ(found.moves, literal.moves);
      EXPECT_EQ(found.rounds, literal.rounds);
      const fwsr::Moved one = fwsr::move_to_middles(*middle, start, 1);
      EXPECT_EQ(one.exemplars, literal_middles(far, start, gamma_of(prepared), close, 1).exemplars);
      EXPECT_EQ(one.rounds, 1);
      ++seen;
      moves += found.moves;
    }
  }
  std::printf("%td problems, %td moves\n", seen, moves);
  EXPECT_GT(moves, seen);
}

TEST(Middle, lowers_the_squared_distances_round_after_round) {
  fwsr::Rng random(3);
  const Index n = 300, d = 3, k = 7;
  const problems::Data data(n, d, normal_numbers(n * d, random), problems::Storage::dense_f64);
  for (const Way& way : ways(0)) {
    SCOPED_TRACE(way.name);
    Prepared prepared(data, way, 1);
    const auto middle = fwsr::middle_points(prepared.problem, 1, {});
    const Matrix<Real> far = distances_of(space_of(prepared, way.options.kernel.type));
    const Real gamma = gamma_of(prepared);
    const auto h = [&](const std::vector<Index>& exemplars) {  // of the kernel's space
      const std::vector<Index> groups = groups_of(far, exemplars, 0);
      Real sum = 0;
      for (Index i = 0; i < n; ++i) {
        const Real least = far(i, exemplars[at(groups[at(i)])]);
        sum += gamma > 0 ? (1 - std::exp(-gamma * least)) / gamma : least;
      }
      return sum;
    };
    std::vector<Index> now = some_of(n, k, random);
    Index rounds = 0;
    for (bool moved = true; moved; ++rounds) {
      const fwsr::Middles found = middle->middles(now);
      std::vector<Index> next = now;
      Real gain = 0;
      for (std::size_t p = 0; p < now.size(); ++p)
        if (found.offers[p].gain > found.least)
          next[p] = found.offers[p].point, gain += found.offers[p].gain;
      moved = next != now;
      EXPECT_LE(h(next), h(now) - gain + 1e-9);
      now = next;
    }
    EXPECT_GT(rounds, 1);
  }
}

TEST(Middle, has_the_same_bits_for_any_number_of_threads) {
  fwsr::Rng random(8);
  const Index n = 5000, d = 9, k = 12;
  std::vector<double> values = normal_numbers(n * d, random);
  std::copy_n(values.begin(), 200 * d, values.begin() + 900 * d);  // copies
  for (const auto storage : {problems::Storage::dense_f32, problems::Storage::csr_f64_i32}) {
    const problems::Data data(n, d, values, storage);
    for (const Way& way : ways(0)) {
      if (way.by == fwsr::KernelBy::held || way.options.kernel.type == KernelType::laplacian)
        continue;  // n x n numbers
      SCOPED_TRACE(way.name);
      fwsr::Rng same_start(9);
      const std::vector<Index> start = some_of(n, k, same_start);
      std::vector<fwsr::Moved> found;
      std::vector<std::vector<double>> gains;
      for (const int threads : {1, 2, 8}) {
        const fwsr::SerialBlas serial;
        fwsr::SelectOptions o = way.options;
        o.threads = threads;
        fwsr::Plan plan = fwsr::make_plan(fwsr::facts_of(data.view(), threads), o);
        const fwsr::PreparedProblem problem = fwsr::prepare_problem(data.view(), {}, o, plan, {});
        const auto middle = fwsr::middle_points(problem, threads, {});
        gains.emplace_back();
        for (const fwsr::Offer& offer : middle->middles(start).offers)
          gains.back().push_back(offer.gain);
        found.push_back(fwsr::move_to_middles(*middle, start, 4));
      }
      EXPECT_GT(found[0].moves, 0);
      for (std::size_t t = 1; t < found.size(); ++t) {
        EXPECT_EQ(found[t].exemplars, found[0].exemplars);
        EXPECT_EQ(gains[t], gains[0]);
      }
    }
  }
}

/// What refine says of a run, from the kernel alone. `points`: the inner products of the space where exemplars move.
void expect_in_the_middle(const fwsr::Selection& found, const fwsr::Selection& exchanged,
                          const Matrix<Real>& k, const Matrix<Real>& points, Real gamma,
                          double ridge, double rounding) {
  ASSERT_TRUE(found.refinement && exchanged.refinement);
  const fwsr::Refinement& r = *found.refinement;
  const Real whole = ridge::g_of_kernel(k, {}, 1), mu = ridge * whole / static_cast<Real>(k.rows);
  const auto bound = static_cast<double>(10 * rounding * whole);
  EXPECT_EQ(r.before, exchanged.refinement->before);
  EXPECT_EQ(r.after_exchange, exchanged.refinement->after);
  EXPECT_EQ(exchanged.refinement->after_exchange, exchanged.refinement->after);
  EXPECT_EQ(exchanged.refinement->middle_rounds, 0);
  EXPECT_NEAR(r.after, static_cast<double>(ridge::g_of_kernel(k, found.exemplars, mu)), bound);
  const Matrix<Real> far = distances_of(points);
  Real spread = 0;
  for (const Real v : far.values) spread = std::max(spread, v);
  const Real close = 10 * static_cast<Real>(rounding) * static_cast<Real>(k.rows) * spread;
  EXPECT_EQ(literal_middles(far, found.exemplars, gamma, close, 1).moves, 0);
  const std::set<Index> before(exchanged.exemplars.begin(), exchanged.exemplars.end()),
      after(found.exemplars.begin(), found.exemplars.end());
  EXPECT_EQ(after.size(), found.exemplars.size());
  EXPECT_TRUE(r.moves > 0 || before == after);
}

TEST(Middle, of_a_run_of_any_form_is_where_it_should_be_and_certified) {
  using fwsr::FormKind, fwsr::KernelBy;
  Index tried = 0, moves = 0;
  for (std::uint64_t seed = 9300; seed < 9420; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    o.q = fwsr::Norm::two;
    o.nonneg = o.fill = false;
    o.rank = 0;
    const bool linear = o.kernel.type == KernelType::linear || o.kernel.type == KernelType::cosine;
    std::vector<std::pair<FormKind, KernelBy>> forms{{FormKind::representer, KernelBy::held},
                                                     {FormKind::gradient, KernelBy::held}};
    if (linear) forms.emplace_back(FormKind::covariance, KernelBy::none);
    if (linear) forms.emplace_back(FormKind::representer, KernelBy::products);
    if (!linear) forms.emplace_back(FormKind::representer, KernelBy::tiles);
    if (o.kernel.type == KernelType::precomputed)
      forms = {{FormKind::representer, KernelBy::given}, {FormKind::gradient, KernelBy::given}};
    fwsr::Plan plan = fwsr::plan(problem.data.view(), o);
    for (const auto& [form, kernel_by] : forms) {
      plan.form = form;
      plan.kernel_by = kernel_by;
      o.refine = fwsr::Refine::exchange;
      const fwsr::Selection exchanged = fwsr::select_points(problem.data.view(), {}, o, plan, {});
      if (exchanged.exemplars.empty()) continue;
      o.refine = fwsr::Refine::middle;
      const fwsr::Selection found = fwsr::select_points(problem.data.view(), {}, o, plan, {});
      SCOPED_TRACE(problems::describe(problem));
      SCOPED_TRACE(fwsr::form_of(found.plan));
      const auto reference = problems::reference_of(problem.data.exact(), o, found.gamma);
      fwsr::SelectOptions of_points = o;
      if (!linear && fwsr::middle_of_points(o.kernel.type)) {
        of_points.kernel = {};
        of_points.eta = 0;
        of_points.center = fwsr::effective_center(o);
      }
      const auto points = problems::reference_of(problem.data.exact(), of_points, found.gamma);
      const compare::Tolerance tolerance = compare::tolerance_of(problem, found);
      compare::expect_consistent(found, o, reference, tolerance);
      const Real gamma = o.kernel.type == KernelType::rbf ? found.gamma : 0;
      expect_in_the_middle(found, exchanged, reference.k, points.k, gamma, o.ridge,
                           tolerance.value);
      ++tried;
      moves += found.refinement->moves;
    }
  }
  std::printf("%td runs, %td moves\n", tried, moves);
  EXPECT_GT(tried, 200);
  EXPECT_GT(moves, tried);
}

TEST(Middle, with_a_factor_is_in_the_space_of_the_points) {
  fwsr::Rng random(5);
  const Index n = 700, d = 20, k = 9;
  const problems::Data data(n, d, normal_numbers(n * d, random), problems::Storage::dense_f32);
  for (const KernelType type : {KernelType::rbf, KernelType::laplacian}) {
    const fwsr::SelectOptions o{.exemplars = k,
                                .kernel = {.type = type},
                                .rank = 30,  // leaves most of the points out
                                .refine = fwsr::Refine::middle};
    const fwsr::Selection found = fwsr::select(data.view(), o);
    EXPECT_GT(found.refinement->moves, 0);
    // Of the kernel itself where that is not a function of squared distances.
    const auto reference = problems::reference_of(
        data.exact(),
        {.exemplars = k,
         .kernel = {.type = type == KernelType::rbf ? KernelType::linear : type,
                    .gamma = found.gamma},
         .center = fwsr::Center::none},
        found.gamma);
    EXPECT_EQ(literal_middles(distances_of(reference.k), found.exemplars,
                              type == KernelType::rbf ? found.gamma : 0, 1e-4, 1)
                  .moves,
              0);
  }
}

TEST(Middle, behind_other_methods_and_in_sweeps) {
  fwsr::Rng random(12);
  const Index n = 400, d = 5;
  const problems::Data data(n, d, normal_numbers(n * d, random), problems::Storage::dense_f64);
  const auto reference =
      problems::reference_of(data.exact(), {.exemplars = 6, .center = fwsr::Center::none}, 0);
  const Matrix<Real> far = distances_of(reference.k);
  for (const KernelType type : {KernelType::linear, KernelType::rbf})
    for (const char* method : {"random", "greedy-cssp", "kmedoids"}) {
      SCOPED_TRACE(method);
      const fwsr::Selection found = fwsr::select(
          data.view(), {.exemplars = 6, .kernel = {.type = type}, .refine = fwsr::Refine::middle},
          fwsr::MethodChoice{.name = method});
      EXPECT_GT(found.refinement->middle_rounds, 0);
      EXPECT_EQ(literal_middles(far, found.exemplars, found.gamma, 1e-9, 1).moves, 0);
    }
  fwsr::SelectOptions o{.exemplars = 5,
                        .kernel = {.type = KernelType::rbf},
                        .center = fwsr::Center::none,
                        .refine = fwsr::Refine::middle};
  for (const fwsr::SweepEntry& e : fwsr::sweep(data.view(), o, {2.0, 20.0}, {0.0, 0.5})) {
    o.alpha = e.alpha;
    o.eta = e.eta;
    EXPECT_EQ(e.selection.exemplars, fwsr::select(data.view(), o).exemplars);
    EXPECT_EQ(literal_middles(far, e.selection.exemplars, e.selection.gamma, 1e-9, 1).moves, 0);
  }
}

TEST(Middle, that_is_stopped_leaves_exemplars) {
  fwsr::Rng random(12);
  const Index n = 900, d = 5;
  const problems::Data data(n, d, normal_numbers(n * d, random), problems::Storage::dense_f64);
  for (const char* method : {"fwsr", "k-fwsr", "random"}) {
    const auto run = [&](int stop_at, int& asked, fwsr::Reply::Kind end = fwsr::Reply::stop) {
      return fwsr::select(
          data.view(), {.exemplars = 15, .refine = fwsr::Refine::middle, .threads = 1},
          fwsr::MethodChoice{.name = method}, [&, end](const fwsr::Progress& p) -> fwsr::Reply {
            return p.stage != fwsr::Progress::Stage::exchange || ++asked != stop_at
                       ? fwsr::Reply::go_on
                       : end;
          });
    };
    int all = 0;
    const fwsr::Selection whole = run(0, all);
    ASSERT_GT(whole.refinement->middle_rounds, 0);
    ASSERT_GT(all, 8);
    for (const int stop_at : {all, all - 1, all - 4, all / 2}) {
      SCOPED_TRACE(testing::Message() << method << ", stopped when asked " << stop_at << " times");
      int asked = 0;
      const fwsr::Selection found = run(stop_at, asked);
      EXPECT_EQ(asked, stop_at);
      EXPECT_EQ(found.status, fwsr::Status::interrupted);
      EXPECT_EQ(std::set<Index>(found.exemplars.begin(), found.exemplars.end()).size(), 15u);
      EXPECT_FALSE(found.certificate);
      int asked_again = 0;
      const fwsr::Selection finished = run(stop_at, asked_again, fwsr::Reply::finish);
      EXPECT_EQ(asked_again, stop_at);
      EXPECT_EQ(finished.status, fwsr::Status::interrupted);
      EXPECT_EQ(finished.exemplars, found.exemplars);
      EXPECT_EQ(finished.weights.size(), 15u);
      EXPECT_TRUE(finished.certificate);
    }
  }
}

TEST(Middle, of_points_that_are_all_the_same_moves_nobody) {
  const problems::Data data(6, 3, std::vector<double>(18, 2.5), problems::Storage::dense_f64);
  const fwsr::Selection found = fwsr::select(data.view(),
                                             {.exemplars = 2,
                                              .kernel = {.type = KernelType::rbf, .gamma = 1.0},
                                              .refine = fwsr::Refine::middle},
                                             fwsr::MethodChoice{.name = "random"});
  EXPECT_EQ(found.exemplars.size(), 2u);
  EXPECT_EQ(found.refinement->moves, 0);
}

}  // namespace
