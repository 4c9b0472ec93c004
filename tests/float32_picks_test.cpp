// Picks of float32 points are those of the same numbers in double, also where a few points are far larger than all others:
// scores then fall far below the largest r, and what float32 products leave of r is no longer enough for them.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {
namespace {

TEST(Float32Picks, are_those_of_double_beside_one_bright_image) {
  const Index n = 300, d = 65;
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    Rng rng(seed);
    std::vector<float> x;
    for (Index i = 0; i < n * d; ++i) x.push_back(rng.below(10) == 0 ? 1.0F : 0.0F);
    for (Index l = 0; l < d; ++l)
      x[static_cast<std::size_t>(7 * d + l)] = 200.0F + static_cast<float>(rng.below(56));
    const std::vector<double> wide(x.begin(), x.end());
    for (const Center center : {Center::none, Center::point, Center::feature}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << name_of(center));
      SelectOptions o;
      o.exemplars = 30;
      o.center = center;
      const Selection single = select(MatrixView<const float>{x.data(), n, d, d}, o);
      const Selection precise = select(MatrixView<const double>{wide.data(), n, d, d}, o);
      ASSERT_EQ(single.plan.form, FormKind::covariance);
      EXPECT_EQ(single.exemplars, precise.exemplars);
    }
  }
}

}  // namespace
}  // namespace fwsr
