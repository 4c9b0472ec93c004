// Exchange against all single exchanges, one by one, and against the definition of g.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "compare.hpp"
#include "exchange_ways.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep.hpp"
#include "problems.hpp"
#include "ridge.hpp"
#include "same.hpp"

namespace {

using fwsr::Index;
using oracle::Real;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

using exchange_ways::Prepared, exchange_ways::some_of, exchange_ways::Way, exchange_ways::ways;
using ridge::g_of_kernel;

TEST(Exchange, ends_where_no_exchange_gains_whatever_the_kernel) {
  Index exchanges = 0, problems_seen = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    fwsr::Rng random(seed);
    const Index n = 6 + static_cast<Index>(random.uniform() * 30);
    const Index d = 1 + static_cast<Index>(random.uniform() * 6);
    const Index k =
        1 + static_cast<Index>(random.uniform() * static_cast<double>(std::min<Index>(6, n - 1)));
    std::vector<double> values(at(n * d));
    for (double& v : values) v = random.normal();
    if (seed % 3 == 0)  // copies
      std::copy_n(values.begin(), 2 * d, values.begin() + 4 * d);
    const problems::Data data(
        n, d, values, seed % 2 ? problems::Storage::dense_f64 : problems::Storage::csr_f64_i32);
    for (const Way& way : ways(seed % 4 == 0 ? 0.5 : 0.0)) {
      SCOPED_TRACE(testing::Message()
                   << way.name << ", seed " << seed << ": " << n << " x " << d << ", k = " << k);
      Prepared prepared(data, way, 2);
      const auto whole = static_cast<double>(g_of_kernel(prepared.k, {}, 1));
      for (const double ridge : {0.1, 0.003, 2.0}) {
        const double mu = ridge * prepared.points->trace() / static_cast<double>(n);
        const std::vector<Index> start = some_of(n, k, random);
        const fwsr::Exchanged found = fwsr::exchange(*prepared.points, start, {.mu = mu});
        ++problems_seen;
        exchanges += found.exchanges;
        EXPECT_TRUE(found.local_optimum);
        EXPECT_NEAR(found.before, static_cast<double>(g_of_kernel(prepared.k, start, mu)),
                    1e-9 * whole);
        const Real after = g_of_kernel(prepared.k, found.exemplars, mu);
        EXPECT_NEAR(found.after, static_cast<double>(after), 1e-9 * whole);
        EXPECT_LE(found.after, found.before + 1e-12 * whole);
        const std::set<Index> distinct(found.exemplars.begin(), found.exemplars.end());
        ASSERT_EQ(distinct.size(), at(k));
        for (Index p = 0; p < k; ++p)
          for (Index j = 0; j < n; ++j) {
            if (distinct.contains(j)) continue;
            std::vector<Index> other = found.exemplars;
            other[at(p)] = j;
            EXPECT_GE(g_of_kernel(prepared.k, other, mu), after - 1e-9 * whole)
                << p << " for " << j;
          }
        // in the order of what each adds
        for (Index p = 0; p + 1 < k; ++p) {
          std::vector<Index> one(found.exemplars.begin(), found.exemplars.begin() + p + 1),
              next = one;
          next[at(p)] = found.exemplars[at(p + 1)];
          EXPECT_LE(g_of_kernel(prepared.k, one, mu),
                    g_of_kernel(prepared.k, next, mu) + 1e-9 * whole);
        }
      }
    }
  }
  std::printf("%td problems, %td exchanges\n", problems_seen, exchanges);
}

TEST(Exchange, tells_the_codes_that_g_is_of) {
  fwsr::Rng random(7);
  const Index n = 40, d = 5, k = 4;
  std::vector<double> values(at(n * d));
  for (double& v : values) v = random.normal();
  const problems::Data data(n, d, values, problems::Storage::dense_f64);
  for (const Way& way : ways(0)) {
    SCOPED_TRACE(way.name);
    Prepared prepared(data, way, 1);
    const double mu = 0.1 * prepared.points->trace() / n;
    const fwsr::Exchanged found =
        fwsr::exchange(*prepared.points, some_of(n, k, random), {.mu = mu});
    Real f = 0, radius = 0, squares = 0;  // ||A - A_T X||^2 = tr K - 2 <X, K_T> + <X, K_TT X>
    std::vector<Real> x(at(k * n));
    for (Index t = 0; t < k; ++t) {
      Real row = 0;
      for (Index i = 0; i < n; ++i) {
        for (Index l = 0; l < k; ++l)
          x[at(t * n + i)] += found.m[at(t * k + l)] * prepared.k(found.exemplars[at(l)], i);
        row += x[at(t * n + i)] * x[at(t * n + i)];
      }
      radius += std::sqrt(row);
      squares += row;
    }
    for (Index i = 0; i < n; ++i) {
      f += prepared.k(i, i);
      for (Index t = 0; t < k; ++t) {
        f -= 2 * x[at(t * n + i)] * prepared.k(found.exemplars[at(t)], i);
        for (Index l = 0; l < k; ++l)
          f += x[at(t * n + i)] * x[at(l * n + i)] *
               prepared.k(found.exemplars[at(t)], found.exemplars[at(l)]);
      }
    }
    EXPECT_NEAR(static_cast<double>(f + mu * squares), found.after,
                1e-10 * prepared.points->trace());
    EXPECT_NEAR(static_cast<double>(radius), found.radius, 1e-10 * found.radius);
  }
}

