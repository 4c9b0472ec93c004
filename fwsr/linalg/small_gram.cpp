#include "fwsr/linalg/small_gram.hpp"

#include <algorithm>

#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

constexpr Index side = 4;  // points on each side of a block: 16 sums of 16 lanes
constexpr Index lanes = 16;

[[gnu::always_inline]] inline float add_lanes(const Floats& sums) {
  using Half [[gnu::vector_size(32)]] = float;
  using Quarter [[gnu::vector_size(16)]] = float;
  Half halves[2];
  __builtin_memcpy(halves, &sums, sizeof halves);
  halves[0] += halves[1];
  Quarter quarters[2];
  __builtin_memcpy(quarters, halves, sizeof quarters);
  quarters[0] += quarters[1];
  return (quarters[0][0] + quarters[0][2]) + (quarters[0][1] + quarters[0][3]);
}

/// sums[r][c] += a[r] b[c], 16 features of four points on each side.
[[gnu::always_inline]] inline void add_block(const float* const (&a)[side],
                                             const float* const (&b)[side], Index l,
                                             Floats (&sums)[side][side]) {
  Floats x[side];
  for (Index r = 0; r < side; ++r) __builtin_memcpy(&x[r], a[r] + l, sizeof x[r]);
  for (Index c = 0; c < side; ++c) {
    Floats y;
    __builtin_memcpy(&y, b[c] + l, sizeof y);
    for (Index r = 0; r < side; ++r) sums[r][c] += x[r] * y;
  }
}

[[gnu::always_inline]] inline void all_blocks(const float* rows, Index n, Index d, float* out,
                                              Index stride) {
  const Index whole = d - d % lanes;
  for (Index i = 0; i < n; i += side)
    for (Index j = i; j < n; j += side) {
      const float *a[side], *b[side];
      for (Index r = 0; r < side; ++r) {  // behind the last point: the last point again
        a[r] = rows + std::min(n - 1, i + r) * d;
        b[r] = rows + std::min(n - 1, j + r) * d;
      }
      Floats sums[side][side] = {};
      for (Index l = 0; l < whole; l += lanes) add_block(a, b, l, sums);
      for (Index r = 0; r < std::min(side, n - i); ++r)
        for (Index c = 0; c < std::min(side, n - j); ++c) {
          float sum = add_lanes(sums[r][c]);
          for (Index l = whole; l < d; ++l) sum += a[r][l] * b[c][l];
          out[(i + r) * stride + j + c] = out[(j + c) * stride + i + r] = sum;
        }
    }
}

}  // namespace

bool small_gram_pays(Index n, Index d) {
  return instructions() >= Instructions::avx512 && n <= 96 && d >= 256;
}

void small_gram(const float* rows, Index n, Index d, float* out, Index stride) {
  run_widest([&]() __attribute__((always_inline)) { all_blocks(rows, n, d, out, stride); });
}

}  // namespace fwsr
