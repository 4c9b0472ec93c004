// The loops over points, once for every instruction set: all agree with the plain ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/linalg/packed.hpp"
#include "fwsr/linalg/pass_table.hpp"
#include "fwsr/linalg/processor.hpp"

namespace {

using fwsr::Index;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

template <class T>
std::vector<T> numbers(Index count, std::uint64_t seed) {
  fwsr::Rng rng(seed);
  std::vector<T> values(at(count));
  for (T& v : values) v = static_cast<T>(rng.normal());
  return values;
}

struct Shape {
  Index n, d;
};
// Vectors of eight and one to either side of them; rows that fill no group of streams, one, several.
const std::vector<Shape> shapes = {{1, 1},   {2, 7},   {3, 8},    {4, 9},     {31, 16}, {32, 17},
                                   {33, 31}, {64, 32}, {190, 63}, {193, 100}, {50, 300}};

struct Loops {
  const char* name;
  const fwsr::PassLoops* loops;
};
std::vector<Loops> all_loops() {
  std::vector<Loops> all{{"base", &fwsr::pass_base}};
#if defined(__x86_64__)
  if (fwsr::available_instructions() >= fwsr::Instructions::avx2)
    all.push_back({"avx2", &fwsr::pass_avx2});
  if (fwsr::available_instructions() >= fwsr::Instructions::avx512)
    all.push_back({"avx512", &fwsr::pass_avx512});
#endif
  return all;
}

template <class T>
std::vector<const T*> pointers(const std::vector<T>& a, Index n, Index d) {
  std::vector<const T*> rows;
  for (Index i = 0; i < n; ++i) rows.push_back(a.data() + i * d);
  return rows;
}

TEST(PassLoops, are_the_products_as_they_are_written) {
  for (const Loops& set : all_loops())
    for (const Shape& shape : shapes) {
      const Index n = shape.n, d = shape.d, padded = fwsr::padded_length(d);
      SCOPED_TRACE(testing::Message() << set.name << ", " << n << " x " << d);
      std::vector<double> u = numbers<double>(padded, 9);
      std::fill(u.begin() + d, u.end(), 0.0);
      const auto check = [&](const auto& a, auto loop) {
        const auto rows = pointers(a, n, d);
        std::vector<double> x(at(n));
        loop({.rows = rows.data(), .count = n, .d = d}, u.data(), x.data());
        for (Index i = 0; i < n; ++i) {
          long double product = 0, size = 0;
          for (Index l = 0; l < d; ++l) {
            const long double term = static_cast<long double>(rows[at(i)][l]) * u[at(l)];
            product += term, size += std::abs(term);
          }
          // A sum in any order: half a unit for every product, every sum and what it is held against.
          const long double near = size * static_cast<long double>(d + 1) * 0x1p-53L;
          ASSERT_NEAR(x[at(i)], static_cast<double>(product), static_cast<double>(near)) << i;
        }
      };
      check(numbers<float>(n * d, 12), set.loops->one_single);
      check(numbers<double>(n * d, 13), set.loops->one_double);
    }
}

TEST(PassLoops, agree_with_the_plain_ones) {
  for (const Loops& set : all_loops())
    for (const Shape& shape : shapes) {
      const fwsr::PassLoops* const loops = set.loops;
      if (loops == &fwsr::pass_base) continue;
      const Index n = shape.n, d = shape.d;
      SCOPED_TRACE(testing::Message() << set.name << ", " << n << " x " << d);
      const Index padded = fwsr::padded_length(d);
      std::vector<double> u = numbers<double>(padded, 9), v = numbers<double>(padded, 10),
                          w = numbers<double>(padded, 11);
      for (Index l = d; l < padded; ++l) u[at(l)] = v[at(l)] = w[at(l)] = 0;
      const double near = 1e-13 * static_cast<double>(d + 8);
      const auto a = numbers<float>(n * d, 12);
      const auto wide = numbers<double>(n * d, 13);
      const auto rows = pointers(a, n, d);
      const auto wide_rows = pointers(wide, n, d);
      std::vector<fwsr::PointNumbers> how(at(n));
      for (Index i = 0; i < n; ++i)
        how[at(i)] = {.inner = 1.5, .mean = 0.1 * static_cast<double>(i % 5), .outer = 0.5};
      fwsr::StoredRows<float> stored;
      stored.rows = rows.data(), stored.count = n, stored.d = d, stored.numbers = how.data();
      fwsr::StoredRows<double> wide_stored;
      wide_stored.rows = wide_rows.data(), wide_stored.count = n, wide_stored.d = d;
      wide_stored.numbers = how.data(), wide_stored.weights = v.data(),
      wide_stored.means = w.data();

      const fwsr::PassVectors with{
          .u = u.data(),
          .v = v.data(),
          .w = w.data(),
          .products = {.x = {.every_inner = 0.5, .offset = 0.25, .last = 1},
                       .y = {.every_outer = 2},
                       .z = {.last = -1}}};
      const fwsr::ScoreStep step{.gamma = 0.3, .length = 0.2};
      const auto r = numbers<double>(n, 14), c0 = numbers<double>(n, 15),
                 h0 = numbers<double>(n, 16);
      const auto expect_near = [&](const std::vector<double>& x, const std::vector<double>& y) {
        for (Index i = 0; i < n; ++i)
          ASSERT_NEAR(x[at(i)], y[at(i)], near * (1 + std::abs(y[at(i)])));
      };
      const auto compare_pass = [&](auto member, const auto& points) {
        std::vector<double> c = c0, h = h0, other_c = c0, other_h = h0;
        const double most = (loops->*member)(points, with, step, r.data(), c.data(), h.data());
        const double other =
            (fwsr::pass_base.*member)(points, with, step, r.data(), other_c.data(), other_h.data());
        ASSERT_NEAR(most, other, near * (1 + std::abs(other)));
        ASSERT_EQ(most, *std::max_element(c.begin(), c.end()));
        expect_near(c, other_c);
        expect_near(h, other_h);
      };
      compare_pass(&fwsr::PassLoops::pass_single, stored);
      compare_pass(&fwsr::PassLoops::pass_point, wide_stored);

      std::vector<double> x(at(n)), y(at(n)), z(at(n)), other(at(n));
      loops->three_single(stored, u.data(), v.data(), w.data(), x.data(), y.data(), z.data());
      fwsr::pass_base.one_single(stored, w.data(), other.data());
      expect_near(z, other);
      loops->one_point(wide_stored, v.data(), y.data());
      fwsr::pass_base.one_point(wide_stored, v.data(), other.data());
      expect_near(y, other);
      loops->one_double(wide_stored, v.data(), y.data());
      fwsr::pass_base.one_double(wide_stored, v.data(), other.data());
      expect_near(y, other);

      std::vector<fwsr::RowSums> sums(at(n)), other_sums(at(n));
      loops->sums_double(wide_stored, true, sums.data());
      fwsr::pass_base.sums_double(wide_stored, true, other_sums.data());
      for (Index i = 0; i < n; ++i) {
        ASSERT_EQ(sums[at(i)].largest, other_sums[at(i)].largest);
        ASSERT_NEAR(sums[at(i)].mean, other_sums[at(i)].mean, near);
        ASSERT_NEAR(sums[at(i)].squares, other_sums[at(i)].squares,
                    near * (1 + other_sums[at(i)].squares));
      }
      std::vector<float> loaded(at(n * d)), other_loaded(at(n * d));
      loops->rows_double_single(wide_stored, loaded.data(), d, u.data());
      fwsr::pass_base.rows_double_single(wide_stored, other_loaded.data(), d, u.data());
      ASSERT_EQ(loaded, other_loaded);
    }
}

TEST(PassLoops, many_vectors_at_once_are_the_same_bits_as_one_by_one) {
  for (const Loops& set : all_loops())
    for (const Shape& shape : shapes)
      for (const Index count : {1, 8, 9, 30, 77}) {
        const Index n = shape.n, d = shape.d, padded = fwsr::padded_length(d);
        SCOPED_TRACE(testing::Message() << set.name << ", " << n << " x " << d << ", " << count);
        std::vector<double> vectors = numbers<double>(count * padded, 9);
        for (Index k = 0; k < count; ++k)
          std::fill_n(vectors.begin() + k * padded + d, padded - d, 0.0);
        const auto each = pointers(vectors, count, padded);
        const fwsr::PackedVectors packed(each, d);
        ASSERT_EQ(packed.size(), fwsr::padded_length(count));

        const auto a = numbers<double>(n * d, 13);
        const auto rows = pointers(a, n, d);
        const Index columns = packed.size(), stride = n + 3;
        std::vector<double> products(at(n * columns)), turned(at(columns * stride)), one(at(n));
        for (Index k = 0; k < columns; k += fwsr::packed_width)
          set.loops->packed(a.data(), n, d, packed.group(k), products.data() + k, columns);
        set.loops->transpose(products.data(), n, columns, turned.data(), stride);
        for (Index k = 0; k < columns; ++k) {
          if (k < count)
            set.loops->one_double({.rows = rows.data(), .count = n, .d = d}, each[at(k)],
                                  one.data());
          else
            std::fill(one.begin(), one.end(), 0.0);
          for (Index i = 0; i < n; ++i) {
            ASSERT_EQ(products[at(i * columns + k)], one[at(i)]) << i << ' ' << k;
            ASSERT_EQ(turned[at(k * stride + i)], one[at(i)]) << i << ' ' << k;
          }
        }
      }
}

TEST(PassLoops, the_nearest_is_the_first_of_those_that_rounding_cannot_tell_apart) {
  for (const Loops& set : all_loops())
    for (Index count = 1; count < 40; ++count)
      for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const double rounding : {0.0, fwsr::nearest_rounding, 0.125}) {
          SCOPED_TRACE(testing::Message() << set.name << ", " << count << ", seed " << seed);
          std::vector<double> values = numbers<double>(count, seed), add(at(count));
          const std::vector<double> times = numbers<double>(count, seed + 1000);
          for (double& v : values) v = seed == 0 ? 0.0 : std::round(v);  // many are equal
          for (Index e = 0; e < count; ++e)
            add[at(e)] = seed % 2 ? 1.0 : std::round(3 * times[at(e)]);
          const std::vector<double> by = seed < 10 ? std::vector<double>(at(count), -2.0) : times;
          double least = std::numeric_limits<double>::infinity(), terms = 0;
          std::vector<double> far;
          for (Index e = 0; e < count; ++e) {
            far.push_back(add[at(e)] + by[at(e)] * values[at(e)]);
            least = std::min(least, far.back());
            terms = std::max(terms, std::abs(add[at(e)]) + std::abs(by[at(e)] * values[at(e)]));
          }
          Index first = 0;
          while (!(far[at(first)] <= least + rounding * terms)) ++first;
          const fwsr::NearestKnown found = set.loops->nearest(
              values.data(),
              {.add = add.data(), .times = by.data(), .count = count, .rounding = rounding});
          ASSERT_EQ(found.place, first);
          ASSERT_EQ(found.least, least);
        }
}

