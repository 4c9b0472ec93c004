// Filled answers, and what goes with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {
namespace {

/// Three distinct points, five copies of each.
const std::vector<double> copies = [] {
  std::vector<double> x;
  for (int i = 0; i < 15; ++i)
    for (int l = 0; l < 4; ++l) x.push_back(l == i % 3 ? 2.0 + l : 0.5);
  return x;
}();
const MatrixView<const double> points{copies.data(), 15, 4, 4};

SelectOptions filled(Index k) {
  SelectOptions o;
  o.exemplars = k;
  o.kernel.type = KernelType::rbf;
  o.fill = true;
  o.codes = true;
  o.assignment = true;
  return o;
}

TEST(Fill, codes_have_a_zero_column_for_every_filled_point) {
  const Selection s = select(points, filled(7));
  ASSERT_EQ(s.exemplars.size(), 7u);
  ASSERT_EQ(s.codes.size(), 15u * 7u);
  std::vector<double> norms(7);
  for (std::size_t i = 0; i < 15; ++i)
    for (std::size_t t = 0; t < 7; ++t) norms[t] += s.codes[i * 7 + t] * s.codes[i * 7 + t];
  for (std::size_t t = 0; t < 7; ++t) {
    EXPECT_EQ(s.filled[t], t >= 3);
    EXPECT_NEAR(norms[t], s.strength[t] * s.strength[t], 1e-12 * norms[0]);
    EXPECT_EQ(norms[t] == 0, s.filled[t]);
  }
}

TEST(Fill, codes_of_new_points_are_zero_there_too) {
  const SelectOptions o = filled(7);
  const Selection s = select(points, o);
  const std::vector<double> again = encode(points, o, s, points);
  ASSERT_EQ(again.size(), s.codes.size());
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_NEAR(again[i], s.codes[i], 1e-12) << i;
}

TEST(Fill, exemplars_stand_for_themselves_and_the_first_of_equal_ones_for_the_others) {
  const std::vector<double> equal(6 * 3, 1.5);  // nothing is left of them when each is centred
  SelectOptions o = filled(4);
  o.kernel.type = KernelType::linear;
  const Selection s = select(MatrixView<const double>{equal.data(), 6, 3, 3}, o);
  EXPECT_EQ(s.exemplars, (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(s.weights, (std::vector<double>{3, 1, 1, 1}));
  EXPECT_EQ(s.assignment, (std::vector<Index>{0, 1, 2, 3, 0, 0}));
}

/// Of n points of d numbers those that farthest-first traversal adds to the first `found` of `exemplars`.
std::vector<Index> literally_filled(const std::vector<double>& x, Index d,
                                    std::vector<Index> exemplars, std::size_t found) {
  const Index n = std::ssize(x) / d;
  const auto apart = [&](Index i, Index j) {
    long double sum = 0;
    for (Index l = 0; l < d; ++l) {
      const long double gap = static_cast<long double>(x[static_cast<std::size_t>(i * d + l)]) -
                              static_cast<long double>(x[static_cast<std::size_t>(j * d + l)]);
      sum += gap * gap;
    }
    return sum;
  };
  const std::size_t k = exemplars.size();
  exemplars.resize(found);
  while (exemplars.size() < k) {
    Index best = -1;
    long double most = -1;
    for (Index i = 0; i < n; ++i) {
      long double least = std::numeric_limits<long double>::infinity();
      for (const Index e : exemplars) least = std::min(least, apart(i, e));
      if (least > most) best = i, most = least;
    }
    exemplars.push_back(best);
  }
  return exemplars;
}

TEST(Fill, one_giant_does_not_hide_how_far_apart_the_others_are) {
  const Index n = 60, d = 3;
  for (const double giant : {1e2, 1e5, 1e8}) {
    Rng rng(3);
    std::vector<double> x;
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < d; ++l) x.push_back(rng.normal() * static_cast<double>(1 + i % 7));
    for (Index l = 0; l < d; ++l)
      x[static_cast<std::size_t>(25 * d + l)] = giant * (static_cast<double>(l) - 0.7);
    const MatrixView<const double> rows{x.data(), n, d, d};
    std::vector<double> kernel(static_cast<std::size_t>(n * n));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index l = 0; l < d; ++l)
          kernel[static_cast<std::size_t>(i * n + j)] +=
              x[static_cast<std::size_t>(i * d + l)] * x[static_cast<std::size_t>(j * d + l)];
    const auto expect_literally = [&](const Selection& s) {
      ASSERT_EQ(s.exemplars.size(), 14u);
      const auto found =
          static_cast<std::size_t>(std::count(s.filled.begin(), s.filled.end(), false));
      ASSERT_LT(found, 14u);
      EXPECT_EQ(s.exemplars, literally_filled(x, d, s.exemplars, found));
    };
    for (const double eta : {0.0, 0.5}) {
      SelectOptions o;
      o.exemplars = 14;
      o.fill = true;
      o.eta = eta;
      for (const Center center : {Center::none, Center::feature}) {
        SCOPED_TRACE(testing::Message()
                     << giant << " eta " << eta << (center == Center::none ? "" : " centred"));
        o.center = center;
        expect_literally(select(rows, o));
      }
    }
    SelectOptions o;
    o.exemplars = 14;
    o.fill = true;
    o.kernel.type = KernelType::precomputed;
    SCOPED_TRACE(testing::Message() << giant << " of a kernel");
    expect_literally(select(MatrixView<const double>{kernel.data(), n, n, n}, o));
  }
}

TEST(Fill, what_points_have_in_common_does_not_hide_how_far_apart_they_are) {
  const double seconds[] = {51, 38, 30, 16, 18, 2, 4, 0, 10, 48, 39, 54};
  for (const double common : {0.0, 1e3, 1e6, 1e8, 1.7e9, 1e12})
    for (const Center center : {Center::none, Center::point, Center::feature}) {
      SCOPED_TRACE(testing::Message() << common << ", " << name_of(center));
      std::vector<double> x;
      for (const double s : seconds) x.insert(x.end(), {common + s, 3});
      SelectOptions o;
      o.exemplars = 6;
      o.fill = true;
      o.center = center;
      const Selection s = select(MatrixView<const double>{x.data(), 12, 2, 2}, o);
      ASSERT_EQ(s.exemplars.size(), 6u);
      const auto found =
          static_cast<std::size_t>(std::count(s.filled.begin(), s.filled.end(), false));
      ASSERT_LT(found, 6u);
      EXPECT_EQ(s.exemplars, literally_filled(x, 2, s.exemplars, found));
    }
}

TEST(Fill, two_giants_side_by_side_are_told_apart) {
  // 1 and 2 are the farthest from the others; then 4 from 3, and the giants from each other in their turn.
  const std::vector<double> x = {0, 0, 2e7, 1e7, 2e7 + 1.5, 1e7, 0.25, 0, 1, 0, 0, 0.5};
  SelectOptions o;
  o.exemplars = 6;
  o.fill = true;
  o.center = Center::none;
  const Selection s = select(MatrixView<const double>{x.data(), 6, 2, 2}, o);
  const auto found = static_cast<std::size_t>(std::count(s.filled.begin(), s.filled.end(), false));
  ASSERT_LT(found, 5u);
  EXPECT_EQ(s.exemplars, literally_filled(x, 2, s.exemplars, found));
}

TEST(Fill, the_warning_says_that_it_was_done) {
  const Selection s = select(points, filled(7));
  ASSERT_FALSE(s.warnings.empty());
  EXPECT_NE(s.warnings[0].find("asked for 7, found 3"), std::string::npos) << s.warnings[0];
  EXPECT_NE(s.warnings[0].find("filled up"), std::string::npos) << s.warnings[0];
}

TEST(Fill, the_warning_counts_what_floors_of_groups_added) {
  for (const std::string method : {"k-fwsr", "rrqr"}) {
    SelectOptions o = filled(7);
    o.fill = o.codes = false;
    for (int i = 0; i < 15; ++i) o.conditions.groups.add(i % 3 == 0 ? "a" : i < 9 ? "b" : "c");
    const auto warning = [&](Index k, Index floor) {
      o.exemplars = k;
      o.conditions.at_least.each = floor;
      const Selection s = select(points, o, {.name = method});
      EXPECT_EQ(std::ssize(s.exemplars), k < 9 ? 3 * floor : k);
      EXPECT_EQ(std::count(s.filled.begin(), s.filled.end(), true), std::ssize(s.exemplars) - 3);
      return s.warnings.empty() ? "" : s.warnings[0];
    };
    const std::string all = warning(9, 3), some = warning(8, 2);
    const std::string told = " were added for the floors of groups, the farthest points of these";
    EXPECT_EQ(all.find("asked for 9, found 3"), 0U) << all;
    EXPECT_NE(all.find("; 6" + told), std::string::npos) << all;
    EXPECT_EQ(all.find("fill would"), std::string::npos) << all;
    EXPECT_EQ(some.find("asked for 8, found 3"), 0U) << some;
    EXPECT_NE(some.find("; 3" + told + "; fill would add the farthest ones"), std::string::npos)
        << some;
  }
}

TEST(Fill, per_class_codes_are_whole_and_small_classes_give_all) {
  std::vector<std::string> labels(15, "a");
  labels[3] = labels[9] = "b";
  const auto parts = select_per_class(
      points, labels, {.kind = ClassCounts::Kind::each, .number = 6, .named = {}}, filled(1));
  ASSERT_EQ(parts.size(), 2u);
  for (const ClassSelection& part : parts) {
    const std::size_t k = part.selection.exemplars.size();
    EXPECT_EQ(static_cast<Index>(part.members.size()), part.points);
    ASSERT_EQ(part.selection.codes.size(), part.members.size() * k);
    EXPECT_EQ(part.selection.assignment.size(), part.members.size());
  }
  EXPECT_EQ(parts[0].selection.exemplars.size(), 6u);
  EXPECT_EQ(parts[1].selection.exemplars, (std::vector<Index>{3, 9}));
  EXPECT_EQ(parts[1].selection.codes, (std::vector<double>{1, 0, 0, 1}));
  EXPECT_FALSE(parts[1].selection.warnings.empty());
}

TEST(Warnings, more_exemplars_than_dimensions) {
  std::vector<double> x;
  for (int i = 0; i < 40; ++i) x.push_back(0.37 * i * i - i), x.push_back(1.0 + i % 7);
  const MatrixView<const double> plane{x.data(), 40, 2, 2};
  const auto warned = [&](Index k, KernelType kernel) {
    SelectOptions o;
    o.exemplars = k;
    o.center = Center::none;
    o.kernel.type = kernel;
    for (const std::string& w : select(plane, o).warnings)
      if (w.find("2 dimensions") != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(warned(3, KernelType::linear));
  EXPECT_FALSE(warned(2, KernelType::linear));
  EXPECT_FALSE(warned(3, KernelType::rbf));
}

}  // namespace
}  // namespace fwsr
