// Products of rows of bytes with three vectors in digits: exact but for the vectors' own rounding.
#include "fwsr/linalg/byte_vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "narrow_points.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

/// Rows that begin at any address, and three vectors.
template <class T>
struct Problem {
  enum class What { random, extreme, wide };
  Problem(Index n, Index d, What what, std::uint64_t seed) : count(n), features(d) {
    Rng rng(seed);
    numbers.resize(at(n * (d + 1)));
    for (T& v : numbers) v = static_cast<T>(rng.below(256));
    if (what == What::extreme) {
      const T most =
          std::is_signed_v<T> ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
      std::fill(numbers.begin(), numbers.end(), most);
    }
    for (Index i = 0; i < n; ++i) rows.push_back(numbers.data() + i * (d + 1));
    constexpr double low = 0x1p24 + 0x1p16 + 0x1p8 + 1;
    for (int k = 0; k < 3; ++k)
      for (Index l = 0; l < d; ++l) {
        double x = rng.normal();
        if (what == What::wide) x *= std::ldexp(1.0, static_cast<int>(rng.below(200)) - 100);
        // Whole numbers, all of whose digits are the least or the largest; beside the largest number that there may be.
        if (what == What::extreme)
          x = l == 0   ? 0x1p39 - 0x1p32
              : k == 0 ? -126 * 0x1p32 - 128 * low
              : k == 1 ? 126 * 0x1p32 + 127 * low
                       : (l % 2 ? 126 * 0x1p32 - 128 * low : -126 * 0x1p32 + 127 * low);
        vectors[k].push_back(x);
      }
  }
  Rows<T> all() const { return {.rows = rows.data(), .count = count, .d = features}; }

  Index count, features;
  std::vector<T> numbers;
  std::vector<const T*> rows;
  std::vector<double> vectors[3];
};

template <class T>
void expect_products(Index n, Index d, typename Problem<T>::What what) {
  SCOPED_TRACE(::testing::Message()
               << (std::is_signed_v<T> ? "int8, " : "uint8, ") << n << " x " << d);
  const Problem<T> problem(n, d, what, 7);
  ByteVectors digits;
  EXPECT_TRUE(digits.empty());
  digits.set(problem.vectors[0].data(), problem.vectors[1].data(), problem.vectors[2].data(), d);
  EXPECT_FALSE(digits.empty());
  std::vector<double> found[3];
  for (auto& f : found) f.resize(at(n));
  digits.dots(problem.all(), found[0].data(), found[1].data(), found[2].data());
  for (Index i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      long double wanted = 0, sizes = 0, largest = 0;
      for (Index l = 0; l < d; ++l) {
        const auto u = static_cast<long double>(problem.rows[at(i)][l]);
        const long double v = problem.vectors[k][at(l)];
        wanted += u * v, sizes += std::abs(u), largest = std::max(largest, std::abs(v));
      }
      // sigma / 2 for every feature, sigma a little more than 2^-39 of the largest; and one rounding.
      const long double bound = 1.01L * 0x1p-40L * sizes * largest + 0x1p-52L * std::abs(wanted);
      ASSERT_LE(std::abs(found[k][at(i)] - wanted), bound) << i << ", vector " << k;
    }
  // One by one they have the same bits.
  for (Index i = 0; i < n; ++i) {
    double one[3];
    const Rows<T> row{.rows = problem.rows.data() + i, .count = 1, .d = d};
    digits.dots(row, &one[0], &one[1], &one[2]);
    for (int k = 0; k < 3; ++k) ASSERT_EQ(same::bits(one[k]), same::bits(found[k][at(i)]));
  }
  digits.clear();
  EXPECT_TRUE(digits.empty());
}

TEST(ByteVectors, products_are_those_of_the_numbers_to_forty_bits) {
  if (!ByteVectors::there(4))
    GTEST_SKIP() << "this processor has no products of bytes (AVX-512 VNNI)";
  const Index shapes[][2] = {{1, 4},    {7, 5},    {8, 6},    {9, 7},    {64, 8},   {65, 33},
                             {600, 64}, {513, 30}, {17, 784}, {3, 5000}, {20, 4099}};
  using Bytes = Problem<std::uint8_t>;
  using Signed = Problem<std::int8_t>;
  for (const auto& [n, d] : shapes) {
    expect_products<std::uint8_t>(n, d, Bytes::What::random);
    expect_products<std::int8_t>(n, d, Signed::What::random);
    expect_products<std::uint8_t>(n, d, Bytes::What::wide);
    expect_products<std::int8_t>(n, d, Signed::What::wide);
  }
}

TEST(ByteVectors, the_largest_sums_do_not_overflow) {
  Index most = 4;
  while (ByteVectors::there(2 * most)) most *= 2;
  for (Index step = most; step > 0; step /= 2)
    if (ByteVectors::there(most + step)) most += step;
  if (!ByteVectors::there(most))
    GTEST_SKIP() << "this processor has no products of bytes (AVX-512 VNNI)";
  EXPECT_GT(most, 60'000);
  for (const Index d : {most, most - 1}) {
    expect_products<std::uint8_t>(9, d, Problem<std::uint8_t>::What::extreme);
    expect_products<std::int8_t>(9, d, Problem<std::int8_t>::What::extreme);
  }
}

TEST(ByteVectors, vectors_of_zeros_give_zeros) {
  if (!ByteVectors::there(4))
    GTEST_SKIP() << "this processor has no products of bytes (AVX-512 VNNI)";
  const Problem<std::uint8_t> problem(5, 9, Problem<std::uint8_t>::What::random, 3);
  const std::vector<double> zeros(9);
  ByteVectors digits;
  digits.set(zeros.data(), problem.vectors[1].data(), zeros.data(), 9);
  double x[5], y[5], z[5];
  digits.dots(problem.all(), x, y, z);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(x[i], 0);
    EXPECT_NE(y[i], 0);
    EXPECT_EQ(z[i], 0);
  }
}

}  // namespace
}  // namespace fwsr
