// What outlives the form of a run: all that is left to say about it needs no more of it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/covariance.hpp"

namespace fwsr {

/// Products with K that outlive the form: of its rows with themselves, and with those of the basis.
struct KernelProducts {
  std::vector<double> r;     // r_i = ||k_i||^2
  std::vector<Index> basis;  // B
  std::vector<double> w;     // W^T = (K K_B)^T: a row of n numbers for every point of B
};

/// Where K_j and K S K_j go, n numbers each.
struct ColumnAndProduct {
  std::span<double> column, product;
};
/// S = diag(weights); no weights: 1 each.
void column_and_product(const KernelMatrix& kernel, const std::vector<double>& weights, Index j,
                        const ColumnAndProduct& to, int threads);

/// Rows of X, explicit.
struct ExplicitRows {
  std::vector<Index> points;               // which rows
  std::vector<std::vector<double>> codes;  // n numbers each
};

struct RunProducts {
  std::shared_ptr<const Covariance> covariance{};  // of the covariance form
  std::optional<KernelProducts> kernel{};          // of the representer form
  ExplicitRows rows{};                             // of the gradient form
};

}  // namespace fwsr
