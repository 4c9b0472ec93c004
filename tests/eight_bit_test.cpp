// Products of eight-bit numbers against those in double: off by no more than they say, and nobody who may be the least is
// left out.
#include "fwsr/linalg/eight_bit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"

namespace {

using fwsr::EightBitRows;
using fwsr::Index;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Rows of sizes from `smallest` to 1; some are zero.
std::vector<float> rows_of(Index count, Index d, double smallest, fwsr::Rng& rng) {
  std::vector<float> values;
  for (Index i = 0; i < count; ++i) {
    const double size = i % 7 == 6 ? 0 : std::pow(smallest, rng.uniform());
    for (Index l = 0; l < d; ++l) values.push_back(static_cast<float>(size * rng.normal()));
  }
  return values;
}

double product(const float* a, const float* b, Index d) {
  double sum = 0;
  for (Index l = 0; l < d; ++l) sum += static_cast<double>(a[l]) * static_cast<double>(b[l]);
  return sum;
}

double norm(const float* a, Index d) {
  return std::sqrt(product(a, a, d));
}

TEST(EightBit, values_are_off_by_no_more_than_they_say) {
  if (!fwsr::has_eight_bit_products()) GTEST_SKIP() << "this processor has no such products";
  fwsr::Rng rng(4);
  EightBitRows::Scratch scratch;
  for (const double smallest : {1.0, 1e-3, 1e-10})
    for (const Index d : {1, 3, 16, 17, 64, 257, 1000})
      for (const Index count : {1, 63, 64, 65, 200}) {
        SCOPED_TRACE(std::to_string(d) + " numbers, " + std::to_string(count) + " rows");
        const std::vector<float> b = rows_of(count, d, smallest, rng),
                                 u = rows_of(EightBitRows::at_once, d, smallest, rng);
        std::vector<float> add;
        double longest = 0;
        for (Index t = 0; t < count; ++t) {
          add.push_back(static_cast<float>(rng.normal()));
          longest = std::max(longest, norm(b.data() + t * d, d));
        }
        const EightBitRows rows(b.data(), add.data(), count, d);
        for (const Index points : {Index{1}, Index{5}, EightBitRows::at_once}) {
          rows.find(u.data(), points, scratch);
          for (Index i = 0; i < points; ++i) {
            const float* const own = u.data() + i * d;
            const double size = norm(own, d);
            std::vector<double> values;
            for (Index t = 0; t < count; ++t)
              values.push_back(static_cast<double>(add[at(t)]) - product(own, b.data() + t * d, d));
            const double least = *std::min_element(values.begin(), values.end());
            // Of float32: a product of whole numbers, two scales, a difference.
            const double rounding = 8 * 0x1p-24 * (size * longest + 4);
            const double error = rows.error(i, scratch);
            EXPECT_NEAR(static_cast<double>(rows.least(i, scratch)), least, error + rounding);
            if (i % 7 == 6) {
              EXPECT_TRUE(std::isinf(error));  // a point at the origin: nothing is known
              continue;
            }
            // A whole number is off by half of one at most, and there are 127 to the largest.
            const double part = std::sqrt(static_cast<double>(d)) / 254;
            EXPECT_LE(error, size * longest * (2.02 * part + 1.1 * part * part + 1e-4));

            const auto enough = static_cast<float>(least + error + rounding);
            std::vector<Index> found(at(count));
            const Index open = rows.no_more_than(enough, i, scratch, found.data(), count);
            found.resize(at(open));
            EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
            for (Index t = 0; t < count; ++t) {
              const bool in = std::binary_search(found.begin(), found.end(), t);
              if (values[at(t)] <= least) {
                EXPECT_TRUE(in) << t;
              }
              if (in) {
                EXPECT_LE(values[at(t)], least + 2 * (error + rounding)) << t;
              }
            }
          }
        }
      }
}

TEST(EightBit, what_is_no_number_or_too_large_is_known_to_nothing) {
  if (!fwsr::has_eight_bit_products()) GTEST_SKIP() << "this processor has no such products";
  const Index d = 20, count = 70;
  fwsr::Rng rng(5);
  EightBitRows::Scratch scratch;
  std::vector<Index> places(at(count));
  const std::vector<float> add(at(count), 1.0f);
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    std::vector<float> b = rows_of(count, d, 1, rng), u = rows_of(1, d, 1, rng);
    u[3] = wrong;
    const EightBitRows good(b.data(), add.data(), count, d);
    good.find(u.data(), 1, scratch);
    EXPECT_FALSE(std::isfinite(good.error(0, scratch)));
    u[3] = 0;
    b[at(25 * d + 7)] = wrong;
    const EightBitRows bad(b.data(), add.data(), count, d);
    bad.find(u.data(), 1, scratch);
    EXPECT_FALSE(std::isfinite(bad.error(0, scratch)));
    // Beside no number everybody is in doubt.
    EXPECT_EQ(
        bad.no_more_than(std::numeric_limits<float>::quiet_NaN(), 0, scratch, places.data(), count),
        count);
  }
}

}  // namespace
