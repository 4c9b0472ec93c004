// Choosing under conditions against the literal algorithm under the same conditions, in every form.
#include "fwsr/solver/conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/solver/device.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep.hpp"
#include "lent_rows.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"
#include "random_conditions.hpp"
#include "same.hpp"

namespace {

using fwsr::Index;
using fwsr::KernelBy;
using fwsr::KernelType;
using oracle::Real;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

using random_conditions::add_conditions;
using random_conditions::below;
using random_conditions::chance;
using random_conditions::expect_kept;
using random_conditions::Points;
using random_conditions::print;
using random_conditions::Tally;
using random_conditions::try_problem;

TEST(Conditions, agree_with_the_oracle_on_random_problems) {
  const auto [from, to, one] = random_conditions::Seeds(0, 1000);
  Tally tally;
  for (std::uint64_t seed = from; seed < to; ++seed) {
    auto problem = problems::make_problem(seed);
    add_conditions(problem, 0.35);
    ASSERT_EQ(fwsr::find_problem(problem.options, problem.data.rows(), problem.data.cols()),
              std::nullopt)
        << problems::describe(problem);
    try_problem(problem, fwsr::plan(problem.data.view(), problem.options), tally);
  }
  if (one) return;
  print("conditions", tally);
  EXPECT_GE(tally.problems, 800);
  EXPECT_GE(10 * tally.whole, 7 * tally.problems);
  for (const char* name : {"candidates", "included", "weights", "costs", "groups", "budget",
                           "until_error", "budget_spent", "error_reached", "exemplars_reached",
                           "covariance", "representer held", "gradient held"})
    EXPECT_GE(tally.seen[name], 20) << name;
}

TEST(Conditions, agree_with_the_oracle_on_a_card) {
  const fwsr::Cards cards = fwsr::find_cards();
  if (cards.names.empty()) GTEST_SKIP() << cards.why_none;
  const auto [from, to, one] = random_conditions::Seeds(20000, 21200);
  Tally tally;
  for (std::uint64_t seed = from; seed < to; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    if (fwsr::is_sparse(problem.data.view())) continue;
    o.q = fwsr::Norm::two;
    o.nonneg = o.fill = false;
    o.lambda.reset(), o.rho.reset();
    o.rank = 0;
    if (o.kernel.type != KernelType::cosine) o.kernel = {.type = KernelType::linear};
    add_conditions(problem, 0.35);
    o.conditions.at_least = {};
    if (o.conditions.at_most.empty()) o.conditions.groups = {};
    o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
    ASSERT_EQ(fwsr::find_problem(o, problem.data.rows(), problem.data.cols()), std::nullopt)
        << problems::describe(problem);
    const fwsr::Plan plan = fwsr::plan(problem.data.view(), o);
    ASSERT_EQ(plan.device, "cuda");
    try_problem(problem, plan, tally);
  }
  if (one) return;
  print("conditions on a card", tally);
  EXPECT_GE(tally.problems, 300);
  EXPECT_GE(10 * tally.whole, 7 * tally.problems);
  for (const char* name : {"candidates", "included", "weights", "costs", "groups", "budget",
                           "until_error", "budget_spent", "error_reached", "exemplars_reached"})
    EXPECT_GE(tally.seen[name], 20) << name;
}

/// Sparse points that are all equal, less their mean: inner products are differences of larger ones.
TEST(Conditions, what_centring_leaves_of_equal_sparse_points_is_told_as_rounding) {
  Tally tally;
  for (const std::uint64_t seed : {91808u, 63178u, 63241u, 80387u, 81796u}) {
    auto problem = problems::make_problem(seed);
    add_conditions(problem, 0.35);
    try_problem(problem, fwsr::plan(problem.data.view(), problem.options), tally);
  }
  EXPECT_GE(tally.seen["nothing left"], 4);
}

TEST(Conditions, are_kept_by_every_form) {
  Tally tally;
  const auto [from, to, one] = random_conditions::Seeds(6000, 6300);
  for (std::uint64_t seed = from; seed < to; ++seed) {
    auto problem = problems::make_problem(seed);
    problem.options.q = fwsr::Norm::two;
    problem.options.nonneg = false;
    add_conditions(problem, 0.5);
    fwsr::Plan plan = fwsr::plan(problem.data.view(), problem.options);
    for (const auto& [form, kernel_by] : compare::forms_for(problem.options.kernel.type)) {
      plan.form = form;
      plan.kernel_by = kernel_by;
      try_problem(problem, plan, tally);
    }
  }
  if (one) return;
  print("conditions in every form", tally);
  EXPECT_GE(10 * tally.whole, 8 * tally.problems);
  for (const char* name :
       {"covariance", "representer held", "representer tiles", "representer products",
        "representer given", "gradient held", "gradient given"})
    EXPECT_GE(tally.seen[name], 20) << name;
}

/// f* <= f of the best run we can afford: the gap bounds the distance of an earlier one from it.
TEST(Conditions, the_gap_bounds_the_distance_from_the_best) {
  Index tried = 0;
  for (std::uint64_t seed = 7000; seed < 7080; ++seed) {
    auto problem = problems::make_problem(seed);
    if (problem.data.rows() > 60 || problem.options.lambda) continue;
    fwsr::SelectOptions& o = problem.options;
    o.when_converged = fwsr::WhenConverged::stop;
    o.alpha.reset();
    o.beta = 5.0;
    o.delta = 1e-8, o.delta_absolute = false;
    o.max_iterations.reset();
    add_conditions(problem, 0.4);
    o.budget.reset(), o.until_error.reset();
    o.conditions.groups = {}, o.conditions.at_least = {}, o.conditions.at_most = {};
    SCOPED_TRACE(problems::describe(problem));
    const Index n = problem.data.rows();
    o.exemplars = fwsr::candidate_count(o.conditions, n);
    const auto part = [&](Index steps) {
      o.max_iterations = steps;
      return fwsr::select(problem.data.view(), o);
    };
    const fwsr::Selection early = part(5), late = part(3000);
    const double scale = early.f_at_zero;
    EXPECT_GE(early.certificate->gap, early.certificate->f - late.certificate->f - 1e-6 * scale);
    EXPECT_LE(late.certificate->f, early.certificate->f + 1e-6 * scale);
    ++tried;
  }
  EXPECT_GE(tried, 30);
}

// ------------------------------------------------------------------------------- equal to something else

fwsr::SelectOptions plain(Index k) {
  fwsr::SelectOptions o;
  o.exemplars = k;
  o.codes = o.assignment = true;
  return o;
}

TEST(Conditions, that_ask_nothing_change_no_bit) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    auto problem = problems::make_problem(seed);
    SCOPED_TRACE(problems::describe(problem));
    const fwsr::Selection without = fwsr::select(problem.data.view(), problem.options);
    const Index n = problem.data.rows();
    fwsr::Conditions& c = problem.options.conditions;
    c.candidates.assign(at(n), true);
    if (problem.options.q == fwsr::Norm::two) c.weights.assign(at(n), 1.0);
    c.costs.assign(at(n), 1.0);
    c.groups = fwsr::Labels(std::vector<int>(at(n), 3));
    c.at_most.each = n;
    same::expect_same(without, fwsr::select(problem.data.view(), problem.options));
  }
}

