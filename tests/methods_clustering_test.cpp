// Clustering and covering, each method against the slow program that its definition is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "clustering.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/methods/methods.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

using namespace clustering;

// ---- k-means -----------------------------------------------------------------------------------

TEST(KMeans, runs_as_the_definition_says) {
  Index compared = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::nonnegative},
                               seed % 4 == 3 ? Storage::csr_f64_i64 : Storage::dense_f64);
    const Table x = p.reference().points;
    Rng rng = Rng(seed).split(0);
    const Lloyded literal = lloyd_literally(x, seed_literally(x, p.options.exemplars, rng));
    if (literal.empty) continue;
    ++compared;
    const Selection s = p.run("kmeans");
    EXPECT_NEAR(fact(s, "inertia"), static_cast<double>(literal.inertia),
                1e-9 * static_cast<double>(literal.inertia) + 1e-20);
    EXPECT_EQ(fact(s, "iterations"), static_cast<double>(literal.iterations));
    const std::set<Index> picks(s.exemplars.begin(), s.exemplars.end());
    if (x.cols > 1) {
      EXPECT_EQ(picks, nearest_literally(x, literal));
    }
    EXPECT_EQ(static_cast<Index>(picks.size()), p.options.exemplars);
  }
  EXPECT_GT(compared, 130);
}

/// Points with few numbers that are not zero, some of them copies.
std::vector<double> few_numbers(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values(at(n * d));
  for (Index i = 0; i < n; ++i) {
    const Index group = i % 6 * d / 6;
    for (Index e = 0; e < 6; ++e)
      values[at(i * d + group + static_cast<Index>(rng.below(at(d / 6))))] = 1 + rng.uniform();
    if (i % 50 == 49) std::copy_n(values.begin() + (i - 6) * d, d, values.begin() + i * d);
  }
  return values;
}

TEST(KMeans, sparse_points_give_the_answer_of_dense_ones) {
  constexpr Index n = 2300, d = 240;  // several chunks of points
  const std::vector<double> values = few_numbers(n, d, 8);
  for (const Center center : {Center::none, Center::point, Center::feature})
    for (const Scale scale : {Scale::none, Scale::unit})
      for (const Index k : {Index{7}, Index{40}}) {
        SCOPED_TRACE(k);
        Small p{.data = Data(n, d, values, Storage::dense_f64), .options = {}, .seed = 5};
        p.options.exemplars = k;
        p.options.center = center;
        p.options.scale = scale;
        p.options.assignment = true;
        const Selection dense = p.run("kmeans");
        for (const Storage storage : {Storage::csr_f64_i32, Storage::csr_f64_i64}) {
          p.data = Data(n, d, values, storage);
          const Selection sparse = p.run("kmeans");
          EXPECT_EQ(sparse.exemplars, dense.exemplars);
          EXPECT_EQ(sparse.assignment, dense.assignment);
          EXPECT_EQ(fact(sparse, "iterations"), fact(dense, "iterations"));
          EXPECT_NEAR(fact(sparse, "inertia"), fact(dense, "inertia"),
                      1e-10 * fact(dense, "inertia"));
          EXPECT_NEAR(sparse.certificate->reconstruction_error,
                      dense.certificate->reconstruction_error, 1e-11);
        }
      }
}

TEST(KMeans, float32_is_as_good) {
  double single = 0, wide = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Small p{.data = blobs(300, 6, 5, seed, Storage::dense_f32), .options = {}, .seed = seed};
    p.options.exemplars = 5;
    p.options.center = Center::none;
    single += fact(p.run("kmeans", {{"restarts", "3"}}), "inertia");
    p.data = blobs(300, 6, 5, seed, Storage::dense_f64);
    wide += fact(p.run("kmeans", {{"restarts", "3"}}), "inertia");
  }
  EXPECT_NEAR(single, wide, 1e-3 * wide);
}

