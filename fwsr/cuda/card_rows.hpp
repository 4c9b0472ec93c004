// Points in double on a card, as K is computed there from them, block of rows by block of rows.
#pragma once

#include <optional>

#include "fwsr/base/blocks.hpp"
#include "fwsr/cuda/entries.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"

namespace fwsr::cuda {

/// What a card knows of a kernel; nothing: its entries come from the processor.
std::optional<EntryFormula> formula_on_card(const Kernel& type, const Points& points,
                                            const KernelMatrix& kernel);

class CardRows {
 public:
  /// Copies the points there, less their middle where distances are asked for.
  CardRows(Device& device, const Points& points, const KernelMatrix& kernel,
           const EntryFormula& formula, int threads, const KeepGoing& keep_going);

  /// Inner products or L1 distances of a block, row by row.
  void measure(const EntryBlock& block, double* out) const;
  /// Rows of K, n entries each.
  void entries(Index first, Index rows, double* out) const;
  const EntryFormula& formula() const { return formula_; }
  PlainRows view() const {
    return {.rows = rows_.get(),
            .squares = squares_.get(),
            .diagonal = diagonal_.get(),
            .n = n_,
            .d = d_};
  }

 private:
  Device& device_;
  EntryFormula formula_;
  Index n_, d_;
  Array<double> rows_, squares_, diagonal_;
};

}  // namespace fwsr::cuda
