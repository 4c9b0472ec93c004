// What every method of the table promises, whichever it is; quality measures and comparisons.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/quality.hpp"
#include "fwsr/methods/settings.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;
using fwsr::Method;
using fwsr::MethodChoice;
using fwsr::Selection;
using fwsr::SelectOptions;
using fwsr::Status;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

Data make(Index n, Index d, Storage storage = Storage::dense_f64, Kind kind = Kind::gaussian,
          std::uint64_t seed = 3) {
  fwsr::Rng rng(seed);
  return Data(n, d, problems::make_values(kind, n, d, true, rng), storage);
}

SelectOptions choose(Index k, int threads = 2) {
  return {.exemplars = k, .threads = threads};
}

/// Distinct points of the data, no more than asked, and all points shared out among them.
void expect_sound(const Selection& s, Index n, Index k) {
  const std::set<Index> distinct(s.exemplars.begin(), s.exemplars.end());
  EXPECT_EQ(distinct.size(), s.exemplars.size());
  EXPECT_LE(static_cast<Index>(s.exemplars.size()), k);
  EXPECT_GE(s.exemplars.size(), 1u);
  for (const Index e : s.exemplars) EXPECT_TRUE(e >= 0 && e < n) << e;
  ASSERT_EQ(s.weights.size(), s.exemplars.size());
  ASSERT_EQ(s.strength.size(), s.exemplars.size());
  EXPECT_EQ(std::accumulate(s.weights.begin(), s.weights.end(), 0.0), static_cast<double>(n));
  if (static_cast<Index>(s.exemplars.size()) < k) {
    EXPECT_NE(s.status, Status::exemplars_reached);
    EXPECT_FALSE(s.warnings.empty());
  } else {
    EXPECT_EQ(s.status, Status::exemplars_reached);
  }
  for (const double v : s.strength) EXPECT_TRUE(std::isfinite(v));
  for (const fwsr::Fact& f : s.facts) EXPECT_TRUE(std::isfinite(f.value)) << f.name;
  ASSERT_TRUE(s.certificate);
  EXPECT_GE(s.certificate->reconstruction_error, 0);
  EXPECT_LE(s.certificate->reconstruction_error, 1 + 1e-12);
}

class EveryMethod : public testing::TestWithParam<std::string> {
 protected:
  MethodChoice choice(std::uint64_t seed = 7) const { return {.name = GetParam(), .seed = seed}; }
  const Method& method() const { return fwsr::find_method(GetParam()); }
  /// Few rounds of what goes round until it has converged, where only equality matters.
  MethodChoice few_rounds(MethodChoice c) const {
    for (const fwsr::Parameter& parameter : method().parameters)
      if (parameter.name == "max_iterations") c.settings[parameter.name] = "15";
    return c;
  }
};

TEST_P(EveryMethod, gives_k_points_of_all_kinds_of_data) {
  for (const Kind kind : {Kind::gaussian, Kind::clustered, Kind::offset, Kind::nonnegative})
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f32_i64})
      for (const auto& [n, d] : {std::pair<Index, Index>{60, 8}, {25, 40}}) {
        const Data data = make(n, d, storage, kind);
        SCOPED_TRACE(std::to_string(n) + " points, kind " + std::to_string(static_cast<int>(kind)));
        const Selection s = fwsr::select(data.view(), choose(6), choice());
        expect_sound(s, n, 6);
        if (s.exemplars.size() < 6) {  // a convex program may need fewer, and says what gives more
          const std::string& told = s.warnings.front();
          EXPECT_TRUE(told.find("larger alpha") != std::string::npos ||
                      told.find("smaller tolerance") != std::string::npos)
              << told;
        }
        EXPECT_EQ(s.plan.method, GetParam());
      }
}

TEST_P(EveryMethod, meets_the_edges_of_its_domain) {
  struct Edge {
    std::string name;
    Index n, d, k;
    std::vector<double> values;
  };
  std::vector<Edge> edges = {{"one point", 1, 3, 1, {1, 2, 4}},
                             {"two points, both wanted", 2, 2, 2, {1, 0, 0, 3}},
                             {"all equal", 7, 3, 2, {}},
                             {"all zero", 7, 3, 2, std::vector<double>(21, 0.0)},
                             {"one feature", 9, 1, 1, {5, 1, 2, 3, 4, 9, 8, 7, 6}},
                             {"two points many times", 8, 2, 4, {}},
                             {"all wanted", 6, 9, 6, {}}};
  for (int i = 0; i < 7; ++i) edges[2].values.insert(edges[2].values.end(), {1.5, -2, 0.25});
  for (int i = 0; i < 4; ++i) edges[5].values.insert(edges[5].values.end(), {1, 2, -3, 0.5});
  fwsr::Rng rng(5);
  for (int i = 0; i < 54; ++i) edges[6].values.push_back(rng.normal());
  for (const Edge& e : edges) {
    SCOPED_TRACE(e.name);
    const Data data(e.n, e.d, e.values, Storage::dense_f64);
    SelectOptions o = choose(e.k);
    o.center = fwsr::Center::none;
    const Selection s = fwsr::select(data.view(), o, choice());
    if (e.name == "all zero" && s.exemplars.empty()) {
      EXPECT_EQ(s.status, Status::exhausted);
      continue;
    }
    expect_sound(s, e.n, e.k);
  }
}

