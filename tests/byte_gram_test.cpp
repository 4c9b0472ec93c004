// Sums of products of bytes: whole numbers, the same from every set of instructions.
#include "fwsr/linalg/byte_gram.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/linalg/byte_forms.hpp"
#include "fwsr/linalg/byte_table.hpp"
#include "fwsr/linalg/processor.hpp"
#include "narrow_points.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

struct Products {
  const char* name;
  const ByteLoops* loops;
};
std::vector<Products> all_products() {
  std::vector<Products> all{{"base", &byte_base}};
#if defined(__x86_64__)
  if (available_instructions() >= Instructions::avx2) all.push_back({"avx2", &byte_avx2});
  if (has_byte_products()) all.push_back({"vnni", &byte_vnni});
#endif
  return all;
}

TEST(ByteLoops, are_the_sums_as_they_are_written) {
  Rng rng(1);
  for (const Products& set : all_products())
    for (const Index panels : {1, 2, 3, 4, 7})
      for (const Index groups : {1, 2, 33, 256}) {
        SCOPED_TRACE(::testing::Message() << set.name << ", " << panels << ", " << groups);
        const Index columns = panels * byte_panel;
        std::vector<std::uint8_t> packed(at(groups * 4 * columns));
        const bool extreme = groups == 256;  // what the sums must hold
        for (std::uint8_t& v : packed)
          v = extreme ? 255 : static_cast<std::uint8_t>(rng.below(256));
        const auto number = [&](Index g, Index r, Index j) {
          return Index{packed[at((j / 16 * groups + g) * 64 + 4 * (j % 16) + r)]};
        };
        std::vector<std::int32_t> sums(at(columns)), out(at(columns * columns), -1);
        set.loops->sums(packed.data(), groups, panels, sums.data());
        set.loops->products(packed.data(), groups, panels, sums.data(), out.data(), columns);
        for (Index l = 0; l < columns; l += extreme ? 7 : 1) {
          Index sum = 0;
          for (Index g = 0; g < groups; ++g)
            for (Index r = 0; r < 4; ++r) sum += number(g, r, l);
          ASSERT_EQ(sums[at(l)], sum);
          for (Index j = l / 16 * 16; j < columns; ++j) {
            Index product = 0;
            for (Index g = 0; g < groups; ++g)
              for (Index r = 0; r < 4; ++r) product += number(g, r, l) * number(g, r, j);
            ASSERT_EQ(out[at(l * columns + j)], product) << l << ", " << j;
          }
        }
      }
}

TEST(ByteLoops, add_the_same_bits) {
  Rng rng(2);
  const Index count = 37;
  std::vector<std::int32_t> sums(at(count));
  for (std::int32_t& s : sums) s = static_cast<std::int32_t>(rng.below(1u << 30));
  std::vector<double> numbers(at(4 * count));
  for (double& v : numbers) v = rng.normal();
  const double* const from = numbers.data();
  const ByteRow row{.sums = sums.data(),
                    .part = from,
                    .offset = from + count,
                    .moved = from + 2 * count,
                    .square = 0.3,
                    .own = 0.7,
                    .f = 1.1,
                    .v = 1.3};
  std::vector<double> wanted(from + 3 * count, from + 4 * count);
  byte_base.add(row, count, wanted.data());
  for (const Products& set : all_products()) {
    std::vector<double> found(from + 3 * count, from + 4 * count);
    set.loops->add(row, count, found.data());
    same::expect_same_bits(found, wanted, set.name);
  }
}

/// Sums of b b^T and of b, as they are defined.
Gram literal_gram(const Twin& twin, const ByteRows& how, Index n) {
  const Index d = how.d, dim = d + (how.bordered ? 1 : 0);
  std::vector<long double> products(at(dim * dim)), rows(at(dim)), b(at(dim));
  for (Index i = 0; i < n; ++i) {
    long double mean = 0;
    for (Index l = 0; l < d; ++l) mean += twin.wide()(i, l);
    mean = how.centred ? mean / d : 0;
    for (Index l = 0; l < d; ++l)
      b[at(l)] =
          how.factor * (twin.wide()(i, l) - mean) - (how.offset.empty() ? 0 : how.offset[at(l)]);
    if (how.bordered) b[at(d)] = how.border;
    for (Index l = 0; l < dim; ++l) {
      rows[at(l)] += b[at(l)];
      for (Index j = l; j < dim; ++j) products[at(l * dim + j)] += b[at(l)] * b[at(j)];
    }
  }
  return {.products = {products.begin(), products.end()}, .rows = {rows.begin(), rows.end()}};
}

