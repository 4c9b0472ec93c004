// Exchange under conditions against all permitted exchanges, one by one, and the definition of g beside what is included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "lent_rows.hpp"
#include "problems.hpp"
#include "random_conditions.hpp"
#include "ridge.hpp"
#include "same.hpp"

namespace {

using fwsr::Index;
using fwsr::KernelType;
using oracle::Real;
using random_conditions::add_conditions;
using random_conditions::below;
using random_conditions::chance;
using random_conditions::expect_kept;
using random_conditions::Points;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Those that were chosen: not there already, not filled in.
std::vector<Index> chosen_of(const fwsr::Selection& s) {
  std::vector<Index> chosen;
  for (std::size_t t = 0; t < s.exemplars.size(); ++t)
    if (!s.included[t] && !s.filled[t]) chosen.push_back(s.exemplars[t]);
  return chosen;
}

/// The rules of an exchange, one by one.
class Rules {
 public:
  Rules(const fwsr::SelectOptions& o, std::vector<Index> start, bool error_reached,
        const problems::Reference& reference)
      : o_(o), c_(o.conditions), error_reached_(error_reached), reference_(reference) {
    if (o.budget)
      most_ = *o.budget * (1 + 1e-12);
    else if (!c_.costs.empty())
      most_ = cost_of(start) * (1 + 1e-12);
  }

  bool permitted(const std::vector<Index>& chosen, std::size_t p, Index j) const {
    const auto found = [&](const auto& list) {
      return std::find(list.begin(), list.end(), j) != list.end();
    };
    if (found(chosen) || found(c_.included)) return false;
    if (!c_.candidates.empty() && !c_.candidates[at(j)]) return false;
    std::vector<Index> now = chosen;
    now[p] = j;
    if (most_ && cost_of(now) > *most_) return false;
    for (const std::string& name : c_.groups.names()) {
      const Index before = count(chosen, name), after = count(now, name);
      if (after > before && after > c_.at_most.of(name).value_or(after)) return false;
      if (after < before && after < c_.at_least.of(name).value_or(0)) return false;
    }
    return true;
  }

  /// Where the error was reached: whether these leave more than rounding less than it allows.
  bool keeps_error(const std::vector<Index>& chosen) const {
    if (!error_reached_) return true;
    std::vector<Index> all = c_.included;
    all.insert(all.end(), chosen.begin(), chosen.end());
    const Real left = ridge::g_beside(reference_.plain, c_.weights, all, {}, 0);
    const Real whole = ridge::g_beside(reference_.plain, c_.weights, {}, {}, 0);
    return left <= (*o_.until_error - 1e-9L) * whole;
  }

 private:
  double cost_of(const std::vector<Index>& chosen) const {
    double sum = 0;
    for (const Index j : chosen) sum += c_.costs.empty() ? 1.0 : c_.costs[at(j)];
    return sum;
  }
  Index count(const std::vector<Index>& chosen, const std::string& group) const {
    return std::count_if(chosen.begin(), chosen.end(),
                         [&](Index j) { return c_.groups[at(j)] == group; });
  }