TEST(Conditions, whole_weights_are_repeated_points) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    fwsr::Rng rng(seed + 1);
    const Index n = 20 + below(rng, 40), d = 1 + below(rng, 12);
    const Points points(n, d, seed);
    fwsr::SelectOptions o = plain(1 + below(rng, 8));
    if (seed % 3 == 1) o.kernel = {.type = KernelType::rbf, .gamma = 0.05};
    if (seed % 3 == 2) o.alpha = 3.0;
    o.eta = seed % 2 ? 0.5 : 0.0;
    const random_conditions::Repeated repeated(points, rng);
    o.conditions.weights = repeated.copies;
    const fwsr::Selection weighted = fwsr::select(points.data.view(), o);
    o.conditions = {};
    const fwsr::Selection copied = fwsr::select(repeated.data.view(), o);
    ASSERT_EQ(weighted.trace.size(), copied.trace.size());
    for (std::size_t t = 0; t < weighted.trace.size(); ++t) {
      ASSERT_EQ(repeated.first[at(weighted.trace[t].pick)], copied.trace[t].pick) << "step " << t;
      EXPECT_NEAR(weighted.trace[t].f, copied.trace[t].f, 1e-9 * weighted.f_at_zero);
    }
    for (std::size_t t = 0; t < weighted.exemplars.size(); ++t) {
      EXPECT_EQ(weighted.weights[t], copied.weights[t]);
      EXPECT_NEAR(weighted.strength[t], copied.strength[t], 1e-9 * (1 + copied.strength[t]));
    }
    EXPECT_NEAR(weighted.certificate->gap, copied.certificate->gap,
                1e-8 * (weighted.f_at_zero + copied.certificate->gap));
    EXPECT_NEAR(weighted.certificate->reconstruction_error,
                copied.certificate->reconstruction_error, 1e-9);
  }
}

