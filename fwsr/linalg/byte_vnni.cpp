// The loops of byte_gram.hpp, byte_forms.hpp and byte_vectors.hpp with AVX-512 VNNI, which multiplies four unsigned bytes
// with four that have a sign, and adds them to a 32-bit number, sixteen times at once:
//
//   S_lj = sum_i u_il (u_ij - 128) + 128 sum_i u_il
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>

#include "fwsr/linalg/byte_add.hpp"
#include "fwsr/linalg/byte_products.hpp"
#include "fwsr/linalg/rows_ahead.hpp"

namespace fwsr {

namespace {

constexpr Index panel = byte_panel, group_bytes = 4 * panel;
constexpr std::size_t tall = 8;
constexpr Index most_panels = 3;

/// S of `tall` columns of the panel `left` with `width` panels from `right` on.
template <std::size_t width>
[[gnu::always_inline]] inline void tile(const std::uint8_t* left, const std::uint8_t* right,
                                        Index groups, const std::int32_t* sums, std::int32_t* out,
                                        Index stride) {
  const Index next = groups * group_bytes;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));
  ProductSums total[tall][width];
  for (std::size_t l = 0; l < tall; ++l)
    for (std::size_t k = 0; k < width; ++k) total[l][k] = ProductSums{} + 128 * sums[l];
  for (Index g = 0; g < groups; ++g, left += group_bytes, right += group_bytes) {
    __m512i v[width];
    for (std::size_t k = 0; k < width; ++k)
      v[k] = _mm512_xor_si512(_mm512_loadu_si512(right + static_cast<Index>(k) * next), flip);
    for (std::size_t l = 0; l < tall; ++l) {
      int four;
      __builtin_memcpy(&four, left + 4 * l, sizeof four);
      const __m512i own = _mm512_set1_epi32(four);
      for (std::size_t k = 0; k < width; ++k) add_products(total[l][k], own, v[k]);
    }
  }
  for (std::size_t l = 0; l < tall; ++l)
    for (std::size_t k = 0; k < width; ++k)
      _mm512_storeu_si512(out + static_cast<Index>(l) * stride + static_cast<Index>(k) * panel,
                          bits_of(total[l][k]));
}

void column_sums(const std::uint8_t* packed, Index groups, Index panels, std::int32_t* sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  for (Index p = 0; p < panels; ++p, sums += panel) {
    __m512i sum = _mm512_setzero_si512();
    for (Index g = 0; g < groups; ++g, packed += group_bytes)
      sum = _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(packed), ones);
    _mm512_storeu_si512(sums, sum);
  }
}

void products(const std::uint8_t* packed, Index groups, Index panels, const std::int32_t* sums,
              std::int32_t* out, Index stride) {
  const Index size = groups * group_bytes;
  for (Index right = 0; right < panels; right += most_panels) {
    const Index width = right + most_panels <= panels ? most_panels : panels - right;
    for (Index l = 0; l < (right + width) * panel; l += static_cast<Index>(tall)) {
      const std::uint8_t* const a = packed + l / panel * size + 4 * (l % panel);
      const std::uint8_t* const b = packed + right * size;
      std::int32_t* const to = out + l * stride + right * panel;
      if (width == 3)
        tile<3>(a, b, groups, sums + l, to, stride);
      else if (width == 2)
        tile<2>(a, b, groups, sums + l, to, stride);
      else
        tile<1>(a, b, groups, sums + l, to, stride);
    }
  }
}

/// Some rows with one panel of D: what it adds to their forms, eight columns at a time.
template <std::size_t height>
[[gnu::always_inline]] inline void panel_forms(const std::uint8_t* rows, Index width,
                                               const std::int8_t* digits, Index groups, Index j,
                                               __m512d* sums) {
  ProductSums total[height][byte_digits] = {};
  for (Index g = 0; g < groups; ++g, digits += byte_digits * group_bytes) {
    __m512i v[byte_digits];
    for (std::size_t k = 0; k < byte_digits; ++k)
      v[k] = _mm512_loadu_si512(digits + static_cast<Index>(k) * group_bytes);
    for (std::size_t i = 0; i < height; ++i) {
      int four;
      __builtin_memcpy(&four, rows + static_cast<Index>(i) * width + 4 * g, sizeof four);
      const __m512i own = _mm512_set1_epi32(four);
      for (std::size_t k = 0; k < byte_digits; ++k) add_products(total[i][k], own, v[k]);
    }
  }
  const __m512d place = _mm512_set1_pd(256);
  for (std::size_t i = 0; i < height; ++i)
    for (int half = 0; half < 2; ++half) {
      __m512d y = _mm512_setzero_pd();
      for (std::size_t k = byte_digits; k-- > 0;) {
        const __m512i digit = bits_of(total[i][k]);
        const __m256i own =
            half ? _mm512_extracti64x4_epi64(digit, 1) : _mm512_castsi512_si256(digit);
        y = _mm512_add_pd(_mm512_mul_pd(y, place), _mm512_cvtepi32_pd(own));
      }
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(
          rows + static_cast<Index>(i) * width + j + Index{8} * half));
      const __m512d u = _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(bytes));
      sums[i] = _mm512_add_pd(sums[i], _mm512_mul_pd(u, y));
    }
}