  const fwsr::SelectOptions& o_;
  const fwsr::Conditions& c_;
  std::optional<double> most_;
  bool error_reached_;
  const problems::Reference& reference_;
};

struct Tally {
  Index problems = 0, exchanges = 0, better = 0;
  random_conditions::Seen seen;
};

/// Whether the answer is a local optimum among what is permitted, and g what it is by definition.
void expect_optimal(const problems::Problem& problem, const fwsr::Selection& found,
                    const fwsr::Selection& start, Tally& tally) {
  const fwsr::SelectOptions& o = problem.options;
  const fwsr::Conditions& c = o.conditions;
  const auto reference = problems::reference_of(problem.data.exact(), o, found.gamma);
  const compare::Tolerance tolerance = compare::tolerance_of(problem, found);
  const std::vector<Index> chosen = chosen_of(found), before = chosen_of(start);
  ASSERT_EQ(chosen.size(), before.size());
  if (chosen.empty()) return;
  ASSERT_TRUE(found.refinement.has_value());
  const fwsr::Refinement& r = *found.refinement;
  const Real whole = ridge::g_beside(reference.k, c.weights, {}, {}, 0);
  const Real mu = o.ridge * whole / fwsr::weight_of_all(c, reference.k.rows);
  const auto g = [&](const std::vector<Index>& list) {
    return ridge::g_beside(reference.k, c.weights, c.included, list, mu);
  };
  const auto bound = static_cast<double>(tolerance.value * whole);
  EXPECT_NEAR(r.mu, static_cast<double>(mu), tolerance.value * r.mu);
  EXPECT_NEAR(r.before, static_cast<double>(g(before)), bound);
  const Real after = g(chosen);
  EXPECT_NEAR(r.after, static_cast<double>(after), bound);
  EXPECT_LE(r.after, r.before + bound);
  const bool reached = start.status == fwsr::Status::error_reached;
  if (reached && found.certificate) {
    EXPECT_LE(found.certificate->reconstruction_error, *o.until_error + tolerance.value);
  }
  ++tally.problems;
  tally.exchanges += r.exchanges;
  tally.seen["no local optimum"] += !r.local_optimum;
  tally.seen["error reached"] += reached;
  if (!r.local_optimum) {  // only where exchanges were refused for the error, again and again
    EXPECT_TRUE(reached);
    return;
  }
  const Rules rules(o, before, reached, reference);
  for (std::size_t p = 0; p < chosen.size(); ++p)
    for (Index j = 0; j < reference.k.rows; ++j) {
      std::vector<Index> other = chosen;
      other[p] = j;
      const bool may = rules.permitted(chosen, p, j);
      if (std::find(chosen.begin(), chosen.end(), j) != chosen.end()) continue;
      if (!may || g(other) >= after - bound) {
        tally.better += !may && g(other) < after - bound;
        continue;
      }
      EXPECT_FALSE(rules.keeps_error(other)) << chosen[p] << " for " << j << ", gains "
                                             << static_cast<double>((after - g(other)) / whole);
      tally.better += 1;
    }
}

TEST(ExchangeConditions, ends_where_no_permitted_exchange_gains_on_a_card) {
  const fwsr::Cards cards = fwsr::find_cards();
  if (cards.names.empty()) GTEST_SKIP() << cards.why_none;
  Tally tally;
  const auto [from, to, one] = random_conditions::Seeds(40000, 41200);
  for (std::uint64_t seed = from; seed < to; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    if (problem.data.rows() > 60 || fwsr::is_sparse(problem.data.view())) continue;
    o.q = fwsr::Norm::two;
    o.nonneg = o.fill = false;
    o.lambda.reset(), o.rho.reset();
    o.rank = 0;
    o.kernel = {.type = KernelType::linear};
    o.ridge = seed % 2 ? 0.1 : 0.5;
    o.exemplars = std::min<Index>(o.exemplars, 7);
    add_conditions(problem, 0.4);
    o.conditions.at_least = {};
    if (o.conditions.at_most.empty()) o.conditions.groups = {};
    o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
    SCOPED_TRACE(problems::describe(problem));
    const auto chosen = [&](fwsr::Refine refine) {
      o.refine = refine;
      return fwsr::select(problem.data.view(), o);
    };
    const fwsr::Selection start = chosen(fwsr::Refine::none);
    const fwsr::Selection found = chosen(fwsr::Refine::exchange);
    expect_kept(found, o);
    expect_optimal(problem, found, start, tally);
    random_conditions::see(found.plan, o, tally.seen);
  }
  if (one) return;
  std::cout << "on a card: " << tally.problems << " runs, " << tally.exchanges << " exchanges, "
            << tally.better << " better ones not permitted;"
            << random_conditions::text_of(tally.seen) << '\n';
  EXPECT_GE(tally.problems, 150);
  EXPECT_GE(tally.better, 100);
  for (const char* name :
       {"candidates", "included", "weights", "costs", "groups", "budget", "error reached"})
    EXPECT_GE(tally.seen[name], 10) << name;
}

TEST(ExchangeConditions, ends_where_no_permitted_exchange_gains_in_every_form) {
  Tally tally;
  const auto [from, to, one] = random_conditions::Seeds(30000, 30600);
  for (std::uint64_t seed = from; seed < to; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    if (problem.data.rows() > 60) continue;
    o.q = fwsr::Norm::two;
    o.nonneg = o.fill = false;
    o.rank = 0;
    o.ridge = seed % 2 ? 0.1 : 0.5;
    o.exemplars = std::min<Index>(o.exemplars, 7);
    add_conditions(problem, 0.4);
    SCOPED_TRACE(problems::describe(problem));
    fwsr::Plan plan = fwsr::plan(problem.data.view(), o);
    for (const auto& [form, kernel_by] : compare::forms_for(o.kernel.type)) {
      plan.form = form;
      plan.kernel_by = kernel_by;
      SCOPED_TRACE(form_of(plan));
      const auto chosen = [&](fwsr::Refine refine) {
        o.refine = refine;
        return fwsr::select_points(problem.data.view(), {}, o, plan, {});
      };
      const fwsr::Selection start = chosen(fwsr::Refine::none);
      const fwsr::Selection found = chosen(fwsr::Refine::exchange);
      expect_kept(found, o);
      expect_optimal(problem, found, start, tally);
      const auto reference = problems::reference_of(problem.data.exact(), o, found.gamma);
      auto tolerance = compare::tolerance_of(problem, found);
      const Real whole = ridge::g_beside(reference.k, o.conditions.weights, {}, {}, 0);
      const auto taken = static_cast<double>(whole) / std::max(1e-300, found.f_at_zero);
      tolerance.value *= taken, tolerance.score *= taken;
      if (taken < 1e4) compare::expect_consistent(found, o, reference, tolerance);
      random_conditions::see(found.plan, o, tally.seen);
    }
  }
  if (one) return;
  std::cout << tally.problems << " runs, " << tally.exchanges << " exchanges, " << tally.better
            << " better ones not permitted;" << random_conditions::text_of(tally.seen) << '\n';
  EXPECT_GE(tally.problems, 500);
  EXPECT_GE(tally.better, 500);
  EXPECT_LE(20 * tally.seen["no local optimum"], tally.problems);
  for (const char* name : {"candidates", "included", "weights", "costs", "groups", "budget",
                           "error reached", "covariance", "representer held", "representer tiles",
                           "representer products", "representer given", "gradient held"})
    EXPECT_GE(tally.seen[name], 20) << name;
}

/// Problems whose kernel in float32 told the radius of the codes to fewer digits than the codes have.
TEST(ExchangeConditions, codes_are_feasible_in_their_own_ball) {
  for (const std::uint64_t seed : {61393u, 61480u, 69496u, 69673u}) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    o.q = fwsr::Norm::two;
    o.nonneg = false;
    o.rank = 0;
    if (!o.max_iterations) o.max_iterations = 300;
    add_conditions(problem, 0.5);
    o.refine = fwsr::Refine::exchange;
    SCOPED_TRACE(problems::describe(problem));
    fwsr::Plan plan = fwsr::plan(problem.data.view(), o);
    plan.form = fwsr::FormKind::representer;
    plan.kernel_by = fwsr::KernelBy::tiles;
    const fwsr::Selection s = fwsr::select_points(problem.data.view(), {}, o, plan, {});
    EXPECT_TRUE(s.certificate->feasible);
    EXPECT_EQ(s.certificate->beta, s.beta);
    EXPECT_LE(s.certificate->radius_used, s.beta * (1 + 1e-6));
  }
}

