// X, block by block: from Theta (q = 2, signs free) or from explicit rows (the gradient form).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/run_products.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

class Codes {
 public:
  Codes(const KernelMatrix& kernel, std::vector<Index> exemplars, const Coefficients& theta);
  Codes(const KernelMatrix& kernel, std::vector<Index> exemplars, const ExplicitRows& rows);
  /// The same codes to the last bit, whose kernel values with the exemplars are those of another kernel.
  Codes(const Codes& codes, const KernelMatrix& values) : Codes(codes) { values_ = &values; }

  Index exemplars() const { return static_cast<Index>(exemplars_.size()); }
  const std::vector<Index>& list() const { return exemplars_; }
  /// Null for explicit rows.
  const Coefficients* theta() const { return theta_; }

  /// For points first .. last: their codes and their kernel values with the exemplars, both
  /// (last - first) x exemplars, row by row.
  struct Block {
    std::vector<double> codes, kernel;
  };
  Block block(Index first, Index last) const;

 private:
  const KernelMatrix& kernel_;
  const KernelMatrix* values_ = nullptr;  // null: kernel_
  std::vector<Index> exemplars_;
  const Coefficients* theta_ = nullptr;
  std::vector<Index> places_;                     // of the exemplars in the basis
  std::vector<const std::vector<double>*> rows_;  // explicit rows, in the order of the exemplars
};

/// out = values Theta^T: the codes of points whose kernel values with the basis are given.
std::vector<double> codes_from_basis(const Coefficients& theta, Index exemplars,
                                     const std::vector<double>& values, Index points);

}  // namespace fwsr
