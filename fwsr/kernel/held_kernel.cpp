// The tiles of K on and above the diagonal, computed once and kept in memory one after the other.
#include <memory>

#include "fwsr/base/at.hpp"
#include "fwsr/kernel/tiled_kernel.hpp"
#include "fwsr/linalg/large_array.hpp"

namespace fwsr {

namespace {

template <class T>
class HeldKernel final : public TileMatrix<T> {
 public:
  HeldKernel(const TiledKernel<T>& source, int threads)
      : source_(source),
        tiling_{source.size()},
        values_(make_large_array<T>(tiling_.entries())),
        squares_(at(tiling_.n)) {
    const auto n = static_cast<double>(tiling_.n);
    // The sums of squares come from tiles that are still in the cache.
    sum_over_tiles(threads_for(threads, 100 * n * n), tiling_, source.run_length(), squares_,
                   [&](const TileRun& run) {
                     source.fill(run.row, run.first, run.last, tile(run.row, run.first));
                     this->add_run(run, [](TileProduct<T>& p, Index) { square_tile(p); });
                   });
  }

  Index size() const override { return tiling_.n; }
  double unit() const override { return source_.unit(); }
  double eta() const override { return source_.eta(); }
  double rms_norm() const override { return source_.rms_norm(); }
  double diagonal(Index i, Eta eta) const override {
    return as_held(eta) ? entry(i, i) : source_.diagonal(i, eta);
  }
  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    if (!as_held(eta)) return source_.values(rows, columns, eta);
    std::vector<double> out;
    out.reserve(rows.size() * columns.size());
    for (const Index i : rows)
      for (const Index j : columns) out.push_back(entry(i, j));
    return out;
  }
  void tiles(Index row, Index first, Index last,
             const typename TileMatrix<T>::VisitHalf& visit) const override {
    for (Index column = first; column < last; ++column) visit(column, tile(row, column));
  }
  void row_squares(std::span<double> out, int) const override {
    std::copy(squares_.begin(), squares_.end(), out.begin());
  }

 private:
  /// Without eta the entries come from their source: how good exemplars are should not depend on
  /// how K is held.
  bool as_held(Eta eta) const { return eta == Eta::included; }
  T* tile(Index row, Index column) const { return values_.get() + tiling_.offset(row, column); }
  double entry(Index i, Index j) const {
    if (i / tile_side > j / tile_side) std::swap(i, j);
    const Index row = i / tile_side, column = j / tile_side;
    const Index within =
        (i - tiling_.first(row)) * tiling_.size(column) + j - tiling_.first(column);
    return static_cast<double>(tile(row, column)[within]);
  }

  const TiledKernel<T>& source_;
  Tiling tiling_;
  LargeArray<T> values_;
  std::vector<double> squares_;  // of the rows
};

}  // namespace

std::unique_ptr<KernelMatrix> make_held_kernel(const KernelMatrix& tiled, int threads) {
  if (tiled.single())
    return std::make_unique<HeldKernel<float>>(dynamic_cast<const TiledKernel<float>&>(tiled),
                                               threads);
  return std::make_unique<HeldKernel<double>>(dynamic_cast<const TiledKernel<double>&>(tiled),
                                              threads);
}

}  // namespace fwsr
