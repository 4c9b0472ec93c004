// Methods that choose one exemplar after the other, under conditions: every pick against all that might have been taken, by
// the definition of what the method looks for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"
#include "problems.hpp"
#include "random_conditions.hpp"
#include "ridge.hpp"
#include "same.hpp"

namespace {

using fwsr::Condition;
using fwsr::Index;
using fwsr::KernelType;
using oracle::Real;
using List = std::vector<Index>;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Who may be taken after some, by the rules as they are told: candidates, caps, and floors where what is left of k is
/// only just enough for them.
List open_after(const fwsr::SelectOptions& o, Index n, const List& taken) {
  const fwsr::Conditions& c = o.conditions;
  std::map<std::string, Index> count;
  for (const Index j : taken)
    if (!c.groups.empty()) ++count[c.groups[at(j)]];
  Index missing = 0;
  for (const std::string& name : c.groups.names())
    missing += std::max<Index>(0, c.at_least.of(name).value_or(0) - count[name]);
  const bool only_missing = missing > 0 && o.exemplars - std::ssize(taken) <= missing;
  List open;
  for (const Index i : fwsr::candidates_of(c, n)) {
    if (std::find(taken.begin(), taken.end(), i) != taken.end()) continue;
    if (!c.groups.empty()) {
      const std::string name = c.groups[at(i)];
      if (count[name] >= c.at_most.of(name).value_or(n)) continue;
      if (only_missing && count[name] >= c.at_least.of(name).value_or(0)) continue;
    }
    open.push_back(i);
  }
  return open;
}

/// What a method looks for in i after `taken`, the larger the better: from K, its weights and what is included.
using Score = Real (*)(const oracle::Matrix<Real>& k, const fwsr::Conditions& c, const List& taken,
                       Index i);

List with(List list, Index i) {
  list.push_back(i);
  return list;
}

List after_included(const fwsr::Conditions& c, const List& taken) {
  List all = c.included;
  all.insert(all.end(), taken.begin(), taken.end());
  return all;
}

Real lowers_error(const oracle::Matrix<Real>& k, const fwsr::Conditions& c, const List& taken,
                  Index i) {
  const auto left = [&](const List& list) {
    return ridge::g_beside(k, c.weights, after_included(c, list), {}, 0);
  };
  return left(taken) - left(with(taken, i));
}

constexpr Real mu = 0.2L;  // in units of the mean K_ii
Real lowers_ridge_form(const oracle::Matrix<Real>& k, const fwsr::Conditions& c, const List& taken,
                       Index i) {
  const Real mean = ridge::g_beside(k, c.weights, {}, {}, 0) / fwsr::weight_of_all(c, k.rows);
  const auto left = [&](const List& list) {
    return ridge::g_beside(k, c.weights, c.included, list, mu * mean);
  };
  return left(taken) - left(with(taken, i));
}

/// sum_j s_j <r_i, r_j>^2
Real correlates(const oracle::Matrix<Real>& k, const fwsr::Conditions& c, const List& taken,
                Index i) {
  const List all = after_included(c, taken);
  const oracle::Matrix<Real> y = ridge::explained(k, all, std::vector<Real>(all.size(), 0));
  Real sum = 0;
  for (Index j = 0; j < k.rows; ++j) {
    Real left = k(i, j);
    for (Index p = 0; p < y.rows; ++p) left -= y(p, i) * y(p, j);
    sum += (c.weights.empty() ? 1 : c.weights[at(j)]) * left * left;
  }
  return sum;
}

Real distance(const oracle::Matrix<Real>& k, const fwsr::Conditions& c, const List& taken,
              Index i) {
  Real nearest = std::numeric_limits<Real>::infinity();
  for (const Index t : after_included(c, taken))
    nearest = std::min(nearest, k(i, i) + k(t, t) - 2 * k(i, t));
  return std::sqrt(std::max<Real>(0, nearest));
}

/// ||a_i - P a_i||^2 beyond the span of what is there.
Real residual(const oracle::Matrix<Real>& k, const fwsr::Conditions& c, const List& taken,
              Index i) {
  std::vector<double> only(at(k.rows), 0.0);
  only[at(i)] = 1;
  return ridge::g_beside(k, only, after_included(c, taken), {}, 0);
}

struct Sought {
  fwsr::MethodChoice method;
  bool weights = false;
  Score score = nullptr;
};

std::vector<Sought> all_sought() {
  return {{{.name = "greedy-cssp"}, true, lowers_error},
          {{.name = "greedy-cssp", .settings = {{"mu", "0.2"}}}, true, lowers_ridge_form},
          {{.name = "omp"}, true, correlates},
          {{.name = "rrqr"}, false, residual},
          {{.name = "k-center"}, false, distance}};
}

/// Conditions that the methods take, for a problem with plain options.
void narrow(problems::Problem& p, bool weights) {
  fwsr::SelectOptions& o = p.options;
  const Index k = std::min<Index>(o.exemplars, 6);
  o = {.exemplars = k, .center = fwsr::Center::none};
  random_conditions::add_conditions(p, 0.5);
  o.budget.reset(), o.until_error.reset();
  o.conditions.costs.clear();
  if (!weights) o.conditions.weights.clear();
}

struct Seen {
  std::map<std::string, Index> picks;
  Index included = 0, groups = 0, weighted = 0;
};

void try_method(const Sought& sought, problems::Problem& problem, KernelType kernel, Seen& seen) {
  narrow(problem, sought.weights);
  fwsr::SelectOptions& o = problem.options;
  const fwsr::Conditions& c = o.conditions;
  o.kernel = {.type = kernel};
  if (kernel == KernelType::rbf) o.kernel.gamma = 0.05;
  SCOPED_TRACE(sought.method.name + ", " + problems::describe(problem));
  const fwsr::Selection s = fwsr::select(problem.data.view(), o, sought.method);
  random_conditions::expect_kept(s, o);
  const auto k = problems::reference_of(problem.data.exact(), o, s.gamma).k;
  Real largest = 0;
  for (Index i = 0; i < k.rows; ++i) largest = std::max(largest, k(i, i));
  List taken;
  for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
    if (s.included[t] || s.filled[t]) continue;
    const Index pick = s.exemplars[t];
    const List open = open_after(o, k.rows, taken);
    ASSERT_NE(std::find(open.begin(), open.end(), pick), open.end()) << pick;
    Real best = 0;
    for (const Index i : open) best = std::max(best, sought.score(k, c, taken, i));
    // The first of k-center is the most central one. Ties are 1e-8 wide, and scores keep ten digits of what rounding
    // leaves of the points.
    if (!(sought.method.name == "k-center" && t == 0)) {
      EXPECT_GE(sought.score(k, c, taken, pick), best * (1 - 1e-7L) - 1e-11L * largest)
          << "pick " << t;
    }
    taken.push_back(pick);
    ++seen.picks[sought.method.name];
  }
  seen.included += !c.included.empty();
  seen.groups += !c.groups.empty();
  seen.weighted += !c.weights.empty();
}

