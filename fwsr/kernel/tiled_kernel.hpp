// K computed on the fly, tile by tile, never held.
#pragma once

#include "fwsr/kernel/computed_kernel.hpp"
#include "fwsr/kernel/tile_matrix.hpp"

namespace fwsr {

template <class T>
class TiledKernel final : public TileMatrix<T> {
 public:
  TiledKernel(const Points& points, const Kernel& kernel, double eta, bool eta_relative,
              int threads, const KeepGoing& keep_going)
      : computed_(points, kernel, eta, eta_relative, threads), keep_going_(keep_going) {}

  Index size() const override { return computed_.size(); }
  double unit() const override { return computed_.unit(); }
  double eta() const override { return computed_.eta(); }
  double rms_norm() const override { return computed_.rms_norm(); }
  double diagonal(Index i, Eta eta) const override { return computed_.diagonal(i, eta); }
  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    return computed_.values(rows, columns, eta);
  }
  void tiles(Index row, Index first, Index last,
             const typename TileMatrix<T>::VisitHalf& visit) const override;
  void column(Index j, std::span<double> out) const override;
  bool by_products() const override { return computed_.linear(); }
  void multiply(std::span<const double> x, std::span<double> out, int threads) const override;
  Index run_length() const override { return computed_.by_sparse_products() ? 32 : 8; }

  /// Writes tiles (row, first .. last) one after the other.
  void fill(Index row, Index first, Index last, T* out) const;

 private:
  template <class Where>
  void fill_each(Index row, Index first, Index last, const Where& where) const;

  ComputedKernel computed_;
  KeepGoing keep_going_;
};

}  // namespace fwsr
