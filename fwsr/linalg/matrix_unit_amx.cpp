#if defined(__x86_64__)

#include "fwsr/linalg/matrix_unit_amx.hpp"

#include <immintrin.h>

namespace fwsr::amx {

namespace {

using Word = std::uint32_t;

// ---------------------------------------------------------------------------------------- packing

/// Of 16 numbers the nearest of eight bits, as bf16 in the upper half of each word; leaves the rest in x.
[[gnu::always_inline]] inline __m512i take_piece(__m512& x) {
  const __m512i half = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32(-65536);
  const __m512i piece = _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), half), upper);
  x = _mm512_sub_ps(x, _mm512_castsi512_ps(piece));
  return piece;
}

__mmask16 first_of(Index count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFFu : count <= 0 ? 0u : (1u << count) - 1);
}

/// The right-hand tiles, one per piece: word (q, j) holds the numbers of rows 2 q and 2 q + 1 in column
/// j. `rows` and `columns` are there, from `a` on; zeros beyond.
void pack_pairs(const float* a, Index stride, Index rows, Index columns, Word* out) {
  const __mmask16 mask = first_of(columns);
  for (Index q = 0; q < side; ++q) {
    __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
    if (2 * q < rows) even = _mm512_maskz_loadu_ps(mask, a + 2 * q * stride);
    if (2 * q + 1 < rows) odd = _mm512_maskz_loadu_ps(mask, a + (2 * q + 1) * stride);
    for (Index p = 0; p < pieces; ++p) {
      const __m512i low = take_piece(even), high = take_piece(odd);
      _mm512_store_si512(out + p * words + q * side,
                         _mm512_or_si512(high, _mm512_srli_epi32(low, 16)));
    }
  }
}

/// The left-hand tiles, one per piece: word (i, q) holds the numbers of row i in columns 2 q and
/// 2 q + 1.
void pack_rows(const float* a, Index stride, Index rows, Index columns, Word* out) {
  const __mmask16 left = first_of(columns), right = first_of(columns - side);
  const __m512i upper_halves =  // of the words of two vectors, one after the other
      _mm512_add_epi16(_mm512_set1_epi16(1),
                       _mm512_slli_epi16(_mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22,
                                                          21, 20, 19, 18, 17, 16, 15, 14, 13, 12,
                                                          11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                         1));
  for (Index i = 0; i < side; ++i) {
    __m512 x = _mm512_setzero_ps(), y = _mm512_setzero_ps();
    if (i < rows) {
      x = _mm512_maskz_loadu_ps(left, a + i * stride);
      if (right) y = _mm512_maskz_loadu_ps(right, a + i * stride + side);
    }
    for (Index p = 0; p < pieces; ++p) {
      const __m512i first = take_piece(x), second = take_piece(y);
      _mm512_store_si512(out + p * words + i * side,
                         _mm512_permutex2var_epi16(first, upper_halves, second));
    }
  }
}

/// A right-hand tile of A becomes a left-hand tile of A^T: a matrix of 16 x 16 words, transposed.
void transpose(const Word* from, Word* to) {
  __m512i x[16], y[16];
  for (int i = 0; i < 16; ++i) x[i] = _mm512_load_si512(from + i * side);
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {  // x[i + r]: column r of every group of four, rows i .. i + 3
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  for (int r = 0; r < 4; ++r) {
    const __m512i a = _mm512_shuffle_i32x4(x[r], x[r + 4], 0x88),
                  b = _mm512_shuffle_i32x4(x[r], x[r + 4], 0xDD),
                  c = _mm512_shuffle_i32x4(x[r + 8], x[r + 12], 0x88),
                  d = _mm512_shuffle_i32x4(x[r + 8], x[r + 12], 0xDD);
    y[r] = _mm512_shuffle_i32x4(a, c, 0x88);
    y[r + 8] = _mm512_shuffle_i32x4(a, c, 0xDD);
    y[r + 4] = _mm512_shuffle_i32x4(b, d, 0x88);
    y[r + 12] = _mm512_shuffle_i32x4(b, d, 0xDD);
  }
  for (int i = 0; i < 16; ++i) _mm512_store_si512(to + i * side, y[i]);
}

// ------------------------------------------------------------------------------------- multiplying

struct alignas(64) Configuration {
  std::uint8_t palette = 1, start = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};  // of a row
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// The compiler does not know that tiles are loaded from memory: what was written must be there first.
[[gnu::always_inline]] inline void finish_writing() {
  __asm__ volatile("" ::: "memory");
}

/// Tiles 0 .. 3 are the sums, 4 and 5 two left-hand tiles, 6 and 7 two right-hand ones.
class TilesInUse {
 public:
  TilesInUse() {
    const Configuration configuration;
    finish_writing();
    _tile_loadconfig(&configuration);
  }
  TilesInUse(const TilesInUse&) = delete;
  TilesInUse& operator=(const TilesInUse&) = delete;
  ~TilesInUse() { _tile_release(); }
};

[[gnu::always_inline]] inline void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
[[gnu::always_inline]] inline void load_sums(const float* sums) {
  _tile_loadd(0, sums, 64);
  _tile_loadd(1, sums + words, 64);
  _tile_loadd(2, sums + 2 * words, 64);
  _tile_loadd(3, sums + 3 * words, 64);
}
[[gnu::always_inline]] inline void store_sums(float* sums) {
  _tile_stored(0, sums, 64);
  _tile_stored(1, sums + words, 64);
  _tile_stored(2, sums + 2 * words, 64);
  _tile_stored(3, sums + 3 * words, 64);
}

/// Adds the product of two left-hand tiles with two right-hand tiles, each in pieces h, m, l.
[[gnu::always_inline]] inline void add_products(const Word* left0, const Word* left1,
                                                const Word* right0, const Word* right1) {
  constexpr Index h = 0, m = words, l = 2 * words;
  const auto take_left = [&](Index piece) __attribute__((always_inline)) {
    _tile_loadd(4, left0 + piece, 64);
    _tile_loadd(5, left1 + piece, 64);
  };
  const auto take_right = [&](Index piece) __attribute__((always_inline)) {
    _tile_loadd(6, right0 + piece, 64);
    _tile_loadd(7, right1 + piece, 64);
  };
  const auto add = []() __attribute__((always_inline)) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  };
  take_left(l), take_right(h), add();
  take_left(h), add();
  take_right(l), add();
  take_right(m), add();
  take_left(m), add();
  take_right(h), add();
}

}  // namespace