TEST_P(EveryMethod, fills_up_what_is_missing) {
  std::vector<double> values;
  for (int i = 0; i < 5; ++i)
    values.insert(values.end(), {1, 2, -3, 0.5});  // two points, five times
  const Data data(10, 2, values, Storage::dense_f64);
  SelectOptions o = choose(4);
  o.center = fwsr::Center::none;
  o.fill = true;
  EXPECT_EQ(fwsr::select(data.view(), o, choice()).exemplars.size(), 4u);
}

TEST_P(EveryMethod, answers_the_same_for_any_number_of_threads) {
  for (const Storage storage : {Storage::dense_f64, Storage::dense_f32}) {
    const MethodChoice c = few_rounds(choice());  // on several blocks
    const Data large = make(1100, 12, storage, Kind::clustered);
    const bool slow = fwsr::plan(large.view(), choose(9, 1), c).setup_flops > 1e10;
    const Data data = slow ? make(520, 12, storage, Kind::clustered) : large;
    const Selection one = fwsr::select(data.view(), choose(9, 1), c);
    for (const int threads : {2, 8}) {
      const Selection other = fwsr::select(data.view(), choose(9, threads), c);
      EXPECT_EQ(one.exemplars, other.exemplars) << threads << " threads";
      EXPECT_EQ(one.weights, other.weights) << threads << " threads";
      EXPECT_EQ(one.strength, other.strength) << threads << " threads";
      ASSERT_EQ(one.facts.size(), other.facts.size());
      for (std::size_t f = 0; f < one.facts.size(); ++f)
        EXPECT_EQ(one.facts[f].value, other.facts[f].value) << one.facts[f].name;
    }
  }
}

TEST_P(EveryMethod, depends_on_the_seed_only_when_it_says_so) {
  const Data data = make(300, 6);
  const auto run = [&](std::uint64_t seed) {
    return fwsr::select(data.view(), choose(8), few_rounds(choice(seed))).exemplars;
  };
  const std::vector<Index> first = run(1);
  EXPECT_EQ(first, run(1));
  if (!fwsr::draws_at_random(method(), fwsr::settings_of(method(), {}))) {
    EXPECT_EQ(first, run(2));
  }
}

TEST_P(EveryMethod, stays_within_the_classes) {
  const Data data = make(90, 5);
  std::vector<std::string> labels;
  for (int i = 0; i < 90; ++i) labels.push_back(i % 3 == 0 ? "a" : i % 7 == 0 ? "b" : "c");
  const auto parts = fwsr::select_per_class(data.view(), labels,
                                            {.kind = fwsr::ClassCounts::Kind::each, .number = 3},
                                            choose(0), choice());
  ASSERT_EQ(parts.size(), 3u);
  for (const auto& part : parts) {
    EXPECT_EQ(part.selection.exemplars.size(), 3u);
    for (const Index e : part.selection.exemplars) EXPECT_EQ(labels[at(e)], part.name);
  }
}

TEST_P(EveryMethod, stops_when_told) {
  const Data data = make(400, 10);
  const Selection s =
      fwsr::select(data.view(), choose(20), choice(), [](const fwsr::Progress&) { return false; });
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_FALSE(s.certificate);
}

TEST_P(EveryMethod, states_its_memory_and_keeps_to_it) {
  const Data data = make(500, 20);
  SelectOptions o = choose(5);
  const fwsr::Plan plan = fwsr::plan(data.view(), o, choice());
  EXPECT_GT(plan.memory_bytes, 0);
  EXPECT_FALSE(plan.why.empty());
  o.memory = 1000;
  EXPECT_THROW(fwsr::plan(data.view(), o, choice()), fwsr::MemoryError);
  EXPECT_THROW(fwsr::select(data.view(), o, choice()), fwsr::MemoryError);
}