TEST(KMeans, float32_tells_near_points_apart) {
  double single = 0, wide = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    std::vector<double> values;
    for (Index i = 0; i < 200; ++i)
      for (Index l = 0; l < 5; ++l) values.push_back((i % 2 ? 1 : -1) + 1e-4 * rng.normal());
    for (const Storage storage : {Storage::dense_f32, Storage::dense_f64}) {
      Small p{.data = Data(200, 5, values, storage), .options = {}, .seed = seed};
      p.options.exemplars = 10;
      p.options.center = Center::none;
      const Selection s = p.run("kmeans");
      EXPECT_EQ(s.exemplars.size(), 10u) << seed;
      (storage == Storage::dense_f32 ? single : wide) += fact(s, "inertia");
    }
  }
  EXPECT_NEAR(single, wide, 0.02 * wide);
}

TEST(KMeans, far_from_the_origin_nothing_is_lost) {
  for (const Storage storage : {Storage::dense_f64, Storage::csr_f64_i32}) {
    Rng rng(5);
    std::vector<double> near(200 * 3), far(200 * 3);
    for (std::size_t e = 0; e < near.size(); ++e) {
      near[e] = static_cast<double>(static_cast<Index>(rng.below(1 << 16))) / (1 << 14);
      far[e] = near[e] + (1 << 20);
    }
    Small p{.data = Data(200, 3, near, storage), .options = {}, .seed = 1};
    p.options.exemplars = 7;
    p.options.center = Center::none;
    const Selection a = p.run("kmeans");
    p.data = Data(200, 3, far, storage);
    const Selection b = p.run("kmeans");
    EXPECT_EQ(a.exemplars, b.exemplars);
    EXPECT_NEAR(fact(a, "inertia"), fact(b, "inertia"), 1e-6 * fact(a, "inertia"));
  }
}

TEST(KMeans, copies_and_empty_clusters) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Small p = make_grid(seed);
    const Table x = p.data.exact();
    std::set<std::vector<Real>> distinct;
    for (Index i = 0; i < x.rows; ++i) distinct.insert(row_of(x, i));
    const Selection s = p.run("kmeans");
    EXPECT_EQ(s.exemplars.size(), std::min(distinct.size(), at(p.options.exemplars)));
    if (at(p.options.exemplars) >= distinct.size()) {
      EXPECT_LT(fact(s, "inertia"), 1e-12);
      std::set<std::vector<Real>> chosen;
      for (const Index i : s.exemplars) chosen.insert(row_of(x, i));
      EXPECT_EQ(chosen, distinct);
    }
  }
}

// ---- facility location -------------------------------------------------------------------------

/// The greedy rule with all gains at every step; ends when nothing is gained.
std::vector<Index> cover_literally(const Table& d, Index k) {
  const Real largest = *std::max_element(d.values.begin(), d.values.end());
  std::vector<Index> picks;
  std::vector<Real> have(at(d.rows), 0);  // max over the picks of s(i, t)
  while (static_cast<Index>(picks.size()) < k) {
    Index best = -1;
    Real most = 0;
    for (Index j = 0; j < d.rows; ++j) {
      if (std::find(picks.begin(), picks.end(), j) != picks.end()) continue;
      Real gain = 0;
      for (Index i = 0; i < d.rows; ++i) gain += std::max<Real>(0, largest - d(i, j) - have[at(i)]);
      if (best < 0 || gain > most * (1 + 1e-12L)) best = j, most = gain;
    }
    if (!picks.empty() && !(most > 0)) break;
    picks.push_back(best);
    for (Index i = 0; i < d.rows; ++i) have[at(i)] = std::max(have[at(i)], largest - d(i, best));
  }
  return picks;
}

