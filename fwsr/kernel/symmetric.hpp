// A symmetric n x n matrix cut into square tiles, of which those on and above the diagonal are
// enough; and sums over them, the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr {

/// Rows and columns of a tile; a multiple of every BLAS micro-kernel's size.
inline constexpr Index tile_side = 480;

/// Tile (I, J) holds rows first(I) .. last(I) and columns first(J) .. last(J).
struct Tiling {
  Index n = 0;

  Index blocks() const { return block_count(n, tile_side); }
  Index first(Index block) const { return block * tile_side; }
  Index last(Index block) const { return std::min(n, (block + 1) * tile_side); }
  Index size(Index block) const { return last(block) - first(block); }
  /// Where tile (I, J), I <= J, stands when tiles are stored one after the other, row by row.
  Index offset(Index row, Index column) const {
    // Rows of tiles before this one: tile_side x (n - first(i)) entries each.
    const Index before = tile_side * (row * n - tile_side * (row * (row - 1) / 2));
    return before + size(row) * (first(column) - first(row));
  }
  /// Entries of all tiles on and above the diagonal.
  Index entries() const {
    return n ? offset(blocks() - 1, blocks() - 1) + size(blocks() - 1) * size(blocks() - 1) : 0;
  }
};

/// A few tiles side by side: (row, first .. last). The work writes what tile (row, J) adds to the
/// entries of its rows to to_rows(J), and what it adds to those of its columns to to_columns(J).
struct TileRun {
  Index row = 0, first = 0, last = 0;
  double* rows = nullptr;
  double* columns = nullptr;

  double* to_rows(Index column) const { return rows + (column - first) * tile_side; }
  /// Null on the diagonal.
  double* to_columns(Index column) const {
    return column > row ? columns + (column - first) * tile_side : nullptr;
  }
};

/// out_i = sum over all tiles of what they add to entry i, from the first column of tiles to the
/// last. `run`: tiles per task.
template <class Work>
void sum_over_tiles(int threads, Tiling tiling, Index run, std::span<double> out, Work&& work) {
  constexpr Index strip = 16;  // rows of tiles whose sums are kept apart: memory stays O(n)
  const Index n = tiling.n, blocks = tiling.blocks();
  if (blocks == 1) {
    work(TileRun{.row = 0, .first = 0, .last = 1, .rows = out.data(), .columns = nullptr});
    return;
  }
  const Index runs = block_count(blocks, run);
  const Index height = std::min(strip, blocks), width = blocks * tile_side;
  const auto size = [](Index entries) { return static_cast<std::size_t>(entries); };
  const std::unique_ptr<double[]> rows(new double[size(height * width)]);
  const std::unique_ptr<double[]> columns(new double[size(height * width)]);
  std::fill(out.begin(), out.end(), 0.0);
  for (Index top = 0; top < blocks; top += strip) {
    const Index bottom = std::min(blocks, top + strip);
    for_tasks(threads, (bottom - top) * runs, [&](Index task) {
      const Index row = top + task / runs;
      const Index first = std::max(row, task % runs * run);
      const Index last = std::min(blocks, (task % runs + 1) * run);
      const Index at = (row - top) * width + first * tile_side;
      if (first < last)
        work(TileRun{.row = row,
                     .first = first,
                     .last = last,
                     .rows = rows.get() + at,
                     .columns = columns.get() + at});
    });
    for (Index row = top; row < bottom; ++row) {
      for (Index column = row; column < blocks; ++column) {
        const double* part = rows.get() + (row - top) * width + column * tile_side;
        double* const to = out.data() + tiling.first(row);
        for (Index i = 0; i < tiling.size(row); ++i) to[i] += part[i];
      }
      const double* part = columns.get() + (row - top) * width;
      for (Index j = tiling.last(row); j < n; ++j) out[size(j)] += part[j];
    }
  }
}

}  // namespace fwsr
