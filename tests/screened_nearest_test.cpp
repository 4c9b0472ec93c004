// Products in float32 and of eight-bit numbers that find the nearest exemplar, against all distances in double.
#include "fwsr/solver/screened_nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"

namespace {

using fwsr::Index;

struct Case {
  const char* name;
  double offset;  // of all points from the origin
  double spread;  // of most points, beside one that is of size 1
  int copies;     // every so many points one is a copy of another; 0: none
  bool lattice;   // whole numbers: many distances are equal
};

std::vector<double> numbers(const Case& c, Index n, Index d, fwsr::Rng& rng) {
  std::vector<double> values(static_cast<std::size_t>(n * d));
  for (std::size_t v = 0; v < values.size(); ++v) {
    const double x = c.lattice ? std::round(1.5 * rng.normal()) : rng.normal();
    values[v] = c.offset + c.spread * x;
  }
  for (Index i = 1; c.copies > 0 && i < n; i += c.copies)
    std::copy_n(values.begin() + (i / 2) * d, d, values.begin() + i * d);
  values[0] = 1 + c.offset;
  return values;
}

/// ||a_t||^2 - 2 a_i.a_t of all exemplars in double, and what rounding is measured by.
struct Plain {
  Plain(const double* row, const std::vector<double>& rows, Index dim) {
    for (auto t = rows.begin(); t != rows.end(); t += dim) {
      const double square = fwsr::dot(&*t, &*t, dim), along = 2 * fwsr::dot(row, &*t, dim);
      far.push_back(square - along);
      terms = std::max(terms, square + std::abs(along));
    }
    least = *std::min_element(far.begin(), far.end());
  }
  std::vector<double> far;
  double least = 0, terms = 0;
};

template <class T>
void compare(const Case& c, Index n, Index d, Index k, fwsr::Rng& rng) {
  SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(n) + " x " + std::to_string(d) + ", " +
               std::to_string(k));
  std::vector<T> values;
  for (const double v : numbers(c, n, d, rng)) values.push_back(static_cast<T>(v));
  const fwsr::Points points(fwsr::MatrixView<const T>{values.data(), n, d, d}, {}, {}, 1);
  const Index dim = points.dim();
  std::vector<double> rows(static_cast<std::size_t>(k * dim)), row(static_cast<std::size_t>(dim));
  for (Index t = 0; t < k; ++t) points.row(1 + t * (n - 1) / k, rows.data() + t * dim);
  const auto find = [&](Index at_once) {
    const fwsr::ScreenedNearest nearest(rows, dim);
    fwsr::ScreenedNearest::Scratch scratch;
    std::vector<Index> found(static_cast<std::size_t>(n));
    for (Index first = 0; first < n; first += at_once)
      nearest.of(points, first, std::min(first + at_once, n), scratch, found.data() + first);
    return found;
  };
  const std::vector<Index> found = find(64);
  EXPECT_EQ(find(100), found);
  fwsr::allow_eight_bit_products(false);
  EXPECT_EQ(find(64), found);
  fwsr::allow_eight_bit_products(true);
  for (Index i = 0; i < n; ++i) {
    points.row(i, row.data());
    const Index place = found[static_cast<std::size_t>(i)];
    const Plain plain(row.data(), rows, dim);
    ASSERT_LE(plain.far[static_cast<std::size_t>(place)],
              plain.least + fwsr::nearest_rounding * plain.terms)
        << "point " << i;
    for (std::size_t t = 0; t < static_cast<std::size_t>(place); ++t)
      ASSERT_GT(plain.far[t], plain.least) << "point " << i;
  }
}

TEST(ScreenedNearest, is_the_first_of_the_nearest_in_double) {
  fwsr::Rng rng(77);
  for (const Case& c :
       {Case{"plain", 0, 1, 0, false}, Case{"far away", 1e4, 1, 0, false},
        Case{"copies", 0, 1, 2, false}, Case{"far copies", 1e3, 1, 2, false},
        Case{"whole numbers", 0, 1, 0, true}, Case{"small beside one", 0, 1e-6, 3, false},
        Case{"vanishing beside one", 0, 1e-30, 3, false},
        Case{"beneath float32", 0, 1e-120, 0, false}})
    for (const Index d : {1, 3, 40, 300})
      for (const Index k : {1, 2, 17, 100}) {
        compare<double>(c, 150, d, k, rng);
        if (c.spread > 1e-20) compare<float>(c, 150, d, k, rng);
      }
}

}  // namespace