TEST(ExchangeConditions, that_ask_nothing_leave_the_default_method_as_it_is) {
  for (std::uint64_t seed = 500; seed < 520; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    if (problem.data.rows() > 60 || o.kernel.type == KernelType::precomputed) continue;
    o = {.exemplars = std::min<Index>(o.exemplars, 6), .assignment = true};
    const fwsr::MethodChoice method{.name = "exchange"};
    const fwsr::Selection plain = fwsr::select(problem.data.view(), o, method);
    const std::size_t n = at(problem.data.rows());
    o.conditions.weights.assign(n, 1.0);
    o.conditions.costs.assign(n, 1.0);
    o.conditions.candidates.assign(n, true);
    const fwsr::Selection asked = fwsr::select(problem.data.view(), o, method);
    EXPECT_EQ(asked.exemplars, plain.exemplars) << seed;
    EXPECT_EQ(asked.assignment, plain.assignment) << seed;
    EXPECT_EQ(asked.refinement->moves, plain.refinement->moves) << seed;
  }
}

TEST(ExchangeConditions, holds_for_the_default_method) {
  Tally tally;
  for (std::uint64_t seed = 31000; seed < 31200; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    if (problem.data.rows() > 60 || o.kernel.type == KernelType::precomputed) continue;
    o = {.exemplars = std::min<Index>(o.exemplars, 6), .codes = false, .assignment = true};
    add_conditions(problem, 0.4);
    if (!fwsr::is_conditional(o)) continue;  // else exemplars move to the middle as well
    SCOPED_TRACE(problems::describe(problem));
    const fwsr::Selection found =
        fwsr::select(problem.data.view(), o, fwsr::MethodChoice{.name = "exchange"});
    expect_kept(found, o);
    // The same by the solver, told what the method has found to suit the points.
    o.kernel.type = found.plan.kernel;
    if (found.gamma > 0) o.kernel.gamma = found.gamma;
    const fwsr::Selection start = fwsr::select(problem.data.view(), o);
    expect_optimal(problem, found, start, tally);
  }
  EXPECT_GE(tally.problems, 80);
}