TEST(Exchange, has_the_same_bits_for_any_number_of_threads) {
  fwsr::Rng random(8);
  const Index n = 1500, d = 9, k = 12;
  std::vector<double> values(at(n * d));
  for (double& v : values) v = random.normal();
  std::copy_n(values.begin(), 200 * d, values.begin() + 900 * d);  // copies
  const problems::Data data(n, d, values, problems::Storage::dense_f32);
  for (const Way& way : ways(0)) {
    SCOPED_TRACE(way.name);
    fwsr::Rng same_start(9);
    const std::vector<Index> start = some_of(n, k, same_start);
    std::vector<fwsr::Exchanged> found;
    for (const int threads : {1, 2, 8}) {
      Prepared prepared(data, way, threads);
      found.push_back(
          fwsr::exchange(*prepared.points, start, {.mu = 0.1 * prepared.points->trace() / n}));
    }
    EXPECT_GT(found[0].exchanges, 0);
    for (const fwsr::Exchanged& other : found) {
      EXPECT_EQ(other.exemplars, found[0].exemplars);
      EXPECT_EQ(other.after, found[0].after);
      EXPECT_EQ(other.rounds, found[0].rounds);
      same::expect_same_bits(other.m, found[0].m, "M");
    }
  }
}

TEST(Exchange, ends_after_so_many_rounds_or_when_told_with_the_best_so_far) {
  fwsr::Rng random(10);
  const Index n = 400, d = 8, k = 10;
  std::vector<double> values(at(n * d));
  for (double& v : values) v = random.normal();
  const problems::Data data(n, d, values, problems::Storage::dense_f64);
  Prepared prepared(data, ways(0)[0], 2);
  const double mu = 0.1 * prepared.points->trace() / n;
  const std::vector<Index> start = some_of(n, k, random);
  const fwsr::Exchanged whole = fwsr::exchange(*prepared.points, start, {.mu = mu});
  ASSERT_GT(whole.rounds, 2);
  const fwsr::Exchanged one = fwsr::exchange(*prepared.points, start, {.mu = mu, .rounds = 1});
  EXPECT_EQ(one.rounds, 1);
  EXPECT_FALSE(one.local_optimum);
  EXPECT_LT(one.after, one.before);
  EXPECT_GT(one.after, whole.after);
  std::vector<double> told;
  const fwsr::Exchanged stopped =
      fwsr::exchange(*prepared.points, start, {.mu = mu}, [&](Index, Index, double g) {
        told.push_back(g);
        return told.size() < 2;
      });
  EXPECT_EQ(stopped.exemplars, one.exemplars);
  EXPECT_EQ(told, (std::vector<double>{whole.before, one.after}));
  const fwsr::Exchanged none = fwsr::exchange(*prepared.points, start, {.mu = mu},
                                              [](Index, Index, double) { return false; });
  EXPECT_EQ(none.exchanges, 0);
  EXPECT_EQ(std::set<Index>(none.exemplars.begin(), none.exemplars.end()),
            std::set<Index>(start.begin(), start.end()));
}

std::vector<double> some_values(Index count) {
  fwsr::Rng random(12);
  std::vector<double> values(at(count));
  for (double& v : values) v = random.normal();
  return values;
}

TEST(Exchange, that_is_stopped_leaves_exemplars) {
  const Index n = 700, d = 5;
  const problems::Data data(n, d, some_values(n * d), problems::Storage::dense_f64);
  for (const char* method : {"fwsr", "k-fwsr", "random", "k-center"})
    for (const int asked : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << method << ", stopped when asked " << asked << " times");
      int times = 0;
      const fwsr::Selection found = fwsr::select(
          data.view(), {.exemplars = 6, .refine = fwsr::Refine::exchange, .threads = 1},
          fwsr::MethodChoice{.name = method}, [&](const fwsr::Progress& p) {
            return p.stage != fwsr::Progress::Stage::exchange || ++times < asked;
          });
      EXPECT_EQ(times, asked);
      EXPECT_EQ(found.status, fwsr::Status::interrupted);
      EXPECT_EQ(found.exemplars.size(), 6u);
      EXPECT_EQ(found.filled.size(), 6u);
      EXPECT_FALSE(found.certificate);
    }
}