TEST(Facility, picks_as_the_plain_greedy_rule) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::nonnegative},
                         seed % 4 == 3 ? Storage::csr_f64_i32 : Storage::dense_f64);
    if (seed % 5 == 0) p.options.kernel.type = KernelType::rbf;
    const std::string metric = seed % 2 == 0 ? "squared" : "euclidean";
    const Selection s =
        p.run("facility", {{"metric", metric}, {"hold", seed % 3 == 0 ? "0" : "1000"}});
    Table d = squared_distances(p.reference(s.gamma).plain);
    if (metric == "euclidean") d = rooted(d);
    EXPECT_EQ(s.exemplars, cover_literally(d, p.options.exemplars));
    const auto cost = static_cast<double>(total(d, s.exemplars));
    const double most =
        static_cast<double>(*std::max_element(d.values.begin(), d.values.end()) * d.rows);
    EXPECT_NEAR(fact(s, "cost"), cost, 1e-9 * most);
    EXPECT_NEAR(fact(s, "objective"), most - cost, 1e-9 * most);
  }
}

TEST(Facility, ties_go_to_the_smallest_index_held_or_not) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_grid(seed);
    const Table d = squared_distances(p.reference().plain);
    const std::vector<Index> literal = cover_literally(d, p.options.exemplars);
    EXPECT_EQ(p.run("facility").exemplars, literal);
    EXPECT_EQ(p.run("facility", {{"hold", "0"}}).exemplars, literal);
  }
}

TEST(Facility, takes_no_copy_in_the_space_of_a_kernel) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_grid(seed);
    p.options.kernel.type = seed % 2 ? KernelType::rbf : KernelType::polynomial;
    const Table x = p.data.exact();
    std::set<std::vector<Real>> distinct, chosen;
    for (Index i = 0; i < x.rows; ++i) distinct.insert(row_of(x, i));
    p.options.exemplars = p.data.rows();
    const Selection s = p.run("facility");
    for (const Index i : s.exemplars) chosen.insert(row_of(x, i));
    EXPECT_EQ(chosen, distinct);
    EXPECT_EQ(s.exemplars.size(), distinct.size());
  }
}

TEST(Facility, takes_a_matrix_of_distances) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Small p = make_grid(seed);
    const Table d = squared_distances(p.reference().plain);
    const std::vector<double> values(d.values.begin(), d.values.end());
    Small q{
        .data = Data(d.rows, d.rows, values, Storage::dense_f64), .options = p.options, .seed = 0};
    for (const char* hold : {"0", "100"})
      EXPECT_EQ(q.run("facility", {{"metric", "precomputed"}, {"hold", hold}}).exemplars,
                p.run("facility").exemplars)
          << seed;
  }
}

// ---- herding -----------------------------------------------------------------------------------

struct Herded {
  std::vector<Index> picks;
  Real mmd = 0;
  Real margin = 1;  // the least lead of a pick over the second best, in units of the largest K_ii
};

Real mmd_of(const Table& k, const std::vector<Index>& picks) {
  const auto n = static_cast<Real>(k.rows), m = static_cast<Real>(picks.size());
  Real all = 0, across = 0, within = 0;
  for (const Real v : k.values) all += v;
  for (const Index t : picks) {
    for (Index i = 0; i < k.rows; ++i) across += k(i, t);
    for (const Index u : picks) within += k(t, u);
  }
  return all / n / n - 2 * across / n / m + within / m / m;
}

Herded herd_literally(const Table& k, Index wanted, bool greedy) {
  Herded h;
  Real scale = 0;
  for (Index i = 0; i < k.rows; ++i) scale = std::max(scale, k(i, i));
  while (static_cast<Index>(h.picks.size()) < wanted) {
    std::vector<std::pair<Real, Index>> scores;
    const auto m = static_cast<Real>(h.picks.size() + 1);
    for (Index j = 0; j < k.rows; ++j) {
      if (std::find(h.picks.begin(), h.picks.end(), j) != h.picks.end()) continue;
      Real score = 0;
      if (greedy) {
        std::vector<Index> with = h.picks;
        with.push_back(j);
        score = mmd_of(k, with);
      } else {
        for (Index i = 0; i < k.rows; ++i) score -= k(i, j) / static_cast<Real>(k.rows);
        for (const Index t : h.picks) score += k(t, j) / m;
      }
      scores.push_back({score, j});
    }
    std::sort(scores.begin(), scores.end());
    if (scores.size() > 1)
      h.margin = std::min(h.margin, (scores[1].first - scores[0].first) / scale);
    h.picks.push_back(scores[0].second);
  }
  h.mmd = std::sqrt(std::max<Real>(0, mmd_of(k, h.picks)));
  return h;
}

