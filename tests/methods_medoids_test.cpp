// k-medoids, of all distances and of a batch, against the definition.
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

/// Largest cluster first, of equal ones the smaller index; every point at its nearest medoid.
void expect_well_described(const Selection& s, const Table& d, double noise) {
  std::vector<double> sizes(s.exemplars.size());
  for (std::size_t i = 0; i < s.assignment.size(); ++i) {
    ++sizes[at(s.assignment[i])];
    const Index mine = s.exemplars[at(s.assignment[i])], o = static_cast<Index>(i);
    for (const Index other : s.exemplars) {
      ASSERT_LE(d(mine, o), d(other, o) * (1 + noise) + noise);
      if (d(mine, o) == d(other, o)) {
        ASSERT_LE(mine, other);
      }
    }
  }
  EXPECT_EQ(sizes, s.weights);
  for (std::size_t t = 1; t < sizes.size(); ++t)
    ASSERT_TRUE(sizes[t - 1] > sizes[t] ||
                (sizes[t - 1] == sizes[t] && s.exemplars[t - 1] < s.exemplars[t]));
}

TEST(KMedoids, swaps_as_the_definition_says) {
  Index clear = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::offset});
    p.options.exemplars = std::min<Index>(p.data.rows(), p.options.exemplars + 1);
    const Table d = rooted(squared_distances(p.reference().plain));
    const Selection s = p.run("kmedoids");
    const Swapped literal = search_literally(d, p.options.exemplars, seed);
    if (!literal.clear) continue;
    ++clear;
    expect_same_set(s.exemplars, literal.medoids);
    EXPECT_EQ(fact(s, "swaps"), static_cast<double>(literal.swaps));
    EXPECT_EQ(fact(s, "iterations"), static_cast<double>(literal.iterations));
    const auto cost = static_cast<double>(total(d, literal.medoids));
    EXPECT_NEAR(fact(s, "cost"), cost, 1e-6 * cost + 1e-9);
    expect_well_described(s, d, 1e-6);
  }
  EXPECT_GT(clear, 100);
}

TEST(KMedoids, one_medoid_has_the_least_sum_of_all) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_grid(seed);
    p.options.exemplars = 1;
    const Table d = rooted(squared_distances(p.reference().plain));
    Index best = 0;
    for (Index j = 1; j < d.rows; ++j)
      if (total(d, {j}) < total(d, {best}) * (1 - 1e-6L)) best = j;
    const Selection s = p.run("kmedoids");
    EXPECT_NEAR(fact(s, "cost"), static_cast<double>(total(d, {best})), 1e-5);
  }
}

TEST(KMedoids, no_swap_improves_whatever_the_storage_metric_and_beginning) {
  const Storage storages[] = {Storage::dense_f32, Storage::csr_f64_i32, Storage::csr_f32_i32,
                              Storage::dense_f64};
  const char* const inits[] = {"random", "build", "lab", "kmeans++"};
  const char* const metrics[] = {"euclidean", "squared", "manhattan", "cosine"};
  for (std::uint64_t seed = 0; seed < 160; ++seed) {
    SCOPED_TRACE(seed);
    const Small p = make_small(seed, smooth, storages[seed % 4]);
    const std::string metric = metrics[seed / 4 % 4];
    const auto reference = p.reference();
    Table d = squared_distances(reference.plain);
    if (metric == "euclidean") d = rooted(d);
    for (Index i = 0; i < d.rows; ++i)
      for (Index j = 0; j < d.rows; ++j) {
        const Table& x = reference.points;
        if (metric == "manhattan") {
          d(i, j) = 0;
          for (Index l = 0; l < x.cols; ++l) d(i, j) += std::abs(x(i, l) - x(j, l));
        } else if (metric == "cosine") {
          const Real norms = std::sqrt(reference.plain(i, i)) * std::sqrt(reference.plain(j, j));
          d(i, j) = i == j ? 0 : norms > 0 ? 1 - reference.plain(i, j) / norms : 1;
        }
      }
    const Selection s = p.run("kmedoids", {{"init", inits[seed / 16 % 4]}, {"metric", metric}});
    const Real cost = total(d, s.exemplars);
    const Real largest = *std::max_element(d.values.begin(), d.values.end());
    const Real noise = 1e-5L * largest * static_cast<Real>(d.rows);
    EXPECT_NEAR(fact(s, "cost"), static_cast<double>(cost), static_cast<double>(noise));
    for (std::size_t t = 0; t < s.exemplars.size(); ++t)
      for (Index j = 0; j < d.rows; ++j) {
        std::vector<Index> other = s.exemplars;
        other[t] = j;
        ASSERT_GE(total(d, other), cost - noise);
      }
  }
}

