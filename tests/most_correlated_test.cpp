// Products in float32 that find the most correlated point, against all products in double.
#include "fwsr/methods/most_correlated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/ties.hpp"
#include "fwsr/prep/points.hpp"

namespace {

using fwsr::Index;

struct Case {
  const char* name;
  Index n, d;
  double offset = 0;  // of all points from the origin
  int copies = 0;     // every so many points one is a copy of another, or its mirror image; 0: none
  bool lattice = false;  // whole numbers: many products are equal
  bool apart = false;    // every point has a feature of its own, and no two have a product
  double size = 1;       // of the first point, beside 1
};

std::vector<double> numbers(const Case& c, fwsr::Rng& rng) {
  std::vector<double> values(static_cast<std::size_t>(c.n * c.d));
  const auto row = [&](Index i) { return values.begin() + i * c.d; };
  for (Index i = 0; i < c.n; ++i)
    for (Index l = 0; l < c.d; ++l) {
      const double x = c.lattice ? std::round(1.5 * rng.normal()) : rng.normal();
      row(i)[l] = c.apart ? static_cast<double>(l == i) : c.offset + x;
    }
  for (Index i = 1; c.copies > 0 && i < c.n; i += c.copies) {
    std::copy_n(row(i / 2), c.d, row(i));
    if (i % 2 == 0)
      for (Index l = 0; l < c.d; ++l) row(i)[l] = -row(i)[l];
  }
  if (c.n > 20) std::fill_n(row(20), c.d, 0.0);
  for (Index l = 0; l < c.d; ++l) row(0)[l] *= c.size;
  return values;
}

class Found : public testing::TestWithParam<Case> {};

TEST_P(Found, is_the_most_correlated_in_double) {
  const Case& c = GetParam();
  fwsr::Rng rng(7);
  const std::vector<double> values = numbers(c, rng);
  for (const fwsr::Center center : {fwsr::Center::none, fwsr::Center::feature}) {
    const fwsr::Points points(fwsr::MatrixView<const double>{values.data(), c.n, c.d, c.d}, {},
                              {.center = center}, 1);
    std::vector<double> rows(values.size()), scales;
    points.rows(0, c.n, rows.data());
    for (Index i = 0; i < c.n; ++i) {
      const double norm = std::sqrt(points.squared_norm(i));
      scales.push_back(norm > 0 ? 1 / norm : 0.0);
    }
    // Points themselves, and what one of them leaves of another, which may be little.
    const Index count = std::min<Index>(150, c.n);
    std::vector<double> vectors(rows.begin(), rows.begin() + count * c.d);
    for (Index v = 1; v < count; v += 3)
      for (Index l = 0; l < c.d; ++l)
        vectors[static_cast<std::size_t>(v * c.d + l)] *= v % 2 == 0 ? 1e-7 : 1e5;
    const auto passed = [&](Index v, Index j) { return j == v || j % 7 == v % 7; };
    fwsr::MostCorrelated search(points, scales, count);
    const std::vector<Index> found = search.find(vectors, count, passed, fwsr::tie_width, {});
    ASSERT_EQ(std::ssize(found), count);
    for (Index v = 0; v < count; ++v) {
      const auto score = [&](Index j) {
        const double product = fwsr::dot(vectors.data() + v * c.d, rows.data() + j * c.d, c.d);
        return passed(v, j) ? 0.0 : std::abs(product) * scales[static_cast<std::size_t>(j)];
      };
      double most = 0;
      for (Index j = 0; j < c.n; ++j) most = std::max(most, score(j));
      const Index first = most > 1e-12 ? fwsr::first_largest(c.n, score) : -1;
      EXPECT_EQ(found[static_cast<std::size_t>(v)], first) << c.name << ", vector " << v;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(MostCorrelated, Found,
                         testing::Values(Case{"one", 1, 3}, Case{"two", 2, 1}, Case{"few", 17, 4},
                                         Case{"a tile", 512, 20}, Case{"many", 1300, 33},
                                         Case{"wide", 60, 3000}, Case{"copies", 700, 12, 0, 3},
                                         Case{"far away", 600, 15, 1e4, 5},
                                         Case{"lattice", 900, 5, 0, 0, true},
                                         Case{"apart", 300, 300, 0, 0, false, true},
                                         Case{"one large", 530, 10, 0, 4, false, false, 1e30},
                                         Case{"one small", 530, 10, 0, 4, false, false, 1e-30}),
                         [](const testing::TestParamInfo<Case>& one) {
                           std::string name = one.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