TEST(PassLoops, the_nearest_is_one_of_them_whatever_they_are) {
  const double odd[] = {
      std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::quiet_NaN(),
      std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  const auto check = [](const Loops& set, const std::vector<double>& values) {
    const auto count = static_cast<Index>(values.size());
    const std::vector<double> add(values.size(), 1.0), times(values.size(), -2.0);
    const fwsr::NearestKnown found =
        set.loops->nearest(values.data(), {.add = add.data(),
                                           .times = times.data(),
                                           .count = count,
                                           .rounding = fwsr::nearest_rounding});
    ASSERT_GE(found.place, 0);
    ASSERT_LT(found.place, count);
  };
  for (const Loops& set : all_loops())
    for (Index count = 1; count < 40; ++count)
      for (const double value : odd) {
        SCOPED_TRACE(testing::Message() << set.name << ", " << count << ", " << value);
        for (Index place = 0; place < count; ++place)
          for (const double others : {0.0, 1.0}) {
            std::vector<double> values(at(count), others);
            values[at(place)] = value;
            check(set, values);                         // one of them
            std::fill_n(values.begin(), place, value);  // all up to there
            check(set, values);
          }
      }
}

TEST(PassLoops, scores_from_products_that_are_to_be_finished) {
  const Index n = 45;
  const auto inner = numbers<double>(n, 1), outer = numbers<double>(n, 2);
  const fwsr::PassProducts how{.x = {.inner = inner.data(), .offset = 0.5, .last = 2},
                               .y = {.outer = outer.data(), .every_inner = 3},
                               .z = {.inner = inner.data(), .outer = outer.data(), .last = -1}};
  const fwsr::ScoreStep step{.gamma = 0.3, .length = 0.2};
  const auto r = numbers<double>(n, 3);
  for (const Loops& set : all_loops()) {
    SCOPED_TRACE(set.name);
    std::vector<double> x = numbers<double>(n, 4), y = numbers<double>(n, 5),
                        z = numbers<double>(n, 6), c = numbers<double>(n, 7),
                        h = numbers<double>(n, 8), other_c = c, other_h = h;
    const double most = set.loops->finish_and_update(how, step, n, x.data(), y.data(), z.data(),
                                                     r.data(), c.data(), h.data());
    set.loops->finish(how.x, n, x.data());
    set.loops->finish(how.y, n, y.data());
    set.loops->finish(how.z, n, z.data());
    EXPECT_EQ(most, set.loops->update(step, n, x.data(), y.data(), z.data(), r.data(),
                                      other_c.data(), other_h.data()));
    EXPECT_EQ(c, other_c);
    EXPECT_EQ(h, other_h);
  }
}

}  // namespace