TEST(ExchangeConditions, holds_behind_other_methods) {
  for (const char* method : {"random", "k-center", "greedy-cssp"}) {
    Tally tally;
    for (std::uint64_t seed = 32000; seed < 32150; ++seed) {
      auto problem = problems::make_problem(seed);
      fwsr::SelectOptions& o = problem.options;
      if (problem.data.rows() > 60) continue;
      o = {.exemplars = std::min<Index>(o.exemplars, 6), .center = fwsr::Center::none};
      if (seed % 2) o.kernel = {.type = KernelType::rbf, .gamma = 0.05};
      add_conditions(problem, 0.4);
      o.budget.reset(), o.until_error.reset();
      o.conditions.costs.clear();
      if (method != std::string("greedy-cssp")) o.conditions.weights.clear();
      SCOPED_TRACE(method + (", " + problems::describe(problem)));
      const auto chosen = [&](fwsr::Refine refine) {
        o.refine = refine;
        return fwsr::select(problem.data.view(), o, fwsr::MethodChoice{.name = method});
      };
      const fwsr::Selection start = chosen(fwsr::Refine::none);
      const fwsr::Selection found = chosen(fwsr::Refine::exchange);
      expect_kept(found, o);
      expect_optimal(problem, found, start, tally);
    }
    EXPECT_GE(tally.problems, 60) << method;
    EXPECT_GE(tally.exchanges, 20) << method;
  }
}

/// Points of which many are alike: exchanges have much to do.
fwsr::SelectOptions exchanging(Index k) {
  fwsr::SelectOptions o;
  o.exemplars = k;
  o.refine = fwsr::Refine::exchange;
  o.codes = o.assignment = true;
  return o;
}

TEST(ExchangeConditions, that_ask_nothing_change_no_bit) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    auto problem = problems::make_problem(seed);
    fwsr::SelectOptions& o = problem.options;
    o.q = fwsr::Norm::two;
    o.nonneg = false;
    o.refine = fwsr::Refine::exchange;
    SCOPED_TRACE(problems::describe(problem));
    const fwsr::Selection without = fwsr::select(problem.data.view(), o);
    const Index n = problem.data.rows();
    fwsr::Conditions& c = o.conditions;
    c.candidates.assign(at(n), true);
    c.weights.assign(at(n), 1.0);
    c.costs.assign(at(n), 1.0);
    c.groups = fwsr::Labels(std::vector<int>(at(n), 3));
    c.at_most.each = n;
    o.budget = static_cast<double>(o.exemplars);
    o.time_limit = 1e6;
    const fwsr::Selection with = fwsr::select(problem.data.view(), o);
    EXPECT_EQ(with.exemplars, without.exemplars);
    same::expect_same_bits(with.weights, without.weights, "weights");
    if (!without.refinement) continue;
    EXPECT_EQ(with.refinement->after, without.refinement->after);
    EXPECT_EQ(with.refinement->exchanges, without.refinement->exchanges);
  }
}