TEST(MethodsConditions, every_pick_is_the_best_of_those_that_may_be_taken) {
  Seen seen;
  for (const Sought& sought : all_sought())
    for (const KernelType kernel : {KernelType::linear, KernelType::rbf})
      for (std::uint64_t seed = 40000; seed < 40120; ++seed) {
        auto problem = problems::make_problem(seed);
        if (problem.data.rows() > 40 || problem.is_single()) continue;
        try_method(sought, problem, kernel, seen);
      }
  for (const auto& [method, number] : seen.picks)
    std::cout << method << ": " << number << " picks, ";
  std::cout << '\n';
  EXPECT_EQ(seen.picks.size(), 4u);
  for (const auto& [method, number] : seen.picks) EXPECT_GE(number, 150) << method;
  EXPECT_GE(seen.included, 100);
  EXPECT_GE(seen.groups, 100);
  EXPECT_GE(seen.weighted, 50);
}

TEST(MethodsConditions, random_points_are_drawn_from_those_that_may_be_taken) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    auto problem = problems::make_problem(50000 + seed);
    narrow(problem, false);
    const fwsr::SelectOptions& o = problem.options;
    SCOPED_TRACE(problems::describe(problem));
    const fwsr::MethodChoice choice{.name = "random", .settings = {}, .seed = seed};
    const fwsr::Selection s = fwsr::select(problem.data.view(), o, choice);
    random_conditions::expect_kept(s, o);
    EXPECT_EQ(std::ssize(s.exemplars), o.exemplars + std::ssize(o.conditions.included));
    EXPECT_EQ(s.exemplars, fwsr::select(problem.data.view(), o, choice).exemplars);
  }
  // Everybody who may be drawn is, now and then.
  std::set<Index> seen;
  const problems::Data data(12, 1, std::vector<double>(12, 1.0), problems::Storage::dense_f64);
  fwsr::SelectOptions o{.exemplars = 2};
  for (Index i = 0; i < 12; ++i) o.conditions.candidates.push_back(i % 3 > 0);
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const Index i :
         fwsr::select(data.view(), o,
                      fwsr::MethodChoice{.name = "random", .settings = {}, .seed = seed})
             .exemplars)
      seen.insert(i);
  EXPECT_EQ(seen, (std::set<Index>{1, 2, 4, 5, 7, 8, 10, 11}));
}