TEST_P(EveryMethod, works_on_a_given_kernel_or_says_that_it_does_not) {
  const Index n = 40, d = 5;
  fwsr::Rng rng(8);
  const std::vector<double> a = problems::make_values(Kind::gaussian, n, d, true, rng);
  std::vector<double> k(at(n * n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < d; ++l) k[at(i * n + j)] += a[at(i * d + l)] * a[at(j * d + l)];
  for (Index i = 0; i < n; ++i) k[at(i * n + i)] += 0.5;
  const Data data(n, n, k, Storage::dense_f64);
  SelectOptions o = choose(6);
  o.kernel.type = fwsr::KernelType::precomputed;
  if (!method().any_kernel) {
    EXPECT_THROW(fwsr::select(data.view(), o, choice()), fwsr::Error);
    return;
  }
  expect_sound(fwsr::select(data.view(), o, choice()), n, 6);
}

TEST_P(EveryMethod, refuses_settings_that_it_does_not_have) {
  const Data data = make(20, 3);
  MethodChoice c = choice();
  c.settings = {{"no_such_setting", "1"}};
  EXPECT_THROW(fwsr::select(data.view(), choose(2), c), fwsr::Error);
  SelectOptions o = choose(2);
  o.alpha = 5;
  if (method().choose) {
    EXPECT_THROW(fwsr::select(data.view(), o, choice()), fwsr::Error);
  }
  for (const fwsr::Parameter& parameter : method().parameters) {
    EXPECT_FALSE(parameter.about.empty());
    c.settings = {{parameter.name, "neither a number nor a word of it"}};
    EXPECT_THROW(fwsr::select(data.view(), choose(2), c), fwsr::Error) << parameter.name;
    if (const auto* const word = std::get_if<std::string>(&parameter.value)) {
      EXPECT_NE(std::find(parameter.words.begin(), parameter.words.end(), *word),
                parameter.words.end());
    }
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Method& m : fwsr::methods()) all.push_back(m.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod, testing::ValuesIn(names()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Methods, have_names_of_their_own) {
  const std::vector<std::string> all = names();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_THROW(fwsr::find_method("no such method"), fwsr::Error);
}

TEST(Methods, fwsr_by_name_is_fwsr) {
  const Data data = make(80, 7);
  SelectOptions o = choose(5);
  o.alpha = 4;
  EXPECT_EQ(fwsr::select(data.view(), o).exemplars,
            fwsr::select(data.view(), o, fwsr::MethodChoice{.name = "fwsr"}).exemplars);
  o.kernel.type = fwsr::KernelType::rbf;
  EXPECT_EQ(fwsr::select(data.view(), o).exemplars,
            fwsr::select(data.view(), o, fwsr::MethodChoice{.name = "k-fwsr"}).exemplars);
}

// ---- quality: every measure against its definition -----------------------------------------------

struct Literal {
  double cost = 0, radius = 0, accuracy = 0, coverage = 0, mmd = 0;
};

Literal judge_literally(const std::vector<double>& a, Index n, Index d,
                        const std::vector<std::string>& labels, const std::vector<Index>& picks,
                        double gamma) {
  const auto square = [&](Index i, Index j) {
    double sum = 0;
    for (Index l = 0; l < d; ++l) sum += std::pow(a[at(i * d + l)] - a[at(j * d + l)], 2);
    return sum;
  };
  Literal q;
  Index others = 0;
  for (Index i = 0; i < n; ++i) {
    Index best = picks.front();
    for (const Index p : picks)
      if (square(i, p) < square(i, best)) best = p;
    const double far = std::sqrt(square(i, best));
    q.cost += far;
    q.radius = std::max(q.radius, far);
    if (std::find(picks.begin(), picks.end(), i) != picks.end()) continue;
    ++others;
    q.accuracy += labels[at(i)] == labels[at(best)];
  }
  q.accuracy /= static_cast<double>(others);
  std::set<std::string> found;
  for (const Index p : picks) found.insert(labels[at(p)]);
  q.coverage = static_cast<double>(found.size()) /
               static_cast<double>(std::set<std::string>(labels.begin(), labels.end()).size());
  const auto k = static_cast<double>(picks.size()), m = static_cast<double>(n);
  double square_mmd = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) square_mmd += std::exp(-gamma * square(i, j)) / m / m;
    for (const Index p : picks) square_mmd -= 2 * std::exp(-gamma * square(i, p)) / m / k;
  }
  for (const Index p : picks)
    for (const Index q2 : picks) square_mmd += std::exp(-gamma * square(p, q2)) / k / k;
  q.mmd = std::sqrt(square_mmd);
  return q;
}

TEST(Quality, every_measure_is_its_definition) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    fwsr::Rng rng(seed);
    const Index n = 30 + static_cast<Index>(seed), d = 4;
    const std::vector<double> a =
        problems::make_values(seed % 2 ? Kind::clustered : Kind::duplicates, n, d, true, rng);
    const Data data(n, d, a, Storage::dense_f64);
    std::vector<std::string> labels;
    for (Index i = 0; i < n; ++i) labels.push_back(std::string(1, static_cast<char>('a' + i % 5)));
    SelectOptions o = choose(4);
    o.center = fwsr::Center::none;
    o.lambda = 0.3;
    o.rho = 0.7;
    const Selection s =
        fwsr::select(data.view(), o, fwsr::MethodChoice{.name = "random", .seed = seed});
    const fwsr::Judge judge(data.view(), labels, o);
    const fwsr::Quality q = judge.of(s.exemplars);
    const Literal l = judge_literally(a, n, d, labels, s.exemplars, judge.mmd_gamma());
    EXPECT_NEAR(q.medoid_cost, l.cost, 1e-9 * l.cost);
    EXPECT_NEAR(q.coverage_radius, l.radius, 1e-9 * l.radius);
    EXPECT_NEAR(q.mmd, l.mmd, 1e-9);
    EXPECT_NEAR(*q.nearest_accuracy, l.accuracy, 1e-12);
    EXPECT_NEAR(*q.class_coverage, l.coverage, 1e-12);
    EXPECT_EQ(q.reconstruction_error, s.certificate->reconstruction_error);
    EXPECT_EQ(*q.boolean_objective, *s.certificate->boolean_objective);
  }
}

