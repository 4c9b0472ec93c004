// Certificates of points that are hard on floating-point numbers, and that live in several places: within the errors that
// they state, as those of one place are, and with the same bits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hard_points.hpp"
#include "same.hpp"
#include "sharded.hpp"

namespace {

using fwsr::Center;
using hard::expect_true_certificate;
using hard::Index;
using hard::Set;

/// From shards of which some have nothing; as from one.
fwsr::Selection from_shards(const fwsr::PointsView& view, const fwsr::SelectOptions& o) {
  const Index n = fwsr::rows_of(view);
  const auto choose = [&](const std::vector<fwsr::Portion>& portions) {
    return fwsr::select_sharded(sharding::shards_of(view, fwsr::preprocessing_of(o), portions),
                                sharding::shape_of(view, n), o);
  };
  const fwsr::Selection found = n > 1024 ? choose({{0, 1024, n}, {1024, 0, n}, {1024, n - 1024, n}})
                                         : choose({{0, 0, n}, {0, n, n}});
  same::expect_same(found, choose({{0, n, n}}));
  return found;
}

void expect_true(const Set& set, bool single, const fwsr::SelectOptions& o) {
  expect_true_certificate(set, single, o, from_shards);
}

// 60 points are one segment: one shard has them all.
TEST(ShardedCertificate, is_right_beside_marks_and_far_away) {
  for (const auto kernel : {fwsr::KernelType::linear, fwsr::KernelType::cosine})
    for (const bool single : {false, true})
      for (const Set& set : hard::hard_sets(single))
        for (const Center center : {Center::point, Center::none, Center::feature})
          for (const double alpha : {0.0, 2.0}) {
            SCOPED_TRACE(testing::Message() << fwsr::name_of(kernel) << ", " << set.name
                                            << (single ? ", float32" : ", float64") << ", centre "
                                            << static_cast<int>(center) << ", alpha " << alpha);
            fwsr::SelectOptions o{.exemplars = 5, .codes = true, .threads = 2};
            o.kernel.type = kernel;
            o.center = center;
            if (alpha > 0) o.alpha = alpha;
            expect_true(set, single, o);
          }
}

TEST(ShardedCertificate, is_right_beside_marks_and_far_away_in_several_segments) {
  for (const bool single : {false, true})
    for (const Set& set : hard::hard_sets(single, 1300)) {
      if (set.n < 1300) continue;
      for (const Center center : {Center::point, Center::none}) {
        SCOPED_TRACE(testing::Message() << set.name << (single ? ", float32" : ", float64")
                                        << ", centre " << static_cast<int>(center));
        fwsr::SelectOptions o{.exemplars = 5, .codes = true, .threads = 2};
        o.center = center;
        expect_true(set, single, o);
      }
    }
}

TEST(ShardedCertificate, is_right_near_a_line) {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const std::int64_t iterations : {20, 61}) {
      SCOPED_TRACE(seed);
      expect_true(hard::points_near_a_line(1100, seed), false,
                  {.exemplars = 4, .max_iterations = iterations, .codes = true, .threads = 2});
    }
}

TEST(ShardedCertificate, is_right_for_points_that_leave_few_digits) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    fwsr::Rng rng(seed);
    const Set set = hard::hard_points(rng, seed < 24 ? 1020 : 0);
    fwsr::SelectOptions o{.exemplars = 1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(
                                               std::min<Index>(set.n, 20))))};
    o.codes = true;
    o.threads = 2;
    o.center = std::vector{Center::none, Center::point, Center::feature}[rng.below(3)];
    o.kernel.type = rng.below(3) == 0 ? fwsr::KernelType::cosine : fwsr::KernelType::linear;
    if (rng.below(3) == 0) o.max_iterations = 5 + static_cast<std::int64_t>(rng.below(200));
    if (rng.below(3) == 0) o.alpha = std::pow(10.0, 2 * rng.uniform() - 1);
    if (rng.below(4) == 0) o.refine = fwsr::Refine::exchange;
    if (rng.below(4) == 0)
      for (Index i = 0; i < set.n; ++i) o.conditions.costs.push_back(1e-3 * (0.5 + rng.uniform()));
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", n " << set.n << ", d " << set.d << ", k " << o.exemplars);
    expect_true(set, false, o);
  }
}

TEST(ShardedCertificate, is_right_for_more_exemplars_than_dimensions_far_away) {
  for (const double offset : {0.0, 1e9, 1e15}) {
    SCOPED_TRACE(offset);
    expect_true(hard::normal_points(1200, 8, offset), false,
                {.exemplars = 40, .codes = true, .threads = 2});
  }
}

/// A few points are so large that nothing can be said about the others.
TEST(ShardedCertificate, says_where_giants_leave_no_digits) {
  for (const double mark : {1e10, 1e20}) {
    const Set set = hard::with_marks(hard::normal_points(1300, 8), mark, true);
    const fwsr::MatrixView<const double> view{set.values.data(), set.n, set.d};
    fwsr::SelectOptions o{.exemplars = 1, .center = Center::none, .threads = 2};
    const fwsr::Selection alone = fwsr::select(view, o), found = from_shards(view, o);
    EXPECT_EQ(found.certificate->trusted, alone.certificate->trusted);
    EXPECT_EQ(found.certificate->f_error, alone.certificate->f_error);
    EXPECT_EQ(found.certificate->gap_error, alone.certificate->gap_error);
  }
}

}  // namespace