TEST(KMedoids, build_is_greedy) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Small p = make_small(seed, {Kind::gaussian, Kind::clustered});
    const Table d = rooted(squared_distances(p.reference().plain));
    std::vector<Index> picks;
    for (Index t = 0; t < p.options.exemplars; ++t) {
      picks.push_back(-1);
      Index best = -1;
      Real least = 0;
      for (Index j = 0; j < d.rows; ++j) {
        if (std::find(picks.begin(), picks.end(), j) != picks.end()) continue;
        picks.back() = j;
        const Real sum = total(d, picks);
        picks.back() = -1;
        if (best < 0 || sum < least * (1 - 1e-12L)) best = j, least = sum;
      }
      picks.back() = best;
    }
    const Selection s = p.run("kmedoids", {{"init", "build"}, {"max_iterations", "0"}});
    expect_same_set(s.exemplars, picks);
  }
}

TEST(KMedoids, draws_by_distance_never_take_a_copy) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_grid(seed);
    std::set<std::vector<Real>> distinct;
    const Table x = p.data.exact();
    for (Index i = 0; i < x.rows; ++i)
      distinct.insert({x.values.begin() + i * x.cols, x.values.begin() + (i + 1) * x.cols});
    p.options.exemplars = std::min<Index>(p.data.rows(), static_cast<Index>(distinct.size()));
    const Selection s = p.run("kmedoids", {{"init", "kmeans++"}, {"max_iterations", "0"}});
    EXPECT_EQ(s.exemplars.size(), distinct.size());
    EXPECT_EQ(fact(s, "cost"), 0);
  }
}

TEST(KMedoids, copies_are_not_chosen_twice) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_grid(seed);
    const Table d = squared_distances(p.reference().plain);
    for (const char* init : {"random", "build", "lab", "kmeans++"}) {
      const Selection s = p.run("kmedoids", {{"init", init}, {"metric", "squared"}});
      for (std::size_t t = 0; t < s.exemplars.size(); ++t)
        for (std::size_t u = 0; u < t; ++u) ASSERT_GT(d(s.exemplars[t], s.exemplars[u]), 0);
      expect_well_described(s, d, 0);
      EXPECT_EQ(static_cast<Real>(fact(s, "cost")), total(d, s.exemplars));
      EXPECT_EQ(static_cast<Index>(s.exemplars.size()) < p.options.exemplars,
                s.status == Status::exhausted);
    }
  }
}

TEST(KMedoids, a_matrix_of_distances_is_as_good_as_points) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, smooth);
    p.options.kernel.type = seed % 2 == 0 ? KernelType::linear : KernelType::rbf;
    const Selection s = p.run("kmedoids");
    const Table d = rooted(squared_distances(p.reference(s.gamma).plain));
    const std::vector<double> values(d.values.begin(), d.values.end());
    Small q{.data = Data(d.rows, d.rows, values, Storage::dense_f64),
            .options = p.options,
            .seed = p.seed};
    q.options.kernel = {};
    q.options.center = Center::none;
    for (const char* method : {"kmedoids", "kmedoids-batch"}) {
      const Selection by_matrix = q.run(method, {{"metric", "precomputed"}});
      EXPECT_EQ(s.exemplars, by_matrix.exemplars) << method;
      EXPECT_EQ(s.assignment, by_matrix.assignment);
      EXPECT_NEAR(fact(s, "cost"), fact(by_matrix, "cost"), 1e-6 * fact(s, "cost") + 1e-9);
    }
  }
}

TEST(KMedoids, refuses_a_matrix_with_a_wrong_number_and_says_where) {
  for (const Storage storage : {Storage::dense_f64, Storage::dense_f32})
    for (const double wrong : {-1e-30, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::vector<double> values = {0, 1, 2, 1, -0.0, 3, 2, 3, 0};
      Small p{.data = Data(3, 3, values, storage), .options = {}, .seed = 0};
      p.options.exemplars = 2;
      EXPECT_EQ(p.run("kmedoids", {{"metric", "precomputed"}}).exemplars.size(), 2u);
      values[5] = wrong;
      p.data = Data(3, 3, values, storage);
      try {
        p.run("kmedoids", {{"metric", "precomputed"}});
        ADD_FAILURE() << "accepted " << wrong;
      } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("row 1, column 2"), std::string::npos) << e.what();
      }
    }
}

