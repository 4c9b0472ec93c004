#include "fwsr/linalg/gram_tiles.hpp"

#include <algorithm>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

// Of a tile: columns on the left, and vectors of them on the right.
constexpr Index height = 8;
constexpr std::size_t width = 3;
/// Numbers of the rows that pass by at a time: the second-level cache has them.
constexpr Index near_numbers = 16384;
constexpr Index fewest_rows = 32;

template <class T>
constexpr Index lanes = static_cast<Index>(Vector<T>::lanes);

/// Where vector k of some begins.
template <class T>
constexpr Index place(std::size_t k) {
  return static_cast<Index>(k) * lanes<T>;
}

/// sum_p a_p[i .. i + height] a_p[j .. j + across vectors]^T over some rows, written to `out` or added.
template <std::size_t across, class T>
[[gnu::always_inline]] inline void tile(const T* a, Index rows, Index stride, Index i, Index j,
                                        bool add, T* out, Index out_stride) {
  using Values = typename Vector<T>::Values;
  Values sums[height][across] = {};
  for (Index p = 0; p < rows; ++p, a += stride) {
    Values right[across];
    for (std::size_t k = 0; k < across; ++k)
      __builtin_memcpy(&right[k], a + j + place<T>(k), sizeof right[k]);
    for (Index h = 0; h < height; ++h)
      for (std::size_t k = 0; k < across; ++k) sums[h][k] += a[i + h] * right[k];
  }
  for (Index h = 0; h < height; ++h)
    for (std::size_t k = 0; k < across; ++k) {
      T* const to = out + (i + h) * out_stride + j + place<T>(k);
      if (add) {
        Values before;
        __builtin_memcpy(&before, to, sizeof before);
        sums[h][k] += before;
      }
      __builtin_memcpy(to, &sums[h][k], sizeof sums[h][k]);
    }
}

/// @pre d is a multiple of lanes<T>
template <class T>
[[gnu::always_inline]] inline void all_tiles(const T* a, Index rows, Index d, Index stride, T* out,
                                             Index out_stride) {
  const Index some = std::max(fewest_rows, near_numbers / d);
  for (Index first = 0; first < rows; first += some) {
    const Index count = std::min(some, rows - first);
    const T* const from = a + first * stride;
    const bool add = first > 0;
    for (Index i = 0; i < d; i += height) {
      Index j = i / lanes<T> * lanes<T>;
      for (; j + place<T>(width) <= d; j += place<T>(width))
        tile<width>(from, count, stride, i, j, add, out, out_stride);
      if (j + 2 * lanes<T> == d) tile<2>(from, count, stride, i, j, add, out, out_stride);
      if (j + lanes<T> == d) tile<1>(from, count, stride, i, j, add, out, out_stride);
    }
  }
}

/// Rows with zeros behind them, so that they are whole vectors.
template <class T>
std::vector<T> padded_rows(const T* a, Index rows, Index d, Index stride, Index padded) {
  std::vector<T> all(at(rows * padded));
  for (Index p = 0; p < rows; ++p) std::copy_n(a + p * stride, d, all.data() + p * padded);
  return all;
}

}  // namespace

bool gram_tiles_pay(Index d) {
  return instructions() >= Instructions::avx512 && d >= 16;
}

template <class T>
void gram_in_tiles(const T* a, Index rows, Index d, Index stride, T* out, Index out_stride) {
  const auto run = [](const T* from, Index count, Index columns, Index apart, T* to, Index to_apart)
      __attribute__((always_inline)) {
    run_avx512([&]() __attribute__((always_inline)) {
      all_tiles(from, count, columns, apart, to, to_apart);
    });
  };
  const Index padded = (d + lanes<T> - 1) / lanes<T> * lanes<T>;
  if (padded == d && rows > 0) return run(a, rows, d, stride, out, out_stride);
  const std::vector<T> wide = padded_rows(a, rows, d, stride, padded);
  std::vector<T> sums(at(padded * padded));
  run(wide.data(), rows, padded, padded, sums.data(), padded);
  for (Index i = 0; i < d; ++i)
    std::copy_n(sums.data() + i * padded + i, d - i, out + i * out_stride + i);
}

template void gram_in_tiles(const float*, Index, Index, Index, float*, Index);
template void gram_in_tiles(const double*, Index, Index, Index, double*, Index);

}  // namespace fwsr