/// Points less their projections on some of them, by Gram-Schmidt, twice.
std::vector<double> projected(std::vector<double> a, Index n, Index d,
                              const std::vector<Index>& taken) {
  std::vector<std::vector<double>> basis;
  const auto remove = [&](double* v) {
    for (int twice = 0; twice < 2; ++twice)
      for (const auto& q : basis) {
        double along = 0;
        for (Index l = 0; l < d; ++l) along += q[at(l)] * v[l];
        for (Index l = 0; l < d; ++l) v[l] -= along * q[at(l)];
      }
  };
  for (const Index t : taken) {
    std::vector<double> v(a.begin() + t * d, a.begin() + (t + 1) * d);
    remove(v.data());
    double norm = 0;
    for (const double x : v) norm += x * x;
    for (double& x : v) x /= std::sqrt(norm);
    basis.push_back(v);
  }
  for (Index i = 0; i < n; ++i) remove(a.data() + i * d);
  return a;
}

TEST(Conditions, include_is_choosing_among_what_it_leaves) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    fwsr::Rng rng(seed + 5);
    const Index n = 20 + below(rng, 60), d = 8 + below(rng, 12);
    const Points points(n, d, seed);
    fwsr::SelectOptions o = plain(1 + below(rng, 5));
    o.center = fwsr::Center::none;
    for (Index i = 0; i < n && std::ssize(o.conditions.included) < 4; i += 1 + below(rng, 7))
      o.conditions.included.push_back(i);
    const std::vector<Index> included = o.conditions.included;
    const fwsr::Selection one = fwsr::select(points.data.view(), o);

    const problems::Data left(n, d, projected(points.values, n, d, included),
                              problems::Storage::dense_f64);
    o.conditions.candidates.assign(at(n), true);
    for (const Index i : included) o.conditions.candidates[at(i)] = false;
    o.conditions.included.clear();
    const fwsr::Selection other = fwsr::select(left.view(), o);
    const auto before = static_cast<std::ptrdiff_t>(included.size());
    EXPECT_EQ(std::vector<Index>(one.exemplars.begin(), one.exemplars.begin() + before), included);
    EXPECT_EQ(std::vector<Index>(one.exemplars.begin() + before, one.exemplars.end()),
              other.exemplars);
    ASSERT_EQ(one.trace.size(), other.trace.size());
    for (std::size_t t = 0; t < one.trace.size(); ++t) {
      EXPECT_EQ(one.trace[t].pick, other.trace[t].pick);
      EXPECT_NEAR(one.trace[t].f, other.trace[t].f, 1e-9 * one.f_at_zero);
      EXPECT_NEAR(one.trace[t].gap, other.trace[t].gap, 1e-8 * (one.f_at_zero + one.trace[t].gap));
    }
    EXPECT_NEAR(one.f_at_zero, other.f_at_zero, 1e-9 * one.f_at_zero);
    EXPECT_NEAR(one.certificate->f, other.certificate->f, 1e-9 * one.f_at_zero);
  }
}

// ------------------------------------------------------------------------------------- floors and caps

TEST(Conditions, floors_and_caps_are_always_kept) {
  Index kept = 0, filled = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto problem = problems::make_problem(seed + 20000);
    fwsr::SelectOptions& o = problem.options;
    o.codes = o.assignment = false;
    o.lambda.reset(), o.rho.reset();
    o.certificate = fwsr::CertificateKind::none;
    if (!o.max_iterations) o.max_iterations = 300;
    while (o.conditions.groups.empty()) {
      problem.seed += 100000;
      o.conditions = {}, o.budget.reset(), o.until_error.reset();
      add_conditions(problem, 0.6);
    }
    SCOPED_TRACE(problems::describe(problem));
    const fwsr::Selection s = fwsr::select(problem.data.view(), o);
    expect_kept(s, o);
    ++kept;
    filled += std::count(s.filled.begin(), s.filled.end(), true) > 0;
  }
  EXPECT_EQ(kept, 1000);
  EXPECT_GE(filled, 10);  // runs that ended before their floors were met
}