/// What a method says about a matrix of dissimilarities that it does not take.
std::string refusal(const std::string& method, Index n, const std::vector<double>& values,
                    Storage storage, const std::string& init = "build", Index k = 3) {
  Small p{.data = Data(n, n, values, storage), .options = {}, .seed = 0};
  p.options.exemplars = k;
  Given given{{"metric", "precomputed"}};
  if (method != "facility") given["init"] = init;
  try {
    p.run(method, given);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// All points of a matrix as far from each other.
std::vector<double> all_apart(Index n, double distance) {
  std::vector<double> values(at(n * n), distance);
  for (Index i = 0; i < n; ++i) values[at(i * n + i)] = 0;
  return values;
}

TEST(KMedoids, dissimilarities_may_be_as_large_as_their_sums_allow) {
  for (const std::string method : {"kmedoids", "kmedoids-batch", "facility"})
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32})
      for (const char* init : {"random", "build", "lab", "kmeans++"})
        for (const Index k : {1, 3}) {
          SCOPED_TRACE(method + " " + init);
          const double most = storage == Storage::dense_f64 ? 1.7e308 : 3.4e38;
          const std::string said = refusal(method, 6, all_apart(6, most), storage, init, k);
          EXPECT_NE(said.find("row 0, column 1"), std::string::npos) << said;
          EXPECT_NE(said.find("overflow"), std::string::npos) << said;
          EXPECT_EQ(refusal(method, 6, all_apart(6, most / 25), storage, init, k), "");
        }
}

TEST(KMedoids, refuses_what_is_no_matrix_of_dissimilarities) {
  for (const std::string method : {"kmedoids", "kmedoids-batch", "facility"})
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32}) {
      SCOPED_TRACE(method);
      const Index n = 70;  // more than one tile
      std::vector<double> values = all_apart(n, 2);
      values[at(3 * n + 60)] = 2.5;
      std::string said = refusal(method, n, values, storage);
      EXPECT_NE(said.find("row 3, column 60"), std::string::npos) << said;
      EXPECT_NE(said.find("mean"), std::string::npos) << said;
      values = all_apart(n, 2);
      values[at(33 * n + 33)] = 1;
      said = refusal(method, n, values, storage);
      EXPECT_NE(said.find("row 33, column 33"), std::string::npos) << said;
      values[at(33 * n + 33)] = 1e-9;  // rounding
      values[at(3 * n + 60)] = 2 + 1e-9;
      EXPECT_EQ(refusal(method, n, values, storage), "");
    }
}

TEST(KMedoids, draws_by_distance_take_no_point_twice) {
  const Index n = 6;
  std::vector<double> values = all_apart(n, 2e-9);  // little more than the rounding of the diagonal
  for (Index i = 0; i < n; ++i) {
    values[at(i * n + i)] = 1e-9;
    if (i > 0) values[at(i)] = values[at(i * n)] = 1;
  }
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const char* method : {"kmedoids", "kmedoids-batch"}) {
      Small p{.data = Data(n, n, values, Storage::dense_f64), .options = {}, .seed = seed};
      p.options.exemplars = n;
      const Selection s =
          p.run(method, {{"metric", "precomputed"}, {"init", "kmeans++"}, {"max_iterations", "0"}});
      EXPECT_EQ(s.exemplars.size(), at(n)) << method << ' ' << seed;
    }
}

TEST(KMedoids, of_a_class_only_its_own_rows_and_columns_are_looked_at) {
  const Index n = 12;
  std::vector<double> values = all_apart(n, 1);
  std::vector<std::string> labels;
  for (Index i = 0; i < n; ++i) {
    labels.push_back(i % 2 ? "odd" : "even");
    for (Index j = i % 2 ? 0 : 1; j < n; j += 2) values[at(i * n + j)] = -1;
  }
  const Data data(n, n, values, Storage::dense_f64);
  const ClassCounts two{.kind = ClassCounts::Kind::each, .number = 2};
  for (const char* method : {"kmedoids", "kmedoids-batch", "facility"}) {
    const MethodChoice choice{.name = method, .settings = {{"metric", "precomputed"}}};
    for (const ClassSelection& c : select_per_class(data.view(), labels, two, {}, choice))
      EXPECT_EQ(c.selection.exemplars.size(), 2u) << method;
  }
  values[at(4 * n + 8)] = 3;
  const Data wrong(n, n, values, Storage::dense_f64);
  try {
    select_per_class(wrong.view(), labels, two, {},
                     {.name = "kmedoids", .settings = {{"metric", "precomputed"}}});
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("row 4, column 8"), std::string::npos) << e.what();
  }
}