TEST(MethodsConditions, that_ask_nothing_change_no_bit) {
  for (const char* method : {"random", "k-center", "rrqr", "omp", "greedy-cssp"})
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      auto problem = problems::make_problem(51000 + seed);
      SCOPED_TRACE(std::string(method) + ", " + problems::describe(problem));
      fwsr::SelectOptions o{.exemplars = problem.options.exemplars};
      const fwsr::MethodChoice choice{.name = method};
      const fwsr::Selection without = fwsr::select(problem.data.view(), o, choice);
      const Index n = problem.data.rows();
      o.conditions.candidates.assign(at(n), true);
      if (fwsr::takes_condition(fwsr::find_method(method), Condition::weights))
        o.conditions.weights.assign(at(n), 1.0);
      const fwsr::Selection found = fwsr::select(problem.data.view(), o, choice);
      EXPECT_EQ(found.exemplars, without.exemplars);
      same::expect_same_bits(found.strength, without.strength, "strength");
      same::expect_same_bits(found.weights, without.weights, "weights");
    }
}

void ask(fwsr::SelectOptions& o, Condition condition) {
  fwsr::Conditions& c = o.conditions;
  if (condition == Condition::candidates) c.candidates.assign(30, true), c.candidates[3] = false;
  if (condition == Condition::include) c.included = {3};
  if (condition == Condition::weights) c.weights.assign(30, 2.0);
  if (condition == Condition::cost) c.costs.assign(30, 2.0);
  if (condition == Condition::groups)
    c.groups = fwsr::Labels(std::vector<int>(30, 1)), c.at_most.each = 20;
  if (condition == Condition::budget) o.budget = 20;
  if (condition == Condition::until_error) o.until_error = 0.1;
  if (condition == Condition::time_limit) o.time_limit = 1000;
}

TEST(MethodsConditions, are_taken_as_the_entry_says_or_refused_by_name) {
  std::vector<double> values;
  fwsr::Rng rng(3);
  for (int i = 0; i < 120; ++i) values.push_back(rng.normal());
  const problems::Data data(30, 4, values, problems::Storage::dense_f64);
  Index taken = 0, refused = 0;
  for (const fwsr::Method& method : fwsr::methods())
    for (const Condition condition : values_of(Condition{})) {
      SCOPED_TRACE(method.name + " under " + name_of(condition));
      fwsr::SelectOptions o{.exemplars = 3};
      ask(o, condition);
      if (takes_condition(method, condition)) {
        EXPECT_GE(
            fwsr::select(data.view(), o, fwsr::MethodChoice{.name = method.name}).exemplars.size(),
            3u);
        ++taken;
        continue;
      }
      try {
        fwsr::select(data.view(), o, fwsr::MethodChoice{.name = method.name});
        ADD_FAILURE() << "was not refused";
      } catch (const fwsr::Error& e) {
        EXPECT_NE(std::string(e.what()).find(method.name), std::string::npos) << e.what();
        ++refused;
      }
    }
  EXPECT_GE(taken, 3 * 8 + 5 * 3);
  EXPECT_GE(refused, 60);
}

}  // namespace
