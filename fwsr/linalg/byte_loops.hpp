// The bodies of the loops of byte_gram.hpp without an instruction for four products of bytes: pairs of 16-bit numbers are
// multiplied and added, those at even places in their groups of four and those at odd ones. Included by one source file
// per instruction set; nothing of the standard library is called (pass_loops.hpp says why).
#pragma once

#include <cstddef>

#include "fwsr/linalg/byte_table.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fwsr {

namespace {

constexpr Index panel = byte_panel, group_bytes = 4 * panel;

#if defined(__AVX2__)
using Whole = __m256i;
[[gnu::always_inline]] inline Whole even_of(Whole v) {
  return _mm256_and_si256(v, _mm256_set1_epi32(0x00ff00ff));
}
[[gnu::always_inline]] inline Whole odd_of(Whole v) {
  return _mm256_srli_epi16(v, 8);
}
[[gnu::always_inline]] inline Whole spread(std::uint32_t v) {
  return _mm256_set1_epi32(static_cast<int>(v));
}
[[gnu::always_inline]] inline void add_products(Whole& sum, Whole a, Whole b) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
#elif defined(__SSE2__)
using Whole = __m128i;
[[gnu::always_inline]] inline Whole even_of(Whole v) {
  return _mm_and_si128(v, _mm_set1_epi32(0x00ff00ff));
}
[[gnu::always_inline]] inline Whole odd_of(Whole v) {
  return _mm_srli_epi16(v, 8);
}
[[gnu::always_inline]] inline Whole spread(std::uint32_t v) {
  return _mm_set1_epi32(static_cast<int>(v));
}
[[gnu::always_inline]] inline void add_products(Whole& sum, Whole a, Whole b) {
  sum = _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
#else  // one column at a time: the two 16-bit numbers of one group
struct Whole {
  std::uint32_t v;
};
[[gnu::always_inline]] inline Whole even_of(Whole w) {
  return {w.v & 0x00ff00ffu};
}
[[gnu::always_inline]] inline Whole odd_of(Whole w) {
  return {(w.v >> 8) & 0x00ff00ffu};
}
[[gnu::always_inline]] inline Whole spread(std::uint32_t v) {
  return {v};
}
[[gnu::always_inline]] inline void add_products(Whole& sum, Whole a, Whole b) {
  sum.v += (a.v & 0xffffu) * (b.v & 0xffffu) + (a.v >> 16) * (b.v >> 16);
}
#endif

/// Columns that a vector has the groups of, and vectors taken together.
constexpr Index wide = static_cast<Index>(sizeof(Whole)) / 4;
constexpr std::size_t together = 2, tall = wide == 1 ? 4 : 6;

/// S of `rows` columns from l on in the panel `left` with `together` vectors of columns of the panel `right`.
template <std::size_t rows>
[[gnu::always_inline]] inline void tile(const std::uint8_t* left, const std::uint8_t* right,
                                        Index groups, std::int32_t* out, Index stride) {
  Whole sums[rows][together] = {};
  for (Index g = 0; g < groups; ++g, left += group_bytes, right += group_bytes) {
    Whole even[together], odd[together];
    for (std::size_t k = 0; k < together; ++k) {
      Whole v;
      __builtin_memcpy(&v, right + k * sizeof(Whole), sizeof v);
      even[k] = even_of(v), odd[k] = odd_of(v);
    }
    for (std::size_t l = 0; l < rows; ++l) {
      std::uint32_t four;
      __builtin_memcpy(&four, left + 4 * l, sizeof four);
      const Whole own_even = spread(four & 0x00ff00ffu), own_odd = spread(four >> 8 & 0x00ff00ffu);
      for (std::size_t k = 0; k < together; ++k) {
        add_products(sums[l][k], even[k], own_even);
        add_products(sums[l][k], odd[k], own_odd);
      }
    }
  }
  for (std::size_t l = 0; l < rows; ++l)
    for (std::size_t k = 0; k < together; ++k)
      __builtin_memcpy(out + static_cast<Index>(l) * stride + static_cast<Index>(k) * wide,
                       &sums[l][k], sizeof(Whole));
}

void sums_body(const std::uint8_t* packed, Index groups, Index panels, std::int32_t* sums) {
  for (Index p = 0; p < panels; ++p)
    for (Index j = 0; j < panel; ++j) {
      std::int32_t sum = 0;
      const std::uint8_t* from = packed + p * groups * group_bytes + 4 * j;
      for (Index g = 0; g < groups; ++g, from += group_bytes)
        sum += from[0] + from[1] + from[2] + from[3];
      sums[p * panel + j] = sum;
    }
}

void products_body(const std::uint8_t* packed, Index groups, Index panels, const std::int32_t*,
                   std::int32_t* out, Index stride) {
  constexpr auto rows = static_cast<Index>(tall), rest = panel % rows;
  for (Index right = 0; right < panels; ++right)
    for (Index k = 0; k < panel; k += static_cast<Index>(together) * wide)
      for (Index left = 0; left <= right; ++left) {
        const std::uint8_t* const a = packed + left * groups * group_bytes;
        const std::uint8_t* const b = packed + right * groups * group_bytes + 4 * k;
        std::int32_t* const to = out + left * panel * stride + right * panel + k;
        Index l = 0;
        for (; l + rows <= panel; l += rows)
          tile<tall>(a + 4 * l, b, groups, to + l * stride, stride);
        if constexpr (rest > 0)
          tile<static_cast<std::size_t>(rest)>(a + 4 * l, b, groups, to + l * stride, stride);
      }
}

}  // namespace

}  // namespace fwsr
