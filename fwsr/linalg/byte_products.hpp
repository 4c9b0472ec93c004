// Sums of products of bytes in registers (AVX-512 VNNI): for the files that are compiled for it.
#pragma once

#include <immintrin.h>

namespace fwsr {

namespace {

/// Sixteen sums. In an __m512i, which g++ 12 takes for eight numbers, every product would cost two copies, and a store where
/// the registers do not suffice for these.
using ProductSums [[gnu::vector_size(64)]] = int;
[[gnu::always_inline]] inline __m512i bits_of(const ProductSums& sums) {
  return reinterpret_cast<__m512i>(sums);
}
/// Four unsigned bytes times four with a sign are added to each.
[[gnu::always_inline]] inline void add_products(ProductSums& sums, __m512i bytes, __m512i with) {
  sums = reinterpret_cast<ProductSums>(_mm512_dpbusd_epi32(bits_of(sums), bytes, with));
}

}  // namespace

}  // namespace fwsr