void forms(const std::uint8_t* rows, Index count, Index width, const std::int8_t* digits,
           double* out) {
  constexpr Index most = 96;
  __m512d sums[most + tall];
  for (Index i = 0; i < count; ++i) sums[i] = _mm512_setzero_pd();
  for (Index j = 0; j < width; j += panel) {
    const Index groups = (j + panel) / 4;
    Index i = 0;
    for (; i + static_cast<Index>(tall) <= count; i += static_cast<Index>(tall))
      panel_forms<tall>(rows + i * width, width, digits, groups, j, sums + i);
    for (; i < count; ++i) panel_forms<1>(rows + i * width, width, digits, groups, j, sums + i);
    digits += groups * byte_digits * group_bytes;
  }
  for (Index i = 0; i < count; ++i) {
    double s[8];
    _mm512_storeu_pd(s, sums[i]);
    out[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
  }
}

/// Rows with three vectors in digits: each four bytes stand in all lanes at once.
template <std::size_t height, class T>
[[gnu::always_inline]] inline void vector_sums(const Rows<T>& a, Index first, Index apart,
                                               Index next, const std::int8_t* digits,
                                               std::int32_t* sums) {
  constexpr Index line = 64;
  const T *rows[height], *ahead[height];
  for (std::size_t i = 0; i < height; ++i) {
    const Index here = first + static_cast<Index>(i) * apart;
    rows[i] = a.rows[here];
    ahead[i] = ahead_of(a, here, first, apart, next);
  }
  ProductSums total[height] = {};
  const auto add = [&](Index l) __attribute__((always_inline)) {
    const __m512i with = _mm512_load_si512(digits);
    digits += group_bytes;
    for (std::size_t i = 0; i < height; ++i) {
      int four;
      __builtin_memcpy(&four, rows[i] + l, sizeof four);
      __m512i own = _mm512_set1_epi32(four);
      if constexpr (T(-1) < T(0))
        own = _mm512_xor_si512(own, _mm512_set1_epi8(static_cast<char>(0x80)));
      add_products(total[i], own, with);
    }
  };
  Index l = 0;
  for (; l + 4 <= a.d; l += 4) {
    if (l % line == 0)
      for (std::size_t i = 0; i < height; ++i) __builtin_prefetch(ahead[i] + l);
    add(l);
  }
  if (l < a.d) add(a.d - 4);
  for (std::size_t i = 0; i < height; ++i)
    _mm512_storeu_si512(sums + byte_vector_lanes * (first + static_cast<Index>(i) * apart),
                        bits_of(total[i]));
}

template <class T>
void sums_with_vectors(const Rows<T>& a, const std::int8_t* digits, std::int32_t* sums) {
  constexpr auto streams = static_cast<Index>(tall);
  const Index apart = a.count / streams, next = rows_ahead<T>(a.d);
  for (Index i = 0; i < apart; ++i) vector_sums<tall>(a, i, apart, next, digits, sums);
  for (Index i = apart * streams; i < a.count; ++i)
    vector_sums<1>(a, i, a.count, next, digits, sums);
}

}  // namespace

const ByteFormsLoop byte_forms_vnni = forms;
const ByteVectorLoops byte_vectors_vnni{.of_unsigned = sums_with_vectors<std::uint8_t>,
                                        .of_signed = sums_with_vectors<std::int8_t>};
const ByteLoops byte_vnni{.sums = column_sums, .products = products, .add = add_body};

}  // namespace fwsr

#endif
