// k-medoids and k-means of weighted points: a weight of 2 is the same as two points, one of 0 the same as none, except
// that the point may be chosen. So the plain definitions (clustering.hpp), over points that are repeated, are what the
// answers are held against.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "clustering.hpp"
#include "fwsr/base/random.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

using namespace clustering;

/// Numbers from 0 to 3, one of them 1 at least.
std::vector<double> whole_weights(Index n, Rng& rng) {
  std::vector<double> weights(at(n));
  for (double& w : weights) w = static_cast<double>(rng.below(4));
  weights[rng.below(at(n))] = 3;
  return weights;
}

/// Every point as often as its weight says.
std::vector<Index> repeated(const std::vector<double>& weights) {
  std::vector<Index> points;
  for (std::size_t i = 0; i < weights.size(); ++i)
    points.insert(points.end(), static_cast<std::size_t>(weights[i]), static_cast<Index>(i));
  return points;
}

Table columns_of(const Table& d, const std::vector<Index>& points) {
  Table out(d.rows, std::ssize(points));
  for (Index j = 0; j < d.rows; ++j)
    for (Index o = 0; o < out.cols; ++o) out(j, o) = d(j, points[at(o)]);
  return out;
}

Table rows_of(const Table& x, const std::vector<Index>& points) {
  Table out(std::ssize(points), x.cols);
  for (Index i = 0; i < out.rows; ++i)
    for (Index l = 0; l < x.cols; ++l) out(i, l) = x(points[at(i)], l);
  return out;
}

/// Clusters come from the heaviest to the lightest, and weigh what their points do.
void expect_in_order(const Selection& s, const std::vector<double>& weights) {
  std::vector<double> sums(s.exemplars.size());
  for (std::size_t i = 0; i < weights.size(); ++i) sums[at(s.assignment[i])] += weights[i];
  for (std::size_t t = 0; t < sums.size(); ++t) EXPECT_NEAR(s.weights[t], sums[t], 1e-9);
}

Small weighted_small(std::uint64_t seed, std::vector<double>& weights,
                     Storage storage = Storage::dense_f64) {
  Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::offset}, storage);
  Rng rng(seed + 9);
  weights = whole_weights(p.data.rows(), rng);
  p.options.conditions.weights = weights;
  // A common factor changes nothing.
  if (seed % 3 == 0)
    for (double& w : p.options.conditions.weights) w *= 1e90;
  return p;
}

double unit_of(const Small& p, const std::vector<double>& weights) {
  const auto most = [](const std::vector<double>& w) {
    return *std::max_element(w.begin(), w.end());
  };
  return most(p.options.conditions.weights) / most(weights);
}

TEST(KMedoidsWeights, swaps_are_those_of_repeated_points) {
  Index clear = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<double> weights;
    Small p = weighted_small(seed, weights);
    p.options.exemplars = std::min<Index>(p.data.rows(), p.options.exemplars + 1);
    const Table all = rooted(squared_distances(p.reference().plain));
    const Table d = columns_of(all, repeated(weights));
    const Swapped literal = search_literally(d, p.options.exemplars, seed);
    if (!literal.clear || !(total(d, literal.medoids) > 0)) continue;
    ++clear;
    const Selection s = p.run("kmedoids");
    expect_same_set(s.exemplars, literal.medoids);
    EXPECT_EQ(fact(s, "swaps"), static_cast<double>(literal.swaps));
    const auto cost = static_cast<double>(total(d, literal.medoids));
    EXPECT_NEAR(fact(s, "cost") / unit_of(p, weights), cost, 1e-6 * cost + 1e-9);
    expect_in_order(s, p.options.conditions.weights);
  }
  EXPECT_GT(clear, 90);
}

TEST(KMedoidsWeights, turns_are_those_of_weighted_sums) {
  Index clear = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<double> weights;
    Small p = weighted_small(seed, weights);
    const Table d = rooted(squared_distances(p.reference().plain));
    const Alternated literal = alternate_literally(d, p.options.exemplars, seed, weights);
    if (!literal.clear || p.options.exemplars == 1) continue;
    ++clear;
    const Selection s = p.run("kmedoids", {{"algorithm", "alternating"}});
    expect_same_set(s.exemplars, literal.medoids);
    EXPECT_EQ(fact(s, "swaps"), static_cast<double>(literal.moves));
  }
  EXPECT_GT(clear, 60);
}