TEST(ExchangeConditions, are_the_same_for_streamed_points_and_any_number_of_threads) {
  const Points points(1500, 10, 4);
  fwsr::SelectOptions o = exchanging(7);
  fwsr::Rng rng(6);
  for (Index i = 0; i < 1500; ++i) {
    o.conditions.candidates.push_back(chance(rng, 0.3));
    o.conditions.weights.push_back(rng.uniform());
    o.conditions.costs.push_back(0.5 + rng.uniform());
    o.conditions.groups.add(chance(rng, 0.5) ? "a" : "b");
  }
  o.conditions.at_least.each = 2;
  o.conditions.included = {1, 500};
  const fwsr::LentRows<double> rows(std::get<fwsr::MatrixView<const double>>(points.data.view()));
  Index exchanges = 0;
  for (const KernelType kernel : {KernelType::linear, KernelType::rbf}) {
    o.kernel.type = kernel;
    for (const Index rank : {Index{0}, Index{40}}) {
      if (rank > 0 && kernel == KernelType::linear) continue;
      o.rank = rank;
      o.threads = 1;
      const fwsr::Selection one = fwsr::select(points.data.view(), o);
      exchanges += one.refinement->exchanges;
      o.threads = 4;
      same::expect_same(one, fwsr::select(points.data.view(), o));
      same::expect_same(one, fwsr::select(rows.view(), o));
    }
  }
  EXPECT_GT(exchanges, 0);
}

TEST(ExchangeConditions, hold_with_a_factor_in_place_of_the_kernel) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Points points(60, 5, seed);
    fwsr::SelectOptions o = exchanging(6);
    o.kernel.type = KernelType::rbf;
    fwsr::Rng rng(seed + 6);
    for (Index i = 0; i < 60; ++i) {
      o.conditions.candidates.push_back(chance(rng, 0.5));
      o.conditions.weights.push_back(rng.uniform());
    }
    o.conditions.included = {1, 50};
    o.rank = 60;  // all of the kernel
    problems::Problem problem;
    problem.data = points.data;
    problem.options = o;
    const fwsr::Selection found = fwsr::select(points.data.view(), o);
    EXPECT_EQ(found.plan.kernel_by, fwsr::KernelBy::factor);
    o.refine = fwsr::Refine::none;
    Tally tally;
    expect_optimal(problem, found, fwsr::select(points.data.view(), o), tally);
    EXPECT_EQ(tally.problems, 1);
  }
}

TEST(ExchangeConditions, whole_weights_are_repeated_points) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    fwsr::Rng rng(seed + 1);
    const Index n = 20 + below(rng, 40), d = 3 + below(rng, 12);
    const Points points(n, d, seed);
    fwsr::SelectOptions o = exchanging(1 + below(rng, 6));
    if (seed % 2) o.kernel = {.type = KernelType::rbf, .gamma = 0.05};
    const random_conditions::Repeated repeated(points, rng);
    o.conditions.weights = repeated.copies;
    const fwsr::Selection weighted = fwsr::select(points.data.view(), o);
    o.conditions = {};  // with a ridge a copy of an exemplar may add something: here it may not
    o.conditions.candidates.assign(at(repeated.n), false);
    for (const Index i : repeated.first) o.conditions.candidates[at(i)] = true;
    const fwsr::Selection copied = fwsr::select(repeated.data.view(), o);
    std::vector<Index> as_copies;
    for (const Index e : weighted.exemplars) as_copies.push_back(repeated.first[at(e)]);
    EXPECT_EQ(as_copies, copied.exemplars);
    EXPECT_NEAR(weighted.refinement->after, copied.refinement->after,
                1e-9 * copied.refinement->before);
    EXPECT_NEAR(weighted.refinement->mu, copied.refinement->mu, 1e-12 * copied.refinement->mu);
  }
}

TEST(ExchangeConditions, a_time_limit_leaves_what_there_is_and_says_so) {
  const Points points(400, 12, 3);
  fwsr::SelectOptions o = exchanging(1);
  o.time_limit = 1e-9;  // the first step is always taken, and then k is reached
  const fwsr::Selection s = fwsr::select(points.data.view(), o);
  EXPECT_EQ(s.status, fwsr::Status::time_limit);
  ASSERT_TRUE(s.refinement.has_value());
  EXPECT_EQ(s.refinement->rounds, 0);
  EXPECT_FALSE(s.refinement->local_optimum);
  EXPECT_TRUE(s.certificate.has_value());
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_NE(s.warnings[0].find("ended the exchanges after 0 visits"), std::string::npos);
  o.exemplars = 5;
  const fwsr::Selection shorter = fwsr::select(points.data.view(), o);
  EXPECT_EQ(shorter.exemplars.size(), 1u);
  EXPECT_FALSE(shorter.refinement.has_value());
  ASSERT_EQ(shorter.warnings.size(), 2u);
  EXPECT_NE(shorter.warnings[1].find("before the first exchange"), std::string::npos);
}

}  // namespace