TEST(Herding, picks_as_the_definition_says) {
  const KernelType kernels[] = {KernelType::rbf, KernelType::polynomial, KernelType::cosine,
                                KernelType::laplacian};
  Index clear = 0;
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, smooth,
                         seed % 3 == 0   ? Storage::dense_f32
                         : seed % 3 == 1 ? Storage::dense_f64
                                         : Storage::csr_f64_i64);
    p.options.kernel.type = kernels[seed % 4];
    const bool greedy = seed / 4 % 2 == 0;
    const Selection s = p.run("herding", {{"rule", greedy ? "greedy" : "herding"}});
    const Table k = p.reference(s.gamma).plain;
    const Herded literal = herd_literally(k, p.options.exemplars, greedy);
    ASSERT_EQ(s.exemplars.size(), literal.picks.size());
    if (literal.margin < 1e-12L) continue;
    ++clear;
    EXPECT_EQ(s.exemplars, literal.picks);
    EXPECT_NEAR(fact(s, "mmd") * fact(s, "mmd"), static_cast<double>(literal.mmd * literal.mmd),
                1e-12 * static_cast<double>(k(0, 0)) + 1e-9 * static_cast<double>(literal.mmd));
  }
  EXPECT_GT(clear, 110);
}

TEST(Herding, a_kernel_of_constant_diagonal_makes_both_rules_one) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Small p = make_small(seed, {Kind::gaussian});
    EXPECT_EQ(p.run("herding").exemplars, p.run("herding", {{"rule", "greedy"}}).exemplars) << seed;
  }
}

TEST(Herding, a_matrix_is_as_good_as_a_kernel) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, {Kind::gaussian});
    p.options.kernel.type = KernelType::rbf;
    const Selection s = p.run("herding");
    const Table k = p.reference(s.gamma).plain;
    const std::vector<double> values(k.values.begin(), k.values.end());
    Small q{
        .data = Data(k.rows, k.rows, values, Storage::dense_f64), .options = p.options, .seed = 0};
    q.options.kernel.type = KernelType::precomputed;
    q.options.center = Center::none;
    const Selection by_matrix = q.run("herding");
    EXPECT_EQ(s.exemplars, by_matrix.exemplars);
    EXPECT_NEAR(fact(s, "mmd"), fact(by_matrix, "mmd"), 1e-7);
  }
}

// ---- all of them -------------------------------------------------------------------------------

const std::vector<std::pair<std::string, Given>> every = {
    {"kmedoids", {}},
    {"kmedoids", {{"init", "build"}}},
    {"kmedoids", {{"init", "lab"}}},
    {"kmedoids", {{"init", "kmeans++"}, {"metric", "manhattan"}}},
    {"kmedoids-batch", {}},
    {"kmedoids-batch", {{"init", "lab"}, {"batch", "40"}}},
    {"kmedoids-batch", {{"init", "kmeans++"}, {"batch", "40"}}},
    {"kmeans", {}},
    {"facility", {}},
    {"facility", {{"hold", "0"}}},
    {"herding", {}},
    {"herding", {{"rule", "greedy"}}}};