TEST(KMedoidsWeights, no_swap_improves_whatever_the_storage_beginning_and_weights) {
  const Storage storages[] = {Storage::dense_f32, Storage::csr_f64_i32, Storage::csr_f32_i32,
                              Storage::dense_f64};
  const char* const inits[] = {"random", "build", "lab", "kmeans++"};
  for (std::uint64_t seed = 0; seed < 160; ++seed)
    for (const char* method : {"kmedoids", "kmedoids-batch"}) {
      SCOPED_TRACE(method + std::string(" ") + std::to_string(seed));
      Small p = make_small(seed, {Kind::gaussian, Kind::clustered}, storages[seed % 4]);
      Rng rng(seed + 5);
      std::vector<double>& weights = p.options.conditions.weights;
      for (Index i = 0; i < p.data.rows(); ++i)
        weights.push_back(rng.below(3) == 0 ? 0.0 : std::exp(3 * rng.normal()));
      weights[0] = 1;
      const Table d = squared_distances(p.reference().plain);
      const auto cost_of = [&](const std::vector<Index>& medoids) {
        Real sum = 0;
        for (Index o = 0; o < d.rows; ++o) {
          Real least = d(medoids[0], o);
          for (const Index m : medoids) least = std::min(least, d(m, o));
          sum += weight_of(weights, o) * least;
        }
        return sum;
      };
      // So few points are all in the batch.
      const Selection s =
          p.run(method, {{"init", inits[seed / 4 % 4]}, {"metric", "squared"}, {"restarts", "2"}});
      const Real cost = cost_of(s.exemplars);
      Real most = 0;
      for (Index o = 0; o < d.rows; ++o)
        for (Index j = 0; j < d.rows; ++j) most += weight_of(weights, o) * d(j, o);
      const Real noise = 1e-6L * most / static_cast<Real>(d.rows);
      EXPECT_NEAR(fact(s, "cost"), static_cast<double>(cost), static_cast<double>(noise));
      for (std::size_t t = 0; t < s.exemplars.size(); ++t)
        for (Index j = 0; j < d.rows; ++j) {
          std::vector<Index> other = s.exemplars;
          other[t] = j;
          ASSERT_GE(cost_of(other), cost - noise);
        }
    }
}

TEST(KMedoidsWeights, of_a_batch_add_up_what_is_near_it) {
  Index checked = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<double> given;
    Small p = weighted_small(seed, given);
    p.options.exemplars = 2;
    const Table all = rooted(squared_distances(p.reference().plain));
    const Index n = all.rows, m = std::min<Index>(n, 8 + static_cast<Index>(seed % 7));
    const Table d = batch_literally(all, m, seed, given);
    const Swapped literal = search_literally(d, 2, seed);
    if (!literal.clear) continue;
    checked += m < n;
    const Selection s = p.run("kmedoids-batch", {{"batch", std::to_string(m)}});
    expect_same_set(s.exemplars, literal.medoids);
  }
  EXPECT_GT(checked, 60);
}

TEST(KMeansWeights, iterations_are_those_of_repeated_points) {
  Index compared = 0, nothing = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<double> weights;
    Small p =
        weighted_small(seed, weights, seed % 4 == 3 ? Storage::csr_f64_i64 : Storage::dense_f64);
    const Table x = p.reference().points;
    Rng rng = Rng(seed).split(0);
    const auto first = seed_literally(x, p.options.exemplars, rng, weights);
    Lloyded literal = lloyd_literally(rows_of(x, repeated(weights)), first);
    if (literal.empty || std::ssize(literal.centres) < p.options.exemplars) continue;
    const Real inertia = literal.inertia;
    label_literally(x, literal);  // of those that have no weight, too
    ++compared;
    nothing += std::count(weights.begin(), weights.end(), 0.0) > 0;
    const Selection s = p.run("kmeans");
    EXPECT_NEAR(fact(s, "inertia") / unit_of(p, weights), static_cast<double>(inertia),
                1e-9 * static_cast<double>(inertia) + 1e-20);
    EXPECT_EQ(fact(s, "iterations"), static_cast<double>(literal.iterations));
    const std::set<Index> picks(s.exemplars.begin(), s.exemplars.end());
    if (x.cols > 1) {
      EXPECT_EQ(picks, nearest_literally(x, literal, weights));
    }
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(nothing, 100);
}

