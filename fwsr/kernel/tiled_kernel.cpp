#include "fwsr/kernel/tiled_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

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
    stop_unless(alive_);  // of many features a tile may take a second
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
                                                o.alive);
  return std::make_unique<TiledKernel<double>>(points, kernel, o.eta, o.eta_relative, o.threads,
                                               o.alive);
}

double default_gamma(const Points& points, KernelType type, int threads) {
  const Index n = points.size();
  const double u = points.unit();
  if (type == KernelType::polynomial) {
    const double square = points.rms_norm() * points.rms_norm();
    return square > 0 ? u * u / square : 1.0;
  }
  const Index sample = std::min<Index>(n, 1000), d = points.dim();
  std::vector<Index> chosen(at(sample));
  for (Index s = 0; s < sample; ++s) chosen[at(s)] = s * n / sample;

  // All pairs of the sample: row block s, columns up to and including it.
  constexpr Index block = 96;
  const bool sparse = points.sparse() && type == KernelType::rbf;
  std::vector<double> rows, norms(at(sample));
  if (!sparse) {
    rows.resize(at(sample * d));
    const auto work = static_cast<double>(sample) * static_cast<double>(d);
    for_blocks(
        threads_for(threads, work), sample,
        [&](Index, Index first, Index last) {
          for (Index s = first; s < last; ++s) points.row(chosen[at(s)], rows.data() + s * d);
        },
        block);
    std::vector<double> mean(at(d));
    for (Index s = 0; s < sample; ++s)
      for (Index l = 0; l < d; ++l)
        mean[at(l)] += rows[at(s * d + l)] / static_cast<double>(sample);
    for_blocks(
        threads_for(threads, work), sample,
        [&](Index, Index first, Index last) {
          for (Index s = first; s < last; ++s) {
            double* const row = rows.data() + s * d;
            for (Index l = 0; l < d; ++l) row[l] -= mean[at(l)];
            norms[at(s)] = dot(row, row, d);
          }
        },
        block);
  } else {
    for (Index s = 0; s < sample; ++s) norms[at(s)] = points.squared_norm(chosen[at(s)]);
  }
  const ComputedKernel inner(points, {}, 0, false, 1);  // the linear kernel
  std::vector<std::vector<double>> found(at(block_count(sample, block)));
  const double work = static_cast<double>(sample * sample) * static_cast<double>(d);
  for_blocks(
      threads_for(threads, work), sample,
      [&](Index b, Index first, Index last) {
        const Index height = last - first, width = last;
        std::vector<double> pairs(at(height * width));
        const std::span<const Index> all = chosen;
        if (sparse)
          pairs = inner.values(all.subspan(at(first), at(height)), all.subspan(0, at(width)),
                               Eta::left_out);
        else if (type == KernelType::laplacian)
          absolute_distances(DistanceBlock<double>{.left = rows.data() + first * d,
                                                   .rows = height,
                                                   .right = rows.data(),
                                                   .columns = width,
                                                   .d = d,
                                                   .out = pairs.data(),
                                                   .stride = width});
        else
          multiply(Product<double>{.op_b = Op::transpose,
                                   .m = height,
                                   .n = width,
                                   .k = d,
                                   .left = rows.data() + first * d,
                                   .left_stride = d,
                                   .right = rows.data(),
                                   .right_stride = d,
                                   .out = pairs.data(),
                                   .out_stride = width});
        for (Index s = first; s < last; ++s)
          for (Index t = 0; t < s; ++t) {
            const double pair = pairs[at((s - first) * width + t)];
            const double both = norms[at(s)] + norms[at(t)];
            const double distance = type == KernelType::laplacian ? pair : both - 2 * pair;
            const double noise = 64 * std::numeric_limits<double>::epsilon() * both;
            if (distance > (type == KernelType::laplacian ? 0.0 : noise))
              found[at(b)].push_back(distance);
          }
      },
      block);
  std::vector<double> all;
  for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
  if (all.empty()) return 1;  // all points equal
  const auto middle = all.begin() + static_cast<Index>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return type == KernelType::laplacian ? u / *middle : u * u / *middle;
}

}  // namespace fwsr
