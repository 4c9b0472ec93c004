// Short answers that are filled up, and floors of groups that are met so, from points cut into shards: the same bits as in
// one place, and the points that the rule asks for when it is followed literally.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "same.hpp"
#include "sharded.hpp"

namespace {

using namespace sharding;

constexpr Index few_shards[] = {1, 2, 3, 5, 8};

void expect_same_from_shards(const problems::Data& data, const fwsr::SelectOptions& options,
                             const fwsr::Selection& alone) {
  for (const Index count : few_shards)
    for (const std::uint64_t seed : {5U, 6U}) {
      SCOPED_TRACE(testing::Message() << count << " shards, cut " << seed);
      same::expect_same(sharded(data, options, count, seed), alone);
    }
}

Index filled_of(const fwsr::Selection& s) {
  return std::count(s.filled.begin(), s.filled.end(), true);
}

/// A run that ends before it has what was asked for.
fwsr::SelectOptions short_run(Index k) {
  return {.exemplars = k,
          .fill = true,
          .max_iterations = 3,
          .codes = true,
          .assignment = true,
          .threads = 2};
}

/// Everybody has a group, and few may be chosen.
void add_conditions(fwsr::Conditions& c, Index n) {
  fwsr::Rng random(3);
  for (Index i = 0; i < n; ++i) {
    c.candidates.push_back(i > 1100 && random.uniform() < 0.2);  // a shard may have none
    c.weights.push_back(random.uniform());
    c.costs.push_back(0.5 + random.uniform());
    c.groups.add(i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c");
  }
  c.included = {0, 2000};
  c.at_least.each = 3;
}

class Filling : public testing::TestWithParam<Storage> {};

TEST_P(Filling, adds_the_same_points_wherever_they_live) {
  const problems::Data data = points_like(4200, 6, GetParam(), 31);
  fwsr::SelectOptions options = short_run(9);
  for (const fwsr::Center center : {fwsr::Center::none, fwsr::Center::feature})
    for (const double eta : {0.0, 0.7}) {
      options.center = center;
      options.eta = eta;
      const fwsr::Selection alone = whole(data.view(), {}, options);
      ASSERT_EQ(alone.exemplars.size(), 9u);
      ASSERT_GE(filled_of(alone), 6);
      expect_same_from_shards(data, options, alone);
    }
}

TEST_P(Filling, meets_floors_under_all_other_conditions) {
  const problems::Data data = points_like(4200, 6, GetParam(), 32);
  fwsr::SelectOptions options = short_run(10);
  add_conditions(options.conditions, 4200);
  for (const bool fill : {false, true}) {
    options.fill = fill;
    const fwsr::Selection alone = whole(data.view(), {}, options);
    ASSERT_GT(filled_of(alone), 3);
    ASSERT_GE(alone.exemplars.size(), fill ? 12u : 11u);
    expect_same_from_shards(data, options, alone);
  }
}

TEST_P(Filling, keeps_floors_while_exemplars_are_exchanged) {
  const problems::Data data = points_like(4200, 6, GetParam(), 33);
  fwsr::SelectOptions options = short_run(9);
  options.max_iterations.reset();
  options.refine = fwsr::Refine::exchange;
  for (Index i = 0; i < 4200; ++i) options.conditions.groups.add(i < 4100 ? "many" : "few");
  options.conditions.at_least.named = {{"few", 4}};
  const fwsr::Selection alone = whole(data.view(), {}, options);
  EXPECT_GE(std::count_if(alone.exemplars.begin(), alone.exemplars.end(),
                          [](Index i) { return i >= 4100; }),
            4);
  expect_same_from_shards(data, options, alone);
}

INSTANTIATE_TEST_SUITE_P(Shards, Filling,
                         testing::Values(Storage::dense_f32, Storage::dense_f64,
                                         Storage::csr_f32_i32, Storage::csr_f64_i64));

TEST(FillingByFactor, adds_the_same_points_wherever_they_live) {
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64}) {
    const problems::Data data = points_like(4200, 6, storage, 34);
    for (const bool conditions : {false, true}) {
      fwsr::SelectOptions options = by_factor(10, 40);
      options.fill = !conditions;
      options.max_iterations = 3;
      if (conditions) add_conditions(options.conditions, 4200);
      const fwsr::Selection alone = whole_by_factor(data.view(), options);
      ASSERT_GT(filled_of(alone), 3);
      expect_same_from_shards(data, options, alone);
    }
  }
}

/// Some points again and again, in an order that has nothing to do with where shards begin.
std::vector<double> copies(Index n, Index d, Index distinct) {
  fwsr::Rng random(5);
  std::vector<double> some, all;
  for (Index l = 0; l < distinct * d; ++l) some.push_back(random.normal());
  for (Index i = 0; i < n; ++i) {
    const auto from = some.begin() + (i * i + 3 * i) % distinct * d;
    all.insert(all.end(), from, from + d);
  }
  return all;
}