// ---------------------------------------------------------------------------------------- endings, doors

TEST(Conditions, as_few_as_reach_an_error) {
  for (const KernelType kernel : {KernelType::linear, KernelType::rbf}) {
    const Points points(300, 12, 3);
    fwsr::SelectOptions o = plain(200);
    o.kernel.type = kernel;
    o.alpha = 1.0;  // the same run whatever k is
    o.until_error = 0.2;
    const fwsr::Selection s = fwsr::select(points.data.view(), o);
    EXPECT_EQ(s.status, fwsr::Status::error_reached);
    EXPECT_LE(s.certificate->reconstruction_error, 0.2 + 1e-9);
    o.until_error.reset();
    o.exemplars = static_cast<Index>(s.exemplars.size()) - 1;
    const fwsr::Selection fewer = fwsr::select(points.data.view(), o);
    EXPECT_GT(fewer.certificate->reconstruction_error, 0.2);
  }
}

TEST(Conditions, a_time_limit_ends_a_long_set_up_with_an_error_that_says_so) {
  const problems::Data data(4000, 6, std::vector<double>(24000, 1.5), problems::Storage::dense_f64);
  fwsr::SelectOptions o{.exemplars = 3};
  o.time_limit = 1e-3;
  for (const auto kernel : {fwsr::KernelType::linear, fwsr::KernelType::rbf}) {
    o.kernel.type = kernel;
    bool slept = false;
    const auto slow = [&](const fwsr::Progress& p) {
      if (!slept && p.stage == fwsr::Progress::Stage::setup)
        std::this_thread::sleep_for(std::chrono::milliseconds(1100));
      slept = true;
      return true;
    };
    try {
      fwsr::select(data.view(), o, slow);
      ADD_FAILURE() << "no error";
    } catch (const fwsr::Error& e) {
      EXPECT_NE(std::string(e.what()).find("the set-up takes about"), std::string::npos)
          << e.what();
    }
  }
}

TEST(Conditions, a_time_limit_ends_the_steps) {
  const Points points(400, 12, 3);
  fwsr::SelectOptions o = plain(8);
  o.time_limit = 1e-9;
  const fwsr::Selection s = fwsr::select(points.data.view(), o);
  EXPECT_EQ(s.status, fwsr::Status::time_limit);
  EXPECT_EQ(s.exemplars.size(), 1u);
  EXPECT_TRUE(s.certificate.has_value());
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_NE(s.warnings[0].find("the time limit came first"), std::string::npos);
}

TEST(Conditions, a_budget_stands_for_the_number_of_exemplars) {
  const Points points(50, 30, 3);
  fwsr::SelectOptions o = plain(0);
  for (Index i = 0; i < 50; ++i) o.conditions.costs.push_back(i % 2 ? 4.0 : 1.5);
  o.budget = 10.0;
  const fwsr::Selection s = fwsr::select(points.data.view(), o);
  EXPECT_EQ(s.status, fwsr::Status::budget_spent);
  expect_kept(s, o);
  EXPECT_EQ(s.plan.exemplars, 7);  // one more than it can pay
}

