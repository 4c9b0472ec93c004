// K in square tiles of T, of which those on and above the diagonal are enough: whoever holds or
// computes them has products, columns and rows.
#pragma once

#include <algorithm>
#include <functional>
#include <type_traits>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/linalg/tile.hpp"

namespace fwsr {

template <class T>
class TileMatrix : public KernelMatrix {
 public:
  /// Tile (row, column) of the tiling, contiguous.
  using VisitHalf = std::function<void(Index column, const T* tile)>;
  /// Tiles (row, first .. last) from left to right. @pre row <= first
  virtual void tiles(Index row, Index first, Index last, const VisitHalf& visit) const = 0;

  Index row_block() const override { return tile_side; }
  bool single() const override { return std::is_same_v<T, float>; }

  void scan(Index first, Index last, const VisitTile& visit) const override {
    const Tiling t = tiling();
    const Index row = first / tile_side, height = last - first;
    std::vector<double> wide(static_cast<std::size_t>(height * std::min(t.n, tile_side)));
    for (Index left = 0; left < row; ++left)
      tiles(left, row, row + 1, [&](Index, const T* tile) {
        transpose_tile(tile, t.size(left), height, wide.data());
        visit(t.first(left), t.last(left), wide.data(), t.size(left));
      });
    tiles(row, row, t.blocks(), [&](Index column, const T* tile) {
      const Index width = t.size(column);
      if constexpr (std::is_same_v<T, double>) {
        visit(t.first(column), t.last(column), tile, width);
      } else {
        std::copy(tile, tile + height * width, wide.data());
        visit(t.first(column), t.last(column), wide.data(), width);
      }
    });
  }

  void column(Index j, std::span<double> out) const override {
    const Tiling t = tiling();
    const Index row = j / tile_side, within = j - t.first(row);
    for (Index above = 0; above < row; ++above)
      tiles(above, row, row + 1, [&](Index, const T* tile) {
        const Index width = t.size(row);
        double* const to = out.data() + t.first(above);
        for (Index i = 0; i < t.size(above); ++i)
          to[i] = static_cast<double>(tile[i * width + within]);
      });
    tiles(row, row, t.blocks(), [&](Index column, const T* tile) {
      const T* const from = tile + within * t.size(column);
      std::copy(from, from + t.size(column), out.data() + t.first(column));
    });
  }

  void multiply(std::span<const double> x, std::span<double> out, int threads) const override {
    const Tiling t = tiling();
    const auto n = static_cast<double>(t.n);
    sum_over_tiles(threads_for(threads, 2 * n * n), t, run_length(), out, [&](const TileRun& run) {
      add_run(run, [&](TileProduct<T>& p, Index column) {
        p.x = x.data() + t.first(column);
        p.y = x.data() + t.first(run.row);
        multiply_tile(p);
      });
    });
  }

  void row_squares(std::span<double> out, int threads) const override {
    const Tiling t = tiling();
    const auto n = static_cast<double>(t.n);
    sum_over_tiles(threads_for(threads, 2 * n * n), t, run_length(), out, [&](const TileRun& run) {
      add_run(run, [](TileProduct<T>& p, Index) { square_tile(p); });
    });
  }

 protected:
  Tiling tiling() const { return {size()}; }
  /// Tiles per task of a sweep.
  virtual Index run_length() const { return 8; }

  /// What the tiles of a run add, each by add(product, column).
  template <class Add>
  void add_run(const TileRun& run, const Add& add) const {
    const Tiling t = tiling();
    tiles(run.row, run.first, run.last, [&](Index column, const T* tile) {
      TileProduct<T> p{.tile = tile,
                       .rows = t.size(run.row),
                       .columns = t.size(column),
                       .to_rows = run.to_rows(column),
                       .to_columns = run.to_columns(column)};
      add(p, column);
    });
  }
};

}  // namespace fwsr
