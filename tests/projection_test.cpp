// Orthonormal bases of rows, whatever their rank and condition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/projection.hpp"

namespace fwsr {
namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

std::vector<double> normal(Index count, Rng& rng) {
  std::vector<double> values(at(count));
  for (double& v : values) v = rng.normal();
  return values;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, Index n,
                            Index k, Index d) {
  std::vector<double> out(at(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < k; ++j)
      for (Index l = 0; l < d; ++l) out[at(i * d + l)] += a[at(i * k + j)] * b[at(j * d + l)];
  return out;
}

double length(const double* row, Index d) {
  double sum = 0;
  for (Index l = 0; l < d; ++l) sum += row[l] * row[l];
  return std::sqrt(sum);
}

/// q has orthonormal rows, and every row lies in their span but for `noise` of the longest.
void expect_basis(const std::vector<double>& q, const std::vector<double>& rows, Index m, Index d,
                  double noise) {
  const Index rank = std::ssize(q) / d;
  ASSERT_LE(rank, std::min(m, d));
  for (Index i = 0; i < rank; ++i)
    for (Index j = 0; j <= i; ++j) {
      double inner = 0;
      for (Index l = 0; l < d; ++l) inner += q[at(i * d + l)] * q[at(j * d + l)];
      ASSERT_NEAR(inner, i == j ? 1.0 : 0.0, 1e-13) << i << ' ' << j;
    }
  double longest = 0;
  for (Index i = 0; i < m; ++i) longest = std::max(longest, length(rows.data() + i * d, d));
  for (Index i = 0; i < m; ++i) {
    std::vector<double> row(rows.begin() + i * d, rows.begin() + (i + 1) * d);
    for (int twice = 0; twice < 2; ++twice)
      for (Index j = 0; j < rank; ++j) {
        double inner = 0;
        for (Index l = 0; l < d; ++l) inner += row[at(l)] * q[at(j * d + l)];
        for (Index l = 0; l < d; ++l) row[at(l)] -= inner * q[at(j * d + l)];
      }
    ASSERT_LE(length(row.data(), d), noise * longest) << "row " << i;
  }
}

TEST(Projection, a_basis_and_what_is_beyond_it_are_a_basis_of_the_whole_space) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index d = 1 + static_cast<Index>(rng.below(90)),
                m = static_cast<Index>(rng.below(at(2 * d)));
    std::vector<double> all = orthonormal_rows(normal(m * d, rng), m, d);
    const Index rank = std::ssize(all) / d;
    const std::vector<double> beyond = orthonormal_beyond(all, d);
    ASSERT_EQ(std::ssize(beyond), (d - rank) * d);
    all.insert(all.end(), beyond.begin(), beyond.end());
    std::vector<double> unit(at(d * d));
    for (Index l = 0; l < d; ++l) unit[at(l * d + l)] = 1;
    expect_basis(all, unit, d, d, 1e-13);
  }
}

TEST(Projection, rows_of_any_rank_have_a_basis_of_that_rank) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index m = 1 + static_cast<Index>(rng.below(150)),
                d = 1 + static_cast<Index>(rng.below(90));
    const Index rank = 1 + static_cast<Index>(rng.below(at(std::min(m, d))));
    // A chain of scales over as many digits as can be told apart.
    const double ratio = std::pow(10.0, -static_cast<double>(seed % 9) / static_cast<double>(rank));
    std::vector<double> right = normal(rank * d, rng);
    double scale = 1;
    for (Index j = 0; j < rank; ++j, scale *= ratio)
      for (Index l = 0; l < d; ++l) right[at(j * d + l)] *= scale;
    const std::vector<double> rows = product(normal(m * rank, rng), right, m, rank, d);
    const std::vector<double> q = orthonormal_rows(rows, m, d);
    EXPECT_EQ(std::ssize(q) / d, rank);
    expect_basis(q, rows, m, d, 1e-11);
  }
}

TEST(Projection, copies_and_rows_that_are_nearly_copies_add_no_direction_of_rounding) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index distinct = 1 + static_cast<Index>(rng.below(50)), copies = 4, d = 60;
    const Index m = distinct * copies;
    const std::vector<double> base = normal(distinct * d, rng);
    std::vector<double> rows;
    for (Index c = 0; c < copies; ++c)
      for (Index i = 0; i < distinct; ++i) {
        // A multiple of one row, and of the next one little; of that one all the same is seen well elsewhere.
        const double by = c + 1 < copies ? std::pow(10.0, -6.0 - rng.uniform() * 5) : 0;
        const Index next = (i + 1) % distinct;
        for (Index l = 0; l < d; ++l)
          rows.push_back((c == 1 ? 3 : 1) * (base[at(i * d + l)] + by * base[at(next * d + l)]));
      }
    const std::vector<double> q = orthonormal_rows(rows, m, d);
    EXPECT_EQ(std::ssize(q) / d, distinct);
    expect_basis(q, rows, m, d, 1e-11);
  }
}

TEST(Projection, rows_with_numbers_in_few_columns) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index m = 1 + static_cast<Index>(rng.below(40)), d = 400;
    const Index used = 1 + static_cast<Index>(rng.below(250));  // half of d and more, too
    const std::vector<double> numbers = normal(m * used, rng);
    std::vector<double> rows(at(m * d));
    for (Index i = 0; i < m; ++i)
      for (Index l = 0; l < used; ++l)
        rows[at(i * d + (7 * l + 3) % d)] = numbers[at(i * used + l)];
    const std::vector<double> q = orthonormal_rows(rows, m, d);
    EXPECT_EQ(std::ssize(q) / d, std::min(m, used));
    expect_basis(q, rows, m, d, 1e-11);
  }
}

TEST(Projection, long_and_short_rows_and_none) {
  EXPECT_TRUE(orthonormal_rows({}, 0, 5).empty());
  EXPECT_TRUE(orthonormal_rows(std::vector<double>(50), 10, 5).empty());
  Rng rng(4);
  for (const double small : {1e-5, 1e-11, 1e-13}) {
    const Index m = 80, d = 100;
    std::vector<double> rows = normal(m * d, rng);
    for (Index i = m / 2; i < m; ++i)
      for (Index l = 0; l < d; ++l) rows[at(i * d + l)] *= small;
    const std::vector<double> q = orthonormal_rows(rows, m, d);
    EXPECT_EQ(std::ssize(q) / d, small > 1e-12 ? m : m / 2);
    expect_basis(q, rows, m, d, small > 1e-12 ? 1e-13 : 1e-11);
  }
}

}  // namespace
}  // namespace fwsr
