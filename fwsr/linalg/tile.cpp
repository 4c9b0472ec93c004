#include "fwsr/linalg/tile.hpp"

#include <algorithm>

#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

constexpr Index lanes = 8;
constexpr Index widest_tile = 480;

// A sum over the entries e of a row, or of a column, is made of eight partial sums, entry e in sum
// e mod 8, as far as whole eights go; the rest is added one by one to their total. Rows and columns
// alike, so that row i of a symmetric matrix and column i, read from different tiles, have equal
// bits.

/// `count` rows from row i on, and what they add to the sums of their columns, each row to its own
/// row of `down`. `squares`: of the entries; else their products with x and y.
template <std::size_t count, bool squares, bool both, class T>
[[gnu::always_inline]] inline void add_rows(const TileProduct<T>& p, Index i, double* down) {
  const Index columns = p.columns;
  const T* rows[count];
  double y[count];
  Doubles sums[count] = {};
  for (std::size_t r = 0; r < count; ++r) {
    rows[r] = p.tile + (i + static_cast<Index>(r)) * columns;
    y[r] = squares || !both ? 1.0 : p.y[i + static_cast<Index>(r)];
  }
  const double* const others = p.x;
  Index l = 0;
  for (; l + lanes <= columns; l += lanes) {
    Doubles x;
    if constexpr (!squares) {
      load_eight(others + l, x);
      // Rows are too short for the processor to see where reading goes on: two groups ahead.
      if (l % (64 / static_cast<Index>(sizeof(T))) == 0)
        for (std::size_t r = 0; r < count; ++r) __builtin_prefetch(rows[r] + l + 8 * columns);
    }
    for (std::size_t r = 0; r < count; ++r) {
      Doubles t;
      load_eight(rows[r] + l, t);
      Doubles across = t, along = t;
      if constexpr (squares)
        across = along = t * t;
      else {
        across *= x;
        along *= y[r];
      }
      sums[r] += across;
      if constexpr (both) {
        double* const to = down + static_cast<Index>(r) * columns + l;
        Doubles column;
        load_eight(to, column);
        column += along;
        __builtin_memcpy(to, &column, sizeof column);
      }
    }
  }
  for (std::size_t r = 0; r < count; ++r) {
    double sum = add_eight(sums[r]);
    for (Index e = l; e < columns; ++e) {
      const auto t = static_cast<double>(rows[r][e]);
      sum += squares ? t * t : t * others[e];
      if constexpr (both) down[static_cast<Index>(r) * columns + e] += squares ? t * t : t * y[r];
    }
    p.to_rows[i + static_cast<Index>(r)] = sum;
  }
}

template <bool squares, bool both, class T>
[[gnu::always_inline]] inline void add_all(const TileProduct<T>& p, double* down) {
  const Index columns = p.columns;
  if constexpr (both) std::fill_n(down, lanes * columns, 0.0);
  Index i = 0;
  for (; i + lanes <= p.rows; i += lanes) {
    add_rows<4, squares, both>(p, i, down);
    add_rows<4, squares, both>(p, i + 4, down + 4 * columns);
  }
  if constexpr (both) {
    const double* s = down;
    double* __restrict to = p.to_columns;
    for (Index e = 0; e < columns; ++e, ++s)
      to[e] = ((s[0] + s[4 * columns]) + (s[2 * columns] + s[6 * columns])) +
              ((s[columns] + s[5 * columns]) + (s[3 * columns] + s[7 * columns]));
  }
  for (; i < p.rows; ++i) add_rows<1, squares, both>(p, i, p.to_columns);
}

template <bool squares, class T>
void run(const TileProduct<T>& p) {
  double down[lanes * widest_tile];
  if (p.to_columns)
    run_widest([&]() __attribute__((always_inline)) { add_all<squares, true>(p, down); });
  else
    run_widest([&]() __attribute__((always_inline)) { add_all<squares, false>(p, down); });
}

template <class T>
void transpose(const T* tile, Index rows, Index columns, double* out) {
  constexpr Index side = 16;  // a block of both matrices stays in the cache
  for (Index i = 0; i < rows; i += side)
    for (Index j = 0; j < columns; j += side)
      for (Index c = j; c < std::min(columns, j + side); ++c)
        for (Index r = i; r < std::min(rows, i + side); ++r)
          out[c * rows + r] = static_cast<double>(tile[r * columns + c]);
}

}  // namespace

void combine_rows(MatrixView<const double> rows, const double* weights, double* out) {
  run_widest([&]() __attribute__((always_inline)) {
    const Index count = rows.rows, columns = rows.cols;
    const double* const c = weights;
    double* __restrict to = out;
    std::fill_n(to, columns, 0.0);
    Index b = 0;
    for (; b + 4 <= count; b += 4) {
      const double c0 = c[b], c1 = c[b + 1], c2 = c[b + 2], c3 = c[b + 3];
      const double* __restrict r0 = rows.data + b * rows.stride;
      const double* __restrict r1 = r0 + rows.stride;
      const double* __restrict r2 = r1 + rows.stride;
      const double* __restrict r3 = r2 + rows.stride;
      for (Index l = 0; l < columns; ++l)
        to[l] = (((to[l] + c0 * r0[l]) + c1 * r1[l]) + c2 * r2[l]) + c3 * r3[l];
    }
    for (; b < count; ++b) {
      const double c0 = c[b];
      const double* __restrict r0 = rows.data + b * rows.stride;
      for (Index l = 0; l < columns; ++l) to[l] += c0 * r0[l];
    }
  });
}

void multiply_tile(const TileProduct<float>& p) {
  run<false>(p);
}
void multiply_tile(const TileProduct<double>& p) {
  run<false>(p);
}
void square_tile(const TileProduct<float>& p) {
  run<true>(p);
}
void square_tile(const TileProduct<double>& p) {
  run<true>(p);
}
void transpose_tile(const float* tile, Index rows, Index columns, double* out) {
  transpose(tile, rows, columns, out);
}
void transpose_tile(const double* tile, Index rows, Index columns, double* out) {
  transpose(tile, rows, columns, out);
}

}  // namespace fwsr