// ---- comparisons ---------------------------------------------------------------------------------

TEST(Compare, runs_random_methods_several_times_and_others_once) {
  const Data data = make(120, 6);
  const SelectOptions o = choose(5);
  const auto rows =
      fwsr::compare(data.view(), {},
                    {{.name = "fwsr", .request = fwsr::Request(o, {.name = "fwsr"})},
                     {.name = "random", .request = fwsr::Request(o, {.name = "random"})}},
                    o, {.repeats = 4});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].trials.size(), 1u);
  ASSERT_EQ(rows[1].trials.size(), 4u);
  for (Index r = 0; r < 4; ++r)
    EXPECT_EQ(
        rows[1].trials[at(r)].exemplars,
        fwsr::select(data.view(), o,
                     fwsr::MethodChoice{.name = "random", .seed = static_cast<std::uint64_t>(r)})
            .exemplars);
  const fwsr::Measure& error = fwsr::measures().front();
  double mean = 0;
  for (const auto& t : rows[1].trials) mean += t.quality.reconstruction_error / 4;
  EXPECT_NEAR(fwsr::spread_of(rows[1], error).mean, mean, 1e-15);
  EXPECT_GT(fwsr::spread_of(rows[1], error).deviation, 0);
  EXPECT_EQ(fwsr::spread_of(rows[0], error).deviation, 0);
}

TEST(Compare, lists_what_does_not_fit_and_goes_on) {
  const Data data = make(3000, 4);
  SelectOptions o = choose(5), small = o;
  small.memory = 4096;
  const auto rows =
      fwsr::compare(data.view(), {},
                    {{.name = "large", .request = fwsr::Request(small, {.name = "fwsr"})},
                     {.name = "random", .request = fwsr::Request(o, {.name = "random"})}},
                    o, {.repeats = 1});
  EXPECT_EQ(rows[0].outcome, fwsr::Comparison::Outcome::too_large);
  EXPECT_FALSE(rows[0].reason.empty());
  EXPECT_TRUE(rows[0].trials.empty());
  EXPECT_EQ(rows[1].outcome, fwsr::Comparison::Outcome::done);
  // Stopped on its way: the plan allows what the clock does not.
  const auto cut = fwsr::compare(
      data.view(), {}, {{.name = "random", .request = fwsr::Request(o, {.name = "random"})}}, o,
      {.repeats = 1, .time_limit = 0.02}, [](const fwsr::CompareProgress&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return true;
      });
  EXPECT_EQ(cut[0].outcome, fwsr::Comparison::Outcome::too_slow);
  EXPECT_NE(cut[0].reason.find("stopped after"), std::string::npos) << cut[0].reason;
  const auto late = fwsr::compare(data.view(), {},
                                  {{.name = "fwsr", .request = fwsr::Request(o, {.name = "fwsr"})}},
                                  o, {.repeats = 1, .time_limit = 1e-9});
  EXPECT_EQ(late[0].outcome, fwsr::Comparison::Outcome::too_slow);
}

TEST(Compare, stops_when_told) {
  const Data data = make(100, 4);
  const SelectOptions o = choose(5);
  EXPECT_THROW(fwsr::compare(data.view(), {},
                             {{.name = "fwsr", .request = fwsr::Request(o, {.name = "fwsr"})}}, o,
                             {}, [](const fwsr::CompareProgress&) { return false; }),
               fwsr::Interrupted);
}

}  // namespace