TEST(KMeansWeights, sparse_points_give_the_answer_of_dense_ones) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const Storage storage : {Storage::csr_f64_i32, Storage::csr_f64_i64}) {
      SCOPED_TRACE(seed);
      Small p = make_small(seed, {Kind::gaussian, Kind::nonnegative});
      Rng rng(seed);
      for (Index i = 0; i < p.data.rows(); ++i)
        p.options.conditions.weights.push_back(rng.below(4) == 0 ? 0.0 : rng.uniform());
      p.options.conditions.weights[0] = 0.5;
      const Selection dense = p.run("kmeans");
      Small q = make_small(seed, {Kind::gaussian, Kind::nonnegative}, storage);
      q.options.conditions = p.options.conditions;
      const Selection sparse = q.run("kmeans");
      EXPECT_EQ(sparse.exemplars, dense.exemplars);
      EXPECT_NEAR(fact(sparse, "inertia"), fact(dense, "inertia"),
                  1e-9 * fact(dense, "inertia") + 1e-20);
    }
}

/// A heavy point is taken away from a cluster that becomes empty: what is left of it is not rounding.
TEST(KMeansWeights, the_heaviest_points_do_not_spoil_the_others) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, {Kind::gaussian, Kind::clustered});
    Rng rng(seed);
    for (Index i = 0; i < p.data.rows(); ++i)
      p.options.conditions.weights.push_back(std::pow(10.0, -40 * rng.uniform()));
    const Selection s = p.run("kmeans");
    // One centre stands on the heaviest point, but for what the next ones weigh.
    EXPECT_GE(s.exemplars.size(), 1u);
    EXPECT_TRUE(std::isfinite(fact(s, "inertia")));
    const auto& w = p.options.conditions.weights;
    const Index heaviest = std::max_element(w.begin(), w.end()) - w.begin();
    std::vector<double> others = w;
    std::sort(others.rbegin(), others.rend());
    if (others.size() > 1 && others[1] < 1e-6 * others[0]) {
      EXPECT_NE(std::find(s.exemplars.begin(), s.exemplars.end(), heaviest), s.exemplars.end());
    }
  }
}

TEST(ClusteringWeights, that_are_equal_change_no_choice_and_ones_no_bit) {
  for (const std::string method : {"kmedoids", "kmedoids-batch", "kmeans"})
    for (const double weight : {1.0, 7.0})
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(method + " " + std::to_string(seed));
        const Storage storage = seed % 2 ? Storage::dense_f32 : Storage::csr_f64_i32;
        Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::nonnegative}, storage);
        Given given;
        if (method != "kmeans") given["init"] = seed % 4 < 2 ? "kmeans++" : "lab";
        const Selection plain = p.run(method, given);
        p.options.conditions.weights.assign(at(p.data.rows()), weight);
        const Selection s = p.run(method, given);
        EXPECT_EQ(s.exemplars, plain.exemplars);
        EXPECT_EQ(s.assignment, plain.assignment);
        const char* const sum = method == "kmeans" ? "inertia" : "cost";
        EXPECT_NEAR(fact(s, sum), weight * fact(plain, sum),
                    1e-9 * weight * fact(plain, sum) + 1e-20);
        if (weight == 1) {
          EXPECT_EQ(fact(s, sum), fact(plain, sum));
          same::expect_same_bits(s.weights, plain.weights, "weights");
        }
      }
}

}  // namespace
}  // namespace fwsr
