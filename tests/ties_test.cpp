// Ties of a width: the first of equal ones wins, and an index is an index whatever the numbers are.
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "fwsr/methods/ties.hpp"

namespace fwsr {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Ties, the_first_within_the_width_wins) {
  EXPECT_EQ(first_least(std::vector{3.0, 1.0 + 1e-9, 1.0}, 1e-8), 1);
  EXPECT_EQ(first_least(std::vector{3.0, 1.0 + 1e-7, 1.0}, 1e-8), 2);
  const std::vector score{1.0, 2.0 - 1e-9, 2.0};
  EXPECT_EQ(first_largest(3, [&](Index i) { return score[static_cast<std::size_t>(i)]; }), 1);
}

TEST(Ties, numbers_that_are_none_never_lead_past_the_end) {
  const double worst[] = {nan, -1, 0, 1, std::numeric_limits<double>::infinity()};
  for (const double a : worst)
    for (const double b : worst)
      for (const double c : worst)
        for (const double width : {0.0, 1e-8, -1.0, nan}) {
          const std::vector numbers{a, b, c};
          const Index least = first_least(numbers, width);
          EXPECT_TRUE(least >= 0 && least < 3) << a << ' ' << b << ' ' << c << ' ' << width;
          const Index largest =
              first_largest(3, [&](Index i) { return numbers[static_cast<std::size_t>(i)]; });
          EXPECT_TRUE(largest >= -1 && largest < 3) << a << ' ' << b << ' ' << c;
        }
}

}  // namespace
}  // namespace fwsr