/// The run that stops when it was asked so many times while exchanging, and the one that finishes there.
TEST(Exchange, that_is_to_finish_goes_on_with_weights_and_certificate) {
  using fwsr::Reply;
  const Index n = 700, d = 5;
  const problems::Data data(n, d, some_values(n * d), problems::Storage::dense_f64);
  for (const char* method : {"fwsr", "k-fwsr", "random", "k-center", "smrs"})
    for (const int asked : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << method << ", told when asked " << asked << " times");
      const bool codes = std::string(method) != "random" && std::string(method) != "k-center";
      const auto run = [&](Reply::Kind last, int& times) {
        return fwsr::select(
            data.view(),
            {.exemplars = 6, .refine = fwsr::Refine::exchange, .codes = codes, .threads = 1},
            fwsr::MethodChoice{.name = method}, [&, last](const fwsr::Progress& p) -> Reply {
              return p.stage != fwsr::Progress::Stage::exchange || ++times < asked ? Reply::go_on
                                                                                   : last;
            });
      };
      int stopped_times = 0, times = 0;
      const fwsr::Selection stopped = run(Reply::stop, stopped_times);
      const fwsr::Selection found = run(Reply::finish, times);
      ASSERT_EQ(stopped_times, asked);
      EXPECT_EQ(times, asked);
      EXPECT_EQ(found.status, fwsr::Status::interrupted);
      EXPECT_EQ(found.exemplars, stopped.exemplars);
      EXPECT_EQ(std::accumulate(found.weights.begin(), found.weights.end(), 0.0), n);
      ASSERT_TRUE(found.certificate);
      EXPECT_LT(found.certificate->reconstruction_error, 1);
      EXPECT_EQ(std::ssize(found.codes), codes ? 6 * n : 0);
      EXPECT_TRUE(std::any_of(found.warnings.begin(), found.warnings.end(), [](const auto& w) {
        return w.find("interrupted") != std::string::npos;
      }));
      EXPECT_EQ(found.refinement.has_value(), stopped.refinement.has_value());
      if (!found.refinement) continue;
      EXPECT_FALSE(found.refinement->local_optimum);
      EXPECT_EQ(found.refinement->after, stopped.refinement->after);
    }
}

/// Finish is of exchanges: whoever says it before is heard when these have begun.
TEST(Exchange, is_whole_where_finish_was_said_before_it_began) {
  const problems::Data data(60, 2, some_values(120), problems::Storage::dense_f64);
  for (const char* method : {"k-fwsr", "k-center"}) {
    const fwsr::Selection found = fwsr::select(
        data.view(), {.exemplars = 4, .refine = fwsr::Refine::exchange},
        fwsr::MethodChoice{.name = method}, [](const fwsr::Progress& p) -> fwsr::Reply {
          return p.stage == fwsr::Progress::Stage::exchange ? fwsr::Reply::go_on
                                                            : fwsr::Reply::finish;
        });
    EXPECT_EQ(found.status, fwsr::Status::exemplars_reached);
    EXPECT_TRUE(found.refinement->local_optimum);
  }
}

TEST(Exchange, of_classes_ends_in_all_that_are_at_it) {
  const Index n = 600, d = 4;
  const problems::Data data(n, d, some_values(n * d), problems::Storage::dense_f64);
  std::vector<std::string> labels;
  for (Index i = 0; i < n; ++i) labels.push_back(i % 2 ? "a" : "b");
  const auto parts = fwsr::select_per_class(
      data.view(), labels, fwsr::ClassCounts{.number = 5},
      {.refine = fwsr::Refine::exchange, .threads = 1}, fwsr::MethodChoice{.name = "random"},
      [](const fwsr::Progress& p) -> fwsr::Reply {
        return p.stage == fwsr::Progress::Stage::exchange ? fwsr::Reply::finish
                                                          : fwsr::Reply::go_on;
      });
  ASSERT_EQ(parts.size(), 2u);
  for (const fwsr::ClassSelection& part : parts) {
    EXPECT_EQ(part.selection.status, fwsr::Status::interrupted);
    EXPECT_EQ(std::accumulate(part.selection.weights.begin(), part.selection.weights.end(), 0.0),
              n / 2);
  }
}

TEST(Exchange, of_points_that_are_all_zero_leaves_them_as_they_are) {
  const problems::Data data(6, 3, std::vector<double>(18), problems::Storage::dense_f64);
  for (const char* method : {"random", "fwsr"}) {
    const fwsr::Selection found =
        fwsr::select(data.view(), {.exemplars = 2, .refine = fwsr::Refine::exchange},
                     fwsr::MethodChoice{.name = method});
    EXPECT_EQ(found.exemplars.size(), std::string(method) == "random" ? 2u : 0u);
    if (found.refinement) {
      EXPECT_EQ(found.refinement->after, 0);
      EXPECT_EQ(found.refinement->exchanges, 0);
    }
  }
}