TEST(Clustering, edge_cases) {
  struct Edge {
    const char* name;
    Index n, d, k;
    std::vector<double> values;
    std::size_t least, most;  // exemplars found
  };
  const std::vector<Edge> edges = {
      {"one point", 1, 3, 1, {1, 2, 3}, 1, 1},
      {"one number", 1, 1, 1, {0}, 1, 1},
      {"all of them", 4, 1, 4, {1, 5, 2, 9}, 4, 4},
      {"all equal", 5, 2, 3, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, 1, 3},
      {"all zero", 4, 2, 2, {0, 0, 0, 0, 0, 0, 0, 0}, 1, 2},
      {"more features than points", 2, 4, 2, {1, 2, 3, 4, 0, 9, 1, 1}, 2, 2}};
  for (const Edge& e : edges)
    for (const auto& [method, given] : every)
      for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32}) {
        SCOPED_TRACE(std::string(e.name) + ", " + method);
        Small p{.data = Data(e.n, e.d, e.values, storage), .options = {}, .seed = 3};
        p.options.exemplars = e.k;
        p.options.center = Center::none;
        p.options.assignment = true;
        const Selection s = p.run(method, given);
        const std::set<Index> distinct(s.exemplars.begin(), s.exemplars.end());
        EXPECT_EQ(distinct.size(), s.exemplars.size());
        EXPECT_GE(s.exemplars.size(), e.least);
        EXPECT_LE(s.exemplars.size(), e.most);
        EXPECT_EQ(static_cast<Index>(s.assignment.size()), e.n);
        for (const Fact& f : s.facts) EXPECT_TRUE(std::isfinite(f.value)) << f.name;
      }
}

TEST(Clustering, threads_do_not_change_a_bit) {
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f64_i32})
    for (const auto& [method, given] : every) {
      SCOPED_TRACE(method);
      Small p{.data = blobs(900, 8, 9, 4, storage), .options = {}, .seed = 2};
      p.options.exemplars = 14;
      p.options.assignment = true;
      p.options.threads = 1;
      const Selection one = p.run(method, given);
      EXPECT_EQ(one.exemplars.size(), 14u);
      for (const int threads : {2, 8}) {
        p.options.threads = threads;
        const Selection other = p.run(method, given);
        same::expect_same(one, other);
        for (std::size_t f = 0; f < one.facts.size(); ++f)
          EXPECT_EQ(same::bits(one.facts[f].value), same::bits(other.facts[f].value));
      }
    }
}

TEST(Clustering, seeds_matter_and_repeat) {
  for (const char* method : {"kmedoids", "kmedoids-batch", "kmeans"}) {
    Small p{.data = blobs(150, 3, 1, 9, Storage::dense_f64), .options = {}, .seed = 0};
    p.options.exemplars = 9;
    std::set<std::vector<Index>> answers;
    for (p.seed = 0; p.seed < 10; ++p.seed) {
      const Selection s = p.run(method);
      EXPECT_EQ(s.exemplars, p.run(method).exemplars);
      answers.insert(s.exemplars);
    }
    EXPECT_GT(answers.size(), 1u) << method;
  }
}

TEST(Clustering, stops_when_told) {
  Small p{.data = blobs(600, 4, 3, 1, Storage::dense_f64), .options = {}, .seed = 0};
  p.options.exemplars = 12;
  for (const auto& [method, given] : every)
    for (const int patience : {0, 3}) {
      int asked = 0;
      const Selection s = select(p.data.view(), p.options, {.name = method, .settings = given},
                                 [&](const Progress&) { return asked++ < patience; });
      EXPECT_EQ(s.status, Status::interrupted) << method << ' ' << patience;
    }
}

TEST(Clustering, refuses_what_it_cannot_do) {
  Small p = make_small(1, {Kind::gaussian});
  p.options.kernel.type = KernelType::rbf;
  EXPECT_THROW(p.run("kmeans"), Error);
  EXPECT_THROW(p.run("kmedoids", {{"metric", "manhattan"}}), Error);
  p.options.kernel.type = KernelType::linear;
  EXPECT_THROW(p.run("kmedoids", {{"init", "best"}}), Error);
  EXPECT_THROW(p.run("kmedoids", {{"restarts", "0"}}), Error);
  EXPECT_THROW(p.run("facility", {{"metric", "precomputed"}}), Error);
}

}  // namespace
}  // namespace fwsr
