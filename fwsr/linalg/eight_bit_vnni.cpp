#if defined(__x86_64__)

#include "fwsr/linalg/eight_bit_vnni.hpp"

#include "fwsr/linalg/byte_products.hpp"

namespace fwsr::vnni {

namespace {

__mmask16 first_of(Index count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFFu : count <= 0 ? 0u : (1u << count) - 1);
}

float root(float v) {
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(v)));
}

/// Sixteen columns in each of four vectors, beside `height` rows. Products of four numbers are added without rounding, and
/// nothing overflows: of d numbers they are no more than 2^15 d.
template <int height>
void products_of(const Block& b, Index row, Index column, float* out, float* least) {
  ProductSums sums[static_cast<unsigned>(height)][4] = {};
  const std::uint8_t* packed = b.packed + column * b.depth;
  const std::int8_t* const q = b.q + row * b.depth;
  for (Index l = 0; l < b.depth; l += 4, packed += 256) {
    __m512i with[4];
    for (int v = 0; v < 4; ++v) with[v] = _mm512_load_si512(packed + Index{64} * v);
    for (int i = 0; i < height; ++i) {
      std::int32_t four;
      __builtin_memcpy(&four, q + i * b.depth + l, 4);
      const __m512i all = _mm512_set1_epi32(four);
      for (int v = 0; v < 4; ++v) add_products(sums[i][v], with[v], all);
    }
  }
  for (int i = 0; i < height; ++i) {
    const Whole& of = b.of_rows[row + i];
    const __m512i offset = _mm512_set1_epi32(128 * of.sum);
    const __m512 scale = _mm512_set1_ps(of.scale);
    __m512 lowest = _mm512_set1_ps(least[row + i]);
    for (int v = 0; v < 4; ++v) {
      const Index t = column + Index{16} * v;
      const __m512 product = _mm512_cvtepi32_ps(_mm512_sub_epi32(bits_of(sums[i][v]), offset));
      const __m512 own =
          _mm512_mul_ps(_mm512_mul_ps(product, scale), _mm512_loadu_ps(b.scales + t));
      const __m512 value = _mm512_sub_ps(_mm512_loadu_ps(b.add + t), own);
      _mm512_storeu_ps(out + (row + i) * b.columns + t, value);
      lowest = _mm512_min_ps(lowest, value);
    }
    least[row + i] = _mm512_reduce_min_ps(lowest);
  }
}

}  // namespace

Whole make_whole(const float* u, Index d, std::int8_t* q) {
  __m512 most = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
  for (Index l = 0; l < d; l += 16) {
    const __m512 x = _mm512_maskz_loadu_ps(first_of(d - l), u + l);
    most = _mm512_max_ps(most, _mm512_abs_ps(x));
    squares = _mm512_fmadd_ps(x, x, squares);
  }
  const float largest = _mm512_reduce_max_ps(most);
  Whole whole{
      .scale = largest / 127, .norm = root(_mm512_reduce_add_ps(squares)), .error = 0, .sum = 0};
  const __m512 scale = _mm512_set1_ps(whole.scale),
               times = _mm512_set1_ps(largest > 0 ? 127 / largest : 0.0f),
               most_whole = _mm512_set1_ps(127);
  __m512i sum = _mm512_setzero_si512();
  squares = _mm512_setzero_ps();
  const Index depth = padded_depth(d);
  for (Index l = 0; l < depth; l += 16) {
    const __m512 x = _mm512_maskz_loadu_ps(first_of(d - l), u + l);
    // What is no number becomes one, and the error tells.
    const __m512 within = _mm512_max_ps(_mm512_min_ps(_mm512_mul_ps(x, times), most_whole),
                                        _mm512_sub_ps(_mm512_setzero_ps(), most_whole));
    const __m512i whole_numbers = _mm512_cvtps_epi32(within);  // to nearest
    const __m512 rest = _mm512_sub_ps(x, _mm512_mul_ps(_mm512_cvtepi32_ps(whole_numbers), scale));
    squares = _mm512_fmadd_ps(rest, rest, squares);
    sum = _mm512_add_epi32(sum, whole_numbers);
    _mm512_mask_cvtsepi32_storeu_epi8(q + l, first_of(depth - l), whole_numbers);
  }
  whole.sum = _mm512_reduce_add_epi32(sum);
  whole.error = root(_mm512_reduce_add_ps(squares));
  return whole;
}

void products(const Block& b, float* out, float* least) {
  for (Index i = 0; i < b.rows; ++i) least[i] = __builtin_inff();
  for (Index column = 0; column < b.columns; column += 64) {
    Index row = 0;
    for (; row + 4 <= b.rows; row += 4) products_of<4>(b, row, column, out, least);
    for (; row < b.rows; ++row) products_of<1>(b, row, column, out, least);
  }
}

Index no_more_than(const float* values, Index count, float enough, Index* places, Index most) {
  const __m512 limit = _mm512_set1_ps(enough);
  Index found = 0;
  for (Index t = 0; t < count; t += 16) {
    const __m512 v = _mm512_maskz_loadu_ps(first_of(count - t), values + t);
    unsigned open = _mm512_mask_cmp_ps_mask(first_of(count - t), v, limit, _CMP_NGT_UQ);
    for (; open; open &= open - 1, ++found)
      if (found < most) places[found] = t + __builtin_ctz(open);
  }
  return found;
}

}  // namespace fwsr::vnni

#endif