TEST(KMedoids, a_given_matrix_is_not_counted_twice) {
  const Index n = 600;
  const Data data(n, n, all_apart(n, 1), Storage::dense_f64);
  SelectOptions options;
  options.exemplars = 3;
  options.threads = 1;
  std::vector<std::string> labels(at(n), "a");
  for (Index i = 0; i < n / 2; ++i) labels[at(i)] = "b";
  for (const char* method : {"kmedoids", "facility"}) {
    const MethodChoice given{.name = method, .settings = {{"metric", "precomputed"}}};
    const Index whole = plan(data.view(), options, given).memory_bytes;
    EXPECT_EQ(plan(data.view(), options, {.name = method}).memory_bytes - whole, 8 * n * n);
    const auto classes = plan_per_class(
        data.view(), labels, {.kind = ClassCounts::Kind::each, .number = 3}, options, given);
    EXPECT_GT(classes[0].plan.memory_bytes, whole + 8 * n * n / 4 - 100 * n) << method;
  }
}

TEST(KMedoids, copies_by_angle_are_not_chosen_twice) {
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32})
      for (const bool kernel : {false, true}) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const Index copies = 10, distinct = 4, d = 2 + static_cast<Index>(seed % 7);
        std::vector<double> one(at(distinct * d)), values;
        for (double& v : one) v = rng.normal();
        for (Index c = 0; c < copies; ++c)
          for (const double v : one)  // in float32, multiples by 3 are other points
            values.push_back(storage == Storage::dense_f32 ? v
                                                           : v * static_cast<double>(1 + c % 3));
        Small p{.data = Data(copies * distinct, d, values, storage), .options = {}, .seed = seed};
        p.options.exemplars = 12;
        p.options.center = Center::none;
        if (kernel) {
          p.options.kernel = {.type = KernelType::polynomial, .degree = 2};
          p.options.kernel.coef0 = 0;
        }
        const Selection s = p.run("kmedoids", {{"metric", "cosine"}});
        EXPECT_EQ(s.exemplars.size(), 4u);
        EXPECT_LT(fact(s, "swaps"), 20);
        EXPECT_EQ(p.run("facility", {{"metric", "cosine"}}).exemplars.size(), 4u);
      }
}

TEST(KMedoids, angles_far_below_rounding_are_told_apart) {
  const std::vector<double> values = {1, 0, 1, 1e-9, 1, 3e-9, 0, 1};
  Small p{.data = Data(4, 2, values, Storage::dense_f64), .options = {}, .seed = 0};
  p.options.exemplars = 3;
  p.options.center = Center::none;
  const Selection s = p.run("kmedoids", {{"metric", "cosine"}, {"init", "build"}});
  EXPECT_NEAR(fact(s, "cost"), 0.5e-18, 1e-24);
}

TEST(KMedoids, tight_clusters_come_to_an_end) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Rng rng(seed);
    std::vector<double> values;
    for (Index i = 0; i < 700; ++i)
      for (Index l = 0; l < 3; ++l)
        values.push_back(static_cast<double>(i % 7 == l) + static_cast<double>(i % 7 == l + 3) * 2 +
                         1e-13 * rng.normal());
    Small p{.data = Data(700, 3, values, Storage::dense_f64), .options = {}, .seed = seed};
    p.options.exemplars = 7;
    p.options.center = Center::none;
    const Selection s = p.run("kmedoids");
    EXPECT_EQ(s.status, Status::exemplars_reached) << seed;
    EXPECT_LT(fact(s, "iterations"), 20) << seed;
  }
}

TEST(KMedoids, restarts_keep_the_best) {
  double gained = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Small p = make_small(seed, {Kind::gaussian});
    const double one = fact(p.run("kmedoids"), "cost");
    const double many = fact(p.run("kmedoids", {{"restarts", "6"}}), "cost");
    EXPECT_LE(many, one * (1 + 1e-12)) << seed;
    gained += one - many;
  }
  EXPECT_GT(gained, 0);
}

TEST(KMedoids, alternates_as_the_definition_says) {
  Index clear = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::offset});
    p.options.exemplars = std::min<Index>(p.data.rows(), p.options.exemplars + 1);
    const Table d = rooted(squared_distances(p.reference().plain));
    const Alternated literal = alternate_literally(d, p.options.exemplars, seed);
    if (!literal.clear) continue;
    ++clear;
    const Selection s = p.run("kmedoids", {{"algorithm", "alternating"}});
    expect_same_set(s.exemplars, literal.medoids);
    EXPECT_EQ(fact(s, "swaps"), static_cast<double>(literal.moves));
    EXPECT_EQ(fact(s, "iterations"), static_cast<double>(literal.iterations));
    const auto cost = static_cast<double>(total(d, literal.medoids));
    EXPECT_NEAR(fact(s, "cost"), cost, 1e-6 * cost + 1e-9);
    expect_well_described(s, d, 1e-6);
  }
  EXPECT_GT(clear, 100);
}

