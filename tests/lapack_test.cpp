// Eigenvectors of symmetric matrices, and how often those who wait may say stop.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"

namespace {

using fwsr::Index;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

std::vector<double> symmetric(Index m) {
  fwsr::Rng rng(static_cast<std::uint64_t>(m));
  std::vector<double> a(at(m * m));
  for (Index i = 0; i < m; ++i)
    for (Index j = i; j < m; ++j) a[at(i * m + j)] = a[at(j * m + i)] = rng.normal();
  return a;
}

/// ||a v - value v|| of every vector, and how far they are from orthonormal.
void expect_eigen(const fwsr::EigenDecomposition& eigen, const std::vector<double>& a, Index m,
                  Index count) {
  ASSERT_EQ(static_cast<Index>(eigen.values.size()), count);
  ASSERT_EQ(static_cast<Index>(eigen.vectors.size()), count * m);
  const double rounding =
      64 * static_cast<double>(m) * std::numeric_limits<double>::epsilon() *
      (count > 0 ? 1 + std::abs(eigen.values.back()) + std::abs(eigen.values.front()) : 1.0);
  for (Index r = 0; r < count; ++r) {
    const double* const v = &eigen.vectors[at(r * m)];
    for (Index i = 0; i < m; ++i) {
      double sum = -eigen.values[at(r)] * v[i];
      for (Index j = 0; j < m; ++j) sum += a[at(i * m + j)] * v[j];
      EXPECT_NEAR(sum, 0, rounding);
    }
    for (Index s = 0; s <= r; ++s) {
      double product = 0;
      for (Index i = 0; i < m; ++i) product += v[i] * eigen.vectors[at(s * m + i)];
      EXPECT_NEAR(product, r == s ? 1 : 0, rounding);
    }
    if (r > 0) {
      EXPECT_LE(eigen.values[at(r - 1)], eigen.values[at(r)]);
    }
  }
}

TEST(Lapack, finds_eigenvectors_of_matrices_of_all_sizes) {
  const fwsr::SerialBlas serial;
  for (const Index m : {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 34, 48, 49, 50, 100, 131}) {
    SCOPED_TRACE(m);
    const std::vector<double> a = symmetric(m);
    expect_eigen(fwsr::symmetric_eigen(a, m), a, m, m);
    for (const Index count : {Index{0}, std::min<Index>(m, 3), m / 2, m})
      expect_eigen(fwsr::largest_eigen(a, m, count), a, m, count);
  }
}

TEST(Lapack, asks_after_every_few_columns_and_stops_when_told) {
  const fwsr::SerialBlas serial;
  constexpr Index m = 400;
  for (const Index count : {Index{20}, m}) {
    Index asked = 0;
    fwsr::largest_eigen(symmetric(m), m, count, [&] { return ++asked > 0; });
    EXPECT_GE(asked, m / 32);
    for (const Index last : {Index{1}, asked / 2, asked}) {
      Index calls = 0;
      EXPECT_THROW(fwsr::largest_eigen(symmetric(m), m, count, [&] { return ++calls < last; }),
                   fwsr::Interrupted);
      EXPECT_EQ(calls, last);
    }
  }
}

}  // namespace