TEST(Conditions, hold_class_by_class) {
  const Points points(90, 9, 11);
  std::vector<std::string> names;
  for (Index i = 0; i < 90; ++i) names.push_back(i % 3 ? "odd" : "third");
  fwsr::SelectOptions o = plain(3);
  fwsr::Conditions& c = o.conditions;
  fwsr::Rng rng(5);
  for (Index i = 0; i < 90; ++i) {
    c.candidates.push_back(i % 5 != 0);
    c.weights.push_back(0.5 + rng.uniform());
    c.costs.push_back(0.5 + rng.uniform());
  }
  c.included = {3, 4};
  const auto parts =
      fwsr::select_per_class(points.data.view(), fwsr::Labels(names), {.number = 3}, o);
  ASSERT_EQ(parts.size(), 2u);
  for (const fwsr::ClassSelection& part : parts) {
    SCOPED_TRACE(part.name);
    fwsr::SelectOptions own = o;
    own.conditions = fwsr::conditions_of(c, part.members);
    std::vector<double> rows;
    for (const Index i : part.members)
      rows.insert(rows.end(), points.values.begin() + i * 9, points.values.begin() + (i + 1) * 9);
    const problems::Data alone(std::ssize(part.members), 9, rows, problems::Storage::dense_f64);
    const fwsr::Selection wanted = fwsr::select(alone.view(), own);
    ASSERT_EQ(part.selection.exemplars.size(), 4u);
    EXPECT_TRUE(part.selection.included[0]);
    for (std::size_t t = 0; t < 4; ++t)
      EXPECT_EQ(part.selection.exemplars[t], part.members[at(wanted.exemplars[t])]);
    same::expect_same_bits(part.selection.weights, wanted.weights, "weights");
  }
  o.budget = 5.0;
  EXPECT_THROW(fwsr::select_per_class(points.data.view(), fwsr::Labels(names), {.number = 3}, o),
               fwsr::OptionError);
}

TEST(Conditions, hold_in_every_setting_of_a_sweep) {
  const Points points(120, 10, 4);
  for (const KernelType kernel : {KernelType::linear, KernelType::rbf}) {
    fwsr::SelectOptions o = plain(6);
    o.kernel.type = kernel;
    for (Index i = 0; i < 120; ++i) o.conditions.candidates.push_back(i % 3 == 0);
    o.conditions.included = {1, 50};
    const auto entries = fwsr::sweep(points.data.view(), o, {1.0, 10.0}, {0.0, 0.7});
    ASSERT_EQ(entries.size(), 4u);
    for (const fwsr::SweepEntry& e : entries) {
      fwsr::SelectOptions own = o;
      own.alpha = e.alpha;
      own.eta = e.eta;
      same::expect_same(e.selection, fwsr::select(points.data.view(), own));
    }
  }
}

TEST(Conditions, are_the_same_for_streamed_points_and_any_number_of_threads) {
  const Points points(1500, 10, 4);
  fwsr::SelectOptions o = plain(7);
  fwsr::Rng rng(6);
  for (Index i = 0; i < 1500; ++i) {
    o.conditions.candidates.push_back(chance(rng, 0.1));
    o.conditions.weights.push_back(rng.uniform());
    o.conditions.costs.push_back(0.5 + rng.uniform());
  }
  o.conditions.included = {1, 500};
  const fwsr::LentRows<double> rows(std::get<fwsr::MatrixView<const double>>(points.data.view()));
  for (const KernelType kernel : {KernelType::linear, KernelType::rbf}) {
    o.kernel.type = kernel;
    o.threads = 1;
    const fwsr::Selection one = fwsr::select(points.data.view(), o);
    o.threads = 4;
    same::expect_same(one, fwsr::select(points.data.view(), o));
    same::expect_same(one, fwsr::select(rows.view(), o));
  }
}

TEST(Conditions, hold_with_a_factor_in_place_of_the_kernel) {
  const Points points(60, 5, 4);
  fwsr::SelectOptions o = plain(6);
  o.kernel.type = KernelType::rbf;
  fwsr::Rng rng(6);
  for (Index i = 0; i < 60; ++i) {
    o.conditions.candidates.push_back(chance(rng, 0.5));
    o.conditions.weights.push_back(rng.uniform());
  }
  o.conditions.included = {1, 50};
  const fwsr::Selection exact = fwsr::select(points.data.view(), o);
  o.rank = 60;  // all of the kernel
  const fwsr::Selection factored = fwsr::select(points.data.view(), o);
  EXPECT_EQ(factored.plan.kernel_by, KernelBy::factor);
  EXPECT_EQ(exact.exemplars, factored.exemplars);
  EXPECT_NEAR(exact.certificate->f, factored.certificate->f, 1e-6 * exact.f_at_zero);
  EXPECT_NEAR(exact.certificate->gap, factored.certificate->gap,
              1e-6 * (exact.f_at_zero + exact.certificate->gap));
}

}  // namespace