TEST(FillingTies, go_to_the_smallest_index_of_all_shards) {
  const Index n = 5000, d = 8;
  const problems::Data data(n, d, copies(n, d, 6), Storage::dense_f64);
  fwsr::SelectOptions options = short_run(12);
  options.max_iterations.reset();
  options.alpha = 0;
  options.center = fwsr::Center::none;
  for (const fwsr::KernelType kernel : {fwsr::KernelType::linear, fwsr::KernelType::rbf}) {
    options.kernel.type = kernel;
    options.rank = kernel == fwsr::KernelType::rbf ? 20 : 0;
    const fwsr::Selection alone = kernel == fwsr::KernelType::rbf
                                      ? whole_by_factor(data.view(), options)
                                      : whole(data.view(), {}, options);
    ASSERT_EQ(alone.exemplars.size(), 12u);
    ASSERT_GE(filled_of(alone), 6);  // nothing is left but copies
    expect_same_from_shards(data, options, alone);
  }
}

// ------------------------------------------------------------------------------------- the rule, literally

/// Squared distances in the space of the kernel, from the numbers themselves.
double squared_distance(const std::vector<double>& x, Index d, Index i, Index j, double gamma) {
  double sum = 0;
  for (Index l = 0; l < d; ++l) {
    const double gap = x[at(i * d + l)] - x[at(j * d + l)];
    sum += gap * gap;
  }
  return gamma > 0 ? 2 - 2 * std::exp(-gamma * sum) : sum;
}

/// The farthest of those with `open`, the first of those that are as far.
Index farthest(const std::vector<double>& x, Index d, const std::vector<Index>& exemplars,
               double gamma, const std::vector<char>& open) {
  Index best = -1;
  double most = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < std::ssize(open); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const Index e : exemplars) least = std::min(least, squared_distance(x, d, i, e, gamma));
    if (open[at(i)] && least > most + 1e-9) best = i, most = least;
  }
  return best;
}

void expect_literally(const std::vector<double>& x, Index d, const fwsr::Selection& s, double gamma,
                      const fwsr::Conditions& c) {
  const Index n = std::ssize(x) / d;
  std::vector<Index> exemplars;
  for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
    if (s.filled[t]) {
      std::vector<char> open(at(n), 1);
      for (const Index e : exemplars) open[at(e)] = 0;
      // With floors alone, who may be added is of a group that lacks some.
      for (Index i = 0; i < n && !c.groups.empty(); ++i) {
        const auto is_of = [&](Index e) {
          return c.groups.codes()[at(e)] == c.groups.codes()[at(i)];
        };
        if (std::count_if(exemplars.begin(), exemplars.end(), is_of) >= *c.at_least.each)
          open[at(i)] = 0;
      }
      EXPECT_EQ(s.exemplars[t], farthest(x, d, exemplars, gamma, open)) << "exemplar " << t;
    }
    exemplars.push_back(s.exemplars[t]);
  }
}

TEST(FillingLiterally, adds_the_farthest_points) {
  const Index n = 3000, d = 5;
  fwsr::Rng random(7);
  std::vector<double> x;
  for (Index i = 0; i < n * d; ++i) x.push_back(random.normal());
  const problems::Data data(n, d, x, Storage::dense_f64);
  for (const bool floors : {false, true}) {
    fwsr::SelectOptions options = short_run(12);
    options.center = fwsr::Center::none;
    if (floors) {
      for (Index i = 0; i < n; ++i) options.conditions.groups.add(std::to_string(i % 4));
      options.conditions.at_least.each = 2;
      options.fill = false;
    }
    const fwsr::Selection s = sharded(data, options, 3, 5);
    ASSERT_GE(filled_of(s), floors ? 5 : 9);
    expect_literally(x, d, s, 0, options.conditions);
  }
}

TEST(FillingLiterally, adds_the_farthest_points_beside_one_giant) {
  const Index n = 3000, d = 5;
  fwsr::Rng random(8);
  std::vector<double> x;
  for (Index i = 0; i < n * d; ++i) x.push_back(static_cast<float>(random.normal()));
  for (Index l = 0; l < d; ++l) x[at(1700 * d + l)] = 1e8F * static_cast<float>(l + 1);
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f64_i64})
    for (const fwsr::Center center : {fwsr::Center::none, fwsr::Center::feature}) {
      const problems::Data data(n, d, x, storage);
      fwsr::SelectOptions options = short_run(12);
      options.center = center;
      const fwsr::Selection alone = whole(data.view(), {}, options);
      ASSERT_GE(filled_of(alone), 8);
      expect_literally(x, d, alone, 0, options.conditions);
      expect_same_from_shards(data, options, alone);
    }
}

TEST(FillingLiterally, adds_the_farthest_points_of_a_factor_that_leaves_nothing_out) {
  const Index n = 2500, d = 4;
  const std::vector<double> x = copies(n, d, 40);
  const problems::Data data(n, d, x, Storage::dense_f64);
  fwsr::SelectOptions options = by_factor(15, 60);
  options.center = fwsr::Center::none;
  options.max_iterations = 3;
  options.fill = true;
  const fwsr::Selection s = sharded(data, options, 3, 5);
  ASSERT_EQ(s.exemplars.size(), 15u);
  ASSERT_GE(filled_of(s), 12);
  expect_literally(x, d, s, s.gamma, options.conditions);
  // What they stand for: each point for its nearest exemplar.
  for (Index i = 0; i < n; ++i) {
    const auto to = [&](std::size_t t) {
      return squared_distance(x, d, i, s.exemplars[t], s.gamma);
    };
    for (std::size_t t = 0; t < s.exemplars.size(); ++t)
      EXPECT_LE(to(at(s.assignment[at(i)])), to(t) + 1e-9);
  }
}

}  // namespace
