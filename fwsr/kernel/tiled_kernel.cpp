#include "fwsr/kernel/tiled_kernel.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

/// The lower half of a tile on the diagonal from its upper half, which may differ in the last bit.
template <class T>
void mirror(T* tile, Index side) {
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < i; ++j) tile[i * side + j] = tile[j * side + i];
}

}  // namespace

/// Tile (row, column) goes to where(column), which is told again when it is there.
template <class T>
template <class Where>
void TiledKernel<T>::fill_each(Index row, Index first, Index last, const Where& where) const {
  using Side = ComputedKernel::Side;
  const Tiling t = this->tiling();
  ComputedKernel::Panel<T> left, right;
  computed_.load(t.first(row), t.last(row), Side::left, left);
  for (Index column = first; column < last; ++column) {
    throw_if_cancelled(keep_going_);  // of many features a tile may take a second
    T* const tile = where(column);
    const Index width = t.size(column);
    if (column == row && !computed_.by_sparse_products()) {
      computed_.template fill<T>(left, left, tile, width, Eta::included);
    } else {
      computed_.load(t.first(column), t.last(column), Side::right, right);
      computed_.template fill<T>(left, right, tile, width, Eta::included);
    }
    if (column == row) {
      mirror(tile, width);
      for (Index i = 0; i < width && !computed_.linear(); ++i)
        tile[i * width + i] = static_cast<T>(diagonal(t.first(row) + i, Eta::included));
    }
  }
}

template <class T>
void TiledKernel<T>::fill(Index row, Index first, Index last, T* out) const {
  const Tiling t = this->tiling();
  fill_each(row, first, last,
            [&](Index column) { return out + t.size(row) * (t.first(column) - t.first(first)); });
}

template <class T>
void TiledKernel<T>::tiles(Index row, Index first, Index last,
                           const typename TileMatrix<T>::VisitHalf& visit) const {
  const Tiling t = this->tiling();
  const std::unique_ptr<T[]> tile(new T[at(t.size(row) * std::min(t.n, tile_side))]);
  Index waiting = -1;
  fill_each(row, first, last, [&](Index column) {
    if (waiting >= 0) visit(waiting, tile.get());
    waiting = column;
    return tile.get();
  });
  if (waiting >= 0) visit(waiting, tile.get());
}

template <class T>
void TiledKernel<T>::column(Index j, std::span<double> out) const {
  if (!computed_.linear()) return TileMatrix<T>::column(j, out);
  std::vector<double> a(at(computed_.points().dim()));
  computed_.points().row(j, a.data());
  computed_.points().project(a, out, 1);
}

template <class T>
void TiledKernel<T>::multiply(std::span<const double> x, std::span<double> out, int threads) const {
  if (!computed_.linear()) return TileMatrix<T>::multiply(x, out, threads);
  const Points& points = computed_.points();
  points.project(points.combine(x, threads), out, threads);  // K x = A^T (A x)
}

template class TiledKernel<float>;
template class TiledKernel<double>;

std::unique_ptr<KernelMatrix> make_tiled_kernel(const Points& points, const Kernel& kernel,
                                                const TileOptions& o) {
  if (o.single)
    return std::make_unique<TiledKernel<float>>(points, kernel, o.eta, o.eta_relative, o.threads,
                                                o.keep_going);
  return std::make_unique<TiledKernel<double>>(points, kernel, o.eta, o.eta_relative, o.threads,
                                               o.keep_going);
}

}  // namespace fwsr