TEST(KMedoids, turns_never_cost_more_and_swaps_end_lower) {
  double alternating = 0, swapping = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Small p = seed % 2 ? make_grid(seed) : make_small(seed, smooth, Storage::dense_f32);
    double before = std::numeric_limits<double>::infinity();
    Status status = Status::iteration_limit;
    for (Index turns = 0; status == Status::iteration_limit; ++turns) {
      ASSERT_LT(turns, 60);
      const Given given = {{"algorithm", "alternating"}, {"max_iterations", std::to_string(turns)}};
      const Selection s = p.run("kmedoids", given);
      const double cost = fact(s, "cost");
      EXPECT_LE(cost, before * (1 + 1e-6));
      before = cost, status = s.status;
    }
    alternating += before;
    swapping += fact(p.run("kmedoids"), "cost");
  }
  EXPECT_LT(swapping, alternating);
}

TEST(KMedoids, turns_do_not_depend_on_the_number_of_threads) {
  Rng rng(5);
  std::vector<double> values(2000 * 3);
  for (double& v : values) v = rng.normal();
  Small p{.data = Data(2000, 3, values, Storage::dense_f64), .options = {}, .seed = 3};
  p.options.exemplars = 200;  // enough to do for several threads in both halves of a turn
  p.options.threads = 1;
  const Given given = {{"algorithm", "alternating"}, {"restarts", "2"}};
  const Selection one = p.run("kmedoids", given);
  for (const int threads : {2, 3, 8}) {
    p.options.threads = threads;
    const Selection other = p.run("kmedoids", given);
    EXPECT_EQ(one.exemplars, other.exemplars) << threads;
    EXPECT_EQ(one.weights, other.weights) << threads;
    EXPECT_EQ(fact(one, "cost"), fact(other, "cost")) << threads;
  }
}

// ---- k-medoids on one batch --------------------------------------------------------------------

TEST(KMedoidsBatch, minimises_the_weighted_sum_over_its_batch) {
  Index checked = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Small p = make_small(seed, {Kind::gaussian, Kind::clustered, Kind::offset});
    p.options.exemplars = 2;
    const Table all = rooted(squared_distances(p.reference().plain));
    const Index n = all.rows, m = std::min<Index>(n, 8 + static_cast<Index>(seed % 7));
    const Table d = batch_literally(all, m, seed);
    const Swapped literal = search_literally(d, 2, seed);
    if (!literal.clear) continue;
    checked += m < n;
    const Selection s = p.run("kmedoids-batch", {{"batch", std::to_string(m)}});
    expect_same_set(s.exemplars, literal.medoids);
    EXPECT_EQ(fact(s, "swaps"), static_cast<double>(literal.swaps));
    const auto cost = static_cast<double>(total(all, literal.medoids));
    EXPECT_NEAR(fact(s, "cost"), cost, 1e-6 * cost + 1e-9);
    expect_well_described(s, all, 1e-6);
  }
  EXPECT_GT(checked, 80);
}

TEST(KMedoidsBatch, all_points_in_the_batch_make_it_k_medoids) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Small p = make_small(seed, smooth, seed % 2 ? Storage::dense_f32 : Storage::csr_f64_i32);
    const Selection a = p.run("kmedoids"), b = p.run("kmedoids-batch");
    EXPECT_EQ(a.exemplars, b.exemplars);
    EXPECT_EQ(a.assignment, b.assignment);
    EXPECT_EQ(fact(b, "batch"), static_cast<double>(p.data.rows()));
  }
}

TEST(KMedoidsBatch, costs_little_more_than_all_distances) {
  Small p{.data = blobs(3000, 5, 12, 3, Storage::dense_f32), .options = {}, .seed = 0};
  p.options.exemplars = 12;
  p.options.certificate = CertificateKind::none;
  const double full = fact(p.run("kmedoids", {{"restarts", "3"}}), "cost");
  const Selection s = p.run("kmedoids-batch", {{"restarts", "3"}});
  EXPECT_LT(fact(s, "batch"), 1200);
  EXPECT_LT(fact(s, "cost"), 1.03 * full);
}

}  // namespace
}  // namespace fwsr
