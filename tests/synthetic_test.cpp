#include "fwsr/data/synthetic.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "fwsr/base/result.hpp"

namespace fwsr {
namespace {

std::span<const double> row(const Synthetic& set, Index i) {
  return std::span(set.points.values)
      .subspan(static_cast<std::size_t>(i * set.points.cols),
               static_cast<std::size_t>(set.points.cols));
}

/// Least squares over the weights of the exemplars by conjugate gradients, as plainly as can be:
/// the exemplars are independent, so that the weights are unique.
std::vector<double> weights_of(const Synthetic& set, Index point) {
  const std::size_t k = set.exemplars.size();
  const auto residual_of = [&](const std::vector<double>& w) {
    std::vector<double> r(row(set, point).begin(), row(set, point).end());
    for (std::size_t e = 0; e < k; ++e)
      for (std::size_t j = 0; j < r.size(); ++j) r[j] -= w[e] * row(set, set.exemplars[e])[j];
    return r;
  };
  std::vector<double> w(k, 0.0);
  std::vector<double> direction(k, 0.0);
  double before = 0;
  for (std::size_t step = 0; step < 3 * k; ++step) {
    const auto r = residual_of(w);
    std::vector<double> g(k, 0.0);
    for (std::size_t e = 0; e < k; ++e)
      g[e] = std::inner_product(r.begin(), r.end(), row(set, set.exemplars[e]).begin(), 0.0);
    const double now = std::inner_product(g.begin(), g.end(), g.begin(), 0.0);
    if (now < 1e-26) break;
    for (std::size_t e = 0; e < k; ++e)
      direction[e] = g[e] + (step % k == 0 ? 0 : now / before) * direction[e];
    std::vector<double> image(r.size(), 0.0);
    for (std::size_t e = 0; e < k; ++e)
      for (std::size_t j = 0; j < r.size(); ++j)
        image[j] += direction[e] * row(set, set.exemplars[e])[j];
    const double length = std::inner_product(image.begin(), image.end(), image.begin(), 0.0);
    const double slope = std::inner_product(g.begin(), g.end(), direction.begin(), 0.0);
    for (std::size_t e = 0; e < k; ++e) w[e] += slope / length * direction[e];
    before = now;
  }
  return w;
}

TEST(ConvexCombinations, has_the_shape_of_the_paper_by_default) {
  const Synthetic set = convex_combinations();
  EXPECT_EQ(set.points.rows, 150);
  EXPECT_EQ(set.points.cols, 200);
  EXPECT_EQ(set.points.values.size(), 30'000u);
  EXPECT_EQ(set.exemplars.size(), 30u);
  EXPECT_TRUE(std::is_sorted(set.exemplars.begin(), set.exemplars.end()));
  EXPECT_EQ(std::count(set.labels.begin(), set.labels.end(), 1), 30);
  EXPECT_EQ(set.labels.size(), 150u);
  for (const Index e : set.exemplars) EXPECT_EQ(set.labels[static_cast<std::size_t>(e)], 1);
}

TEST(ConvexCombinations, mixes_as_many_exemplars_as_asked) {
  const Synthetic set =
      convex_combinations({.exemplars = 7, .points = 20, .dimensions = 40, .mixed = 3, .seed = 4});
  for (Index i = 0; i < set.points.rows; ++i) {
    if (set.labels[static_cast<std::size_t>(i)] == 1) continue;
    const auto w = weights_of(set, i);
    EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1, 1e-9);
    EXPECT_GT(*std::min_element(w.begin(), w.end()), -1e-9);
    EXPECT_EQ(std::count_if(w.begin(), w.end(), [](double v) { return v > 1e-9; }), 3);
  }
}

TEST(ConvexCombinations, adds_noise_to_the_mixtures_only) {
  const ConvexOptions quiet{.seed = 9};
  ConvexOptions loud = quiet;
  loud.noise = 0.5;
  const Synthetic a = convex_combinations(quiet);
  const Synthetic b = convex_combinations(loud);
  ASSERT_EQ(a.exemplars, b.exemplars);
  double sum = 0;
  for (Index i = 0; i < a.points.rows; ++i)
    for (std::size_t j = 0; j < 200; ++j) {
      const double difference = row(b, i)[j] - row(a, i)[j];
      sum += difference * difference;
      if (a.labels[static_cast<std::size_t>(i)] == 1) {
        EXPECT_EQ(difference, 0);
      }
    }
  // The mean of 24000 squares of N(0, 0.25) has a standard deviation of 0.0023.
  EXPECT_NEAR(sum / 24'000, 0.25, 6 * 0.0023);
}

TEST(Blobs, spreads_points_evenly) {
  for (const Index clusters : {1, 3, 7, 1000}) {
    const Synthetic set = blobs({.points = 1000, .clusters = clusters, .dimensions = 2});
    std::vector<Index> sizes(static_cast<std::size_t>(clusters), 0);
    for (const Index label : set.labels) ++sizes.at(static_cast<std::size_t>(label));
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_LE(*most - *least, 1) << clusters;
    EXPECT_GE(*least, 1) << clusters;
  }
}

TEST(Blobs, has_the_deviation_and_the_box_it_was_asked_for) {
  const Synthetic set = blobs({.points = 400, .clusters = 4, .dimensions = 300, .seed = 1});
  const Index d = set.points.cols;
  double inside = 0;
  for (Index c = 0; c < 4; ++c)
    for (Index j = 0; j < d; ++j) {
      double mean = 0;
      double square = 0;
      for (Index i = 0; i < 400; ++i) {
        if (set.labels[static_cast<std::size_t>(i)] != c) continue;
        const double v = row(set, i)[static_cast<std::size_t>(j)];
        mean += v / 100;
        square += v * v / 100;
      }
      EXPECT_LT(std::abs(mean), 10 + 6 * 2.0);  // the mean of 100 has a deviation of 2
      inside += (square - mean * mean) * (100.0 / 99) / (4.0 * static_cast<double>(d));
    }
  EXPECT_NEAR(inside, 400, 6 * 400 * std::sqrt(2.0 / (99 * 1200)));
}

TEST(Synthetic, is_the_same_for_any_threads_and_differs_by_seed) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Synthetic mixed = convex_combinations({.noise = 0.1, .seed = 3});
  const Synthetic spread = blobs({.points = 50, .dimensions = 30, .seed = 3});
  for (const int threads : {2, 3, 8}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(convex_combinations({.noise = 0.1, .seed = 3}).points.values, mixed.points.values);
    EXPECT_EQ(blobs({.points = 50, .dimensions = 30, .seed = 3}).points.values,
              spread.points.values);
  }
  omp_set_num_threads(before);
  EXPECT_NE(convex_combinations({.noise = 0.1, .seed = 4}).points.values, mixed.points.values);
  EXPECT_NE(blobs({.points = 50, .dimensions = 30, .seed = 4}).points.values, spread.points.values);
}

TEST(Synthetic, refuses_what_makes_no_sense) {
  EXPECT_THROW(convex_combinations({.exemplars = 2, .mixed = 3}), Error);
  EXPECT_THROW(convex_combinations({.points = -1}), Error);
  EXPECT_THROW(convex_combinations({.dimensions = 0}), Error);
  EXPECT_THROW(convex_combinations({.noise = -1}), Error);
  EXPECT_THROW(convex_combinations({.noise = std::nan("")}), Error);
  EXPECT_THROW(blobs({.clusters = 0}), Error);
  EXPECT_THROW(blobs({.points = 3, .clusters = 4}), Error);
  EXPECT_THROW(blobs({.points = Index{1} << 40, .dimensions = Index{1} << 40}), Error);
}

}  // namespace
}  // namespace fwsr