/// The forms that can serve a problem.
std::vector<std::pair<fwsr::FormKind, fwsr::KernelBy>> forms_for(fwsr::KernelType kernel) {
  using fwsr::FormKind, fwsr::KernelBy, fwsr::KernelType;
  if (kernel == KernelType::linear || kernel == KernelType::cosine)
    return {{FormKind::covariance, KernelBy::none},
            {FormKind::representer, KernelBy::held},
            {FormKind::representer, KernelBy::products},
            {FormKind::gradient, KernelBy::held}};
  if (kernel == KernelType::precomputed)
    return {{FormKind::representer, KernelBy::given}, {FormKind::gradient, KernelBy::given}};
  return {{FormKind::representer, KernelBy::held},
          {FormKind::representer, KernelBy::tiles},
          {FormKind::gradient, KernelBy::held}};
}

TEST(Exchange, behind_a_run_of_any_form_ends_in_a_local_optimum_and_is_certified) {
  Index tried = 0, exchanges = 0;
  for (std::uint64_t seed = 9000; seed < 9200; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    o.q = fwsr::Norm::two;
    o.nonneg = false;
    o.rank = 0;
    o.fill = false;
    o.refine = fwsr::Refine::exchange;
    o.ridge = seed % 2 ? 0.1 : 0.5;
    fwsr::Plan plan = fwsr::plan(problem.data.view(), o);
    for (const auto& [form, kernel_by] : forms_for(o.kernel.type)) {
      plan.form = form;
      plan.kernel_by = kernel_by;
      const fwsr::Selection found = fwsr::select_points(problem.data.view(), {}, o, plan, {});
      if (found.exemplars.empty()) continue;
      SCOPED_TRACE(problems::describe(problem));
      SCOPED_TRACE(fwsr::form_of(found.plan));
      const auto reference = problems::reference_of(problem.data.exact(), o, found.gamma);
      compare::Tolerance tolerance = compare::tolerance_of(problem, found);
      compare::expect_consistent(found, o, reference, tolerance);
      ASSERT_TRUE(found.refinement.has_value());
      const fwsr::Refinement& r = *found.refinement;
      const Real whole = g_of_kernel(reference.k, {}, 1), n = static_cast<Real>(reference.k.rows);
      const Real mu = o.ridge * whole / n, after = g_of_kernel(reference.k, found.exemplars, mu);
      const auto bound = static_cast<double>(10 * tolerance.value * whole);
      EXPECT_NEAR(r.mu, static_cast<double>(mu), tolerance.value * r.mu);
      EXPECT_NEAR(r.after, static_cast<double>(after), bound);
      EXPECT_LE(r.after, r.before + bound);
      EXPECT_TRUE(r.local_optimum);
      EXPECT_EQ(found.certificate->radius_used > 0, true);
      for (std::size_t p = 0; p < found.exemplars.size(); ++p)
        for (Index j = 0; j < reference.k.rows; ++j) {
          std::vector<Index> other = found.exemplars;
          if (std::find(other.begin(), other.end(), j) != other.end()) continue;
          other[p] = j;
          EXPECT_GE(g_of_kernel(reference.k, other, mu), after - 10 * tolerance.value * whole);
        }
      ++tried;
      exchanges += r.exchanges;
    }
  }
  std::printf("%td runs, %td exchanges\n", tried, exchanges);
  EXPECT_GT(tried, 400);
}

TEST(Exchange, of_a_sweep_is_that_of_every_setting) {
  fwsr::Rng random(11);
  const Index n = 300, d = 6;
  std::vector<double> values(at(n * d));
  for (double& v : values) v = random.normal();
  const problems::Data data(n, d, values, problems::Storage::dense_f64);
  for (const fwsr::KernelType type : {fwsr::KernelType::linear, fwsr::KernelType::rbf}) {
    fwsr::SelectOptions o{.exemplars = 5,
                          .kernel = {.type = type},
                          .refine = fwsr::Refine::exchange,
                          .assignment = true};
    const auto entries = fwsr::sweep(data.view(), o, {2.0, 20.0}, {0.0, 0.5});
    ASSERT_EQ(entries.size(), 4u);
    for (const fwsr::SweepEntry& e : entries) {
      o.alpha = e.alpha;
      o.eta = e.eta;
      const fwsr::Selection one = fwsr::select(data.view(), o);
      EXPECT_EQ(e.selection.exemplars, one.exemplars);
      ASSERT_TRUE(e.selection.refinement && one.refinement);
      EXPECT_NEAR(e.selection.refinement->after, one.refinement->after, 1e-9 * one.f_at_zero);
    }
  }
}

}  // namespace