void gram(const float* a, Index count, Index d, float* product, Word* room) {
  const TilesInUse tiles;
  const Index n = squares(d), at_once = panels(d), pack = pieces * words;
  auto* sums = reinterpret_cast<float*>(room);  // four tiles for every square of the upper triangle
  Word* right = room + n * (n + 1) / 2 * 4 * words;
  Word* left = right + at_once * 2 * n * pack;
  for (Index k = 0; k < count; k += at_once * depth) {
    Index here = 0;
    for (; here < at_once && k + here * depth < count; ++here) {
      const Index row = k + here * depth;
      for (Index t = 0; t < 2 * n; ++t) {
        const Index place = (here * 2 * n + t) * pack;
        const Index column = t * side;  // there may be none left
        pack_pairs(a + row * d + (column < d ? column : 0), d, count - row, d - column,
                   right + place);
        for (Index p = 0; p < pieces; ++p)
          transpose(right + place + p * words, left + place + p * words);
      }
    }
    finish_writing();
    float* sum = sums;
    for (Index i = 0; i < n; ++i) {
      for (Index j = i; j < n; ++j, sum += 4 * words) {
        if (k == 0)
          clear_sums();
        else
          load_sums(sum);
        for (Index p = 0; p < here; ++p) {
          const Index from = p * 2 * n;
          add_products(left + (from + 2 * i) * pack, left + (from + 2 * i + 1) * pack,
                       right + (from + 2 * j) * pack, right + (from + 2 * j + 1) * pack);
        }
        store_sums(sum);
      }
    }
  }
  const float* sum = sums;
  for (Index i = 0; i < n; ++i)
    for (Index j = i; j < n; ++j)
      for (Index t = 0; t < 4; ++t, sum += words) {
        const Index row = i * square + t / 2 * side, column = j * square + t % 2 * side;
        const __mmask16 mask = first_of(d - column);
        for (Index r = 0; r < side && row + r < d; ++r)
          _mm512_mask_storeu_ps(product + (row + r) * d + column, mask,
                                _mm512_load_ps(sum + r * side));
      }
}

void pack_triangle(const float* u, Index d, Word* out) {
  for (Index j = 0; j < squares(d); ++j)
    for (Index p = 0; p <= j; ++p)
      for (Index t = 0; t < 2; ++t, out += pieces * words) {
        const Index row = p * depth, column = j * square + t * side;
        pack_pairs(u + row * d + (column < d ? column : 0), d, d - row, d - column, out);
      }
}

void forms(const float* a, Index count, Index d, const Word* triangle, double* out, Word* room) {
  const TilesInUse tiles;
  const Index n = squares(d), pack = pieces * words;
  Word* left = room;
  auto* sums = reinterpret_cast<double*>(room + form_rows / side * n * pack);  // 8 for every row
  const Index groups = (count + square - 1) / square;
  for (Index i = 0; i < 2 * groups; ++i)
    for (Index p = 0; p < n; ++p)
      pack_rows(a + i * side * d + p * depth, d, count - i * side, d - p * depth,
                left + (i * n + p) * pack);
  for (Index i = 0; i < count * 8; ++i) sums[i] = 0;
  alignas(64) float y[4 * words];
  finish_writing();
  for (Index j = 0; j < n; triangle += 2 * (j + 1) * pack, ++j) {
    const __mmask16 masks[2] = {first_of(d - j * square), first_of(d - j * square - side)};
    for (Index g = 0; g < groups; ++g) {
      clear_sums();
      for (Index p = 0; p <= j; ++p)
        add_products(left + (2 * g * n + p) * pack, left + ((2 * g + 1) * n + p) * pack,
                     triangle + 2 * p * pack, triangle + (2 * p + 1) * pack);
      store_sums(y);
      for (Index r = 0; r < square && g * square + r < count; ++r) {
        const Index i = g * square + r;
        __m512d sum = _mm512_load_pd(sums + 8 * i);
        for (Index t = 0; t < 2 && masks[t]; ++t) {
          const __m512 row = _mm512_maskz_loadu_ps(masks[t], a + i * d + j * square + t * side);
          const __m512 product = _mm512_load_ps(y + (2 * (r / side) + t) * words + r % side * side);
          const auto upper = [](__m512 v) {
            return _mm512_cvtps_pd(
                _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v), 1)));
          };
          sum = _mm512_fmadd_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(row)),
                                _mm512_cvtps_pd(_mm512_castps512_ps256(product)), sum);
          sum = _mm512_fmadd_pd(upper(row), upper(product), sum);
        }
        _mm512_store_pd(sums + 8 * i, sum);
      }
    }
  }
  for (Index i = 0; i < count; ++i) out[i] = _mm512_reduce_add_pd(_mm512_load_pd(sums + 8 * i));
}

}  // namespace fwsr::amx

#endif