TEST(ByteGram, is_the_sum_over_the_points_to_the_last_digits) {
  struct Shape {
    Index n, d, least;
  };
  for (const Shape shape :
       {Shape{1, 32, 0}, Shape{5, 33, 0}, Shape{1030, 45, 0}, Shape{2100, 61, 200}})
    for (const NarrowNumber number : {NarrowNumber::uint8, NarrowNumber::int8})
      for (const bool centred : {false, true})
        for (const bool shifted : {false, true}) {
          const Index n = shape.n, d = shape.d;
          SCOPED_TRACE(::testing::Message()
                       << n << " x " << d << ", " << name_of(number) << (centred ? ", centred" : "")
                       << (shifted ? ", shifted" : ""));
          const Twin twin(number, n, d, 3, number == NarrowNumber::uint8 ? shape.least : 0);
          std::vector<double> offset;
          for (Index l = 0; shifted && l < d; ++l)
            offset.push_back(0.25 * (centred ? 1 + static_cast<double>(l % 3) : twin.wide()(0, l)));
          const ByteRows how{
              .fetch =
                  [&](Index first, Index last, const std::byte** rows, std::vector<std::byte>&) {
                    for (Index i = first; i < last; ++i) rows[i - first] = twin.narrow().address(i);
                  },
              .d = d,
              .is_signed = number == NarrowNumber::int8,
              .centred = centred,
              .factor = 0.25,
              .offset = offset,
              .bordered = shifted,
              .border = 0.7};
          const Gram wanted = literal_gram(twin, how, n);
          SegmentSums<Gram> found = byte_gram_in_segments(Portion(n), how, 1, {});
          ASSERT_EQ(found.size(), 1u);
          // 2^-50 x 65025 factor^2, and as much for each offset, a row: the promise of byte_gram.hpp.
          const double bound = 4 * 0x1p-50 * 65025 * 0.25 * 0.25 * static_cast<double>(n);
          ASSERT_EQ(found[0].products.size(), wanted.products.size());
          for (std::size_t e = 0; e < wanted.products.size(); ++e)
            ASSERT_NEAR(found[0].products[e], wanted.products[e], bound) << e;
          for (std::size_t l = 0; l < wanted.rows.size(); ++l)
            ASSERT_NEAR(found[0].rows[l], wanted.rows[l], bound) << l;
          for (const int threads : {2, 3}) {
            const SegmentSums<Gram> again = byte_gram_in_segments(Portion(n), how, threads, {});
            same::expect_same_bits(again[0].products, found[0].products, "products");
            same::expect_same_bits(again[0].rows, found[0].rows, "rows");
          }
        }
}

TEST(ByteForms, are_u_M_u_to_within_their_last_digit) {
  if (!ByteForms::there()) GTEST_SKIP() << "this processor has no products of bytes";
  for (const Index d : {1, 15, 16, 33, 100, 784})
    for (const Index n : {1, 7, 8, 96}) {
      SCOPED_TRACE(::testing::Message() << n << " x " << d);
      Rng rng(static_cast<std::uint64_t>(n * d));
      const Index stride = d + 2;  // the rest is nobody's
      std::vector<double> m(at(d * stride), std::numeric_limits<double>::quiet_NaN());
      for (Index l = 0; l < d; ++l)
        for (Index j = l; j < d; ++j)
          m[at(l * stride + j)] = rng.normal() * std::pow(10.0, 3 * rng.normal());
      std::vector<std::byte> bytes(at(n * d));
      for (std::byte& b : bytes) b = static_cast<std::byte>(n == 96 ? 255 : rng.below(256));
      std::vector<const std::byte*> rows;
      for (Index i = 0; i < n; ++i) rows.push_back(bytes.data() + i * d);
      const ByteForms forms(m, d, stride);
      std::vector<std::uint8_t> room(at(forms.room_bytes()));
      std::vector<double> found(at(n));
      forms.of(rows.data(), n, room.data(), found.data());
      for (Index i = 0; i < n; ++i) {
        long double wanted = 0, places = 0, size = 0;
        for (Index l = 0; l < d; ++l)
          for (Index j = l; j < d; ++j) {
            const auto u = static_cast<long double>(std::to_integer<int>(rows[at(i)][l])) *
                           std::to_integer<int>(rows[at(i)][j]);
            const long double term = u * m[at(l * stride + j)] * (l == j ? 1 : 2);
            wanted += term;
            size += std::abs(term);
            places += u;
          }
        // Half a last digit at every place; and the rounding of the sum of d numbers in double.
        const auto bound = static_cast<double>(0.51L * forms.unit() * places +
                                               static_cast<long double>(d) * 0x1p-52L * size);
        ASSERT_NEAR(found[at(i)], static_cast<double>(wanted), bound) << i;
      }
    }
}

}  // namespace
}  // namespace fwsr
