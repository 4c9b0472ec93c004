// Sparse points and dense vectors: what stored numbers alone tell, against rows written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"
#include "problems.hpp"

namespace fwsr {
namespace {

using problems::Data;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Few numbers that are not zero in every row; the last two rows are copies.
Data few_numbers(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values(at(n * d), 0.0);
  for (Index i = 0; i < n; ++i)
    for (Index e = 0; e < 5; ++e)
      values[at(i * d + static_cast<Index>(rng.below(at(d))))] = rng.normal();
  std::copy_n(values.end() - 2 * d, d, values.end() - d);
  return Data(n, d, values, Storage::csr_f64_i32);
}

std::vector<Preprocessing> every_way() {
  std::vector<Preprocessing> all;
  for (const Center center : {Center::none, Center::point, Center::feature})
    for (const Scale scale : {Scale::none, Scale::unit, Scale::standard})
      for (const double eta : {0.0, 0.7})
        for (const bool normalize : {false, true})
          all.push_back({.center = center, .scale = scale, .eta = eta, .normalize = normalize});
  return all;
}

TEST(SparseVectors, products_sums_and_distances_are_those_of_the_rows) {
  constexpr Index n = 60, d = 300, count = 45;  // more than a group of vectors
  for (const Preprocessing& prep : every_way()) {
    const Data data = few_numbers(n, d, 7);
    const Points points(data.view(), {}, prep, 1);
    const Index dim = points.dim();
    std::vector<double> rows(at(n * dim)), vectors(at(count * dim));
    points.rows(0, n, rows.data());
    Rng rng(3);
    for (double& v : vectors) v = rng.normal();
    const Points::ByFeature by_feature(points, vectors.data(), count, 1);
    std::vector<double> out(at(by_feature.padded())), sum(at(dim)), scratch(at(d));
    std::vector<Index> some;
    std::vector<double> expected(at(dim));
    for (Index i = 0; i < n; i += 3) {
      some.push_back(i);
      for (Index l = 0; l < dim; ++l) expected[at(l)] += rows[at(i * dim + l)];
    }
    points.sparse_sum(some, sum.data());
    for (Index l = 0; l < dim; ++l) EXPECT_NEAR(sum[at(l)], expected[at(l)], 1e-13);
    std::vector<double> times(at(n));
    for (double& t : times) t = static_cast<double>(rng.below(4));
    std::fill(expected.begin(), expected.end(), 0.0);
    for (const Index i : some)
      for (Index l = 0; l < dim; ++l) expected[at(l)] += times[at(i)] * rows[at(i * dim + l)];
    points.sparse_sum(some, sum.data(), times);
    for (Index l = 0; l < dim; ++l) EXPECT_NEAR(sum[at(l)], expected[at(l)], 1e-12);
    for (Index i = 0; i < n; ++i) {
      points.sparse_products(i, by_feature, out.data());
      for (Index t = 0; t < count; ++t)
        EXPECT_NEAR(out[at(t)], dot(rows.data() + i * dim, vectors.data() + t * dim, dim), 1e-12);
      const double square = squared_distance(rows.data() + i * dim, rows.data(), d);
      EXPECT_NEAR(points.sparse_square(i, 0, scratch), square, 1e-13);
    }
    EXPECT_EQ(points.sparse_square(n - 2, n - 1, scratch), 0);
    EXPECT_EQ(std::count(scratch.begin(), scratch.end(), 0.0), d);
  }
}

}  // namespace
}  // namespace fwsr
