// Farthest-first traversal against its definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fwsr/methods/methods.hpp"
#include "problems.hpp"

namespace {

using fwsr::Index;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

TEST(KCenter, takes_the_farthest_point_every_time) {
  Index compared = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    fwsr::Rng rng(seed);
    const auto n = static_cast<Index>(8 + rng.below(40)), d = static_cast<Index>(1 + rng.below(6));
    const Kind kind = seed % 3 == 0   ? Kind::clustered
                      : seed % 3 == 1 ? Kind::gaussian
                                      : Kind::duplicates;
    const std::vector<double> a = problems::make_values(kind, n, d, true, rng);
    const Data data(n, d, a, Storage::dense_f64);
    const auto far = [&](Index i, Index j) {
      double sum = 0;
      for (Index l = 0; l < d; ++l) sum += std::pow(a[at(i * d + l)] - a[at(j * d + l)], 2);
      return std::sqrt(sum);
    };
    const auto nearest = [&](Index i, const std::vector<Index>& taken) {
      double least = far(i, taken.front());
      for (const Index t : taken) least = std::min(least, far(i, t));
      return least;
    };
    const fwsr::Selection s =
        fwsr::select(data.view(), {.exemplars = std::min<Index>(n, 7), .threads = 2},
                     fwsr::MethodChoice{.name = "k-center", .settings = {}, .seed = seed});
    // Begins at the point with the least sum of distances (all points are the sample here).
    std::vector<double> sums(at(n));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) sums[at(i)] += far(i, j);
    EXPECT_LE(sums[at(s.exemplars.front())],
              *std::min_element(sums.begin(), sums.end()) * (1 + 1e-12));
    std::vector<Index> taken = {s.exemplars.front()};
    for (std::size_t t = 1; t < s.exemplars.size(); ++t) {
      double most = 0;
      for (Index i = 0; i < n; ++i) most = std::max(most, nearest(i, taken));
      EXPECT_GE(nearest(s.exemplars[t], taken), most * (1 - 1e-12));
      EXPECT_NEAR(s.strength[t - 1], most, 1e-12 * most);
      taken.push_back(s.exemplars[t]);
      ++compared;
    }
    double radius = 0;
    for (Index i = 0; i < n; ++i) radius = std::max(radius, nearest(i, taken));
    ASSERT_EQ(s.facts.front().name, "radius");
    EXPECT_NEAR(s.facts.front().value, radius, 1e-12 * (1 + radius));
    if (static_cast<Index>(s.exemplars.size()) < std::min<Index>(n, 7)) {
      EXPECT_EQ(radius, 0);
    }
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
