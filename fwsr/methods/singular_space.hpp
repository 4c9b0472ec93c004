// The leading right singular vectors of all points, and the leverage scores they give.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/method.hpp"

namespace fwsr {

/// V_r of A = U S V^T (points are columns of A): row i belongs to point i. From the eigenvectors of
/// A A^T (features x features) where there are fewer features than points, else of the kernel
/// matrix.
class SingularSpace {
 public:
  /// At most `rank` of them; fewer where other singular values are rounding.
  SingularSpace(const Task& task, Index rank);

  Index rank() const { return rank_; }
  /// Row i of V_r.
  void row(Index i, double* out) const;
  /// ||row i of V_r||^2 for every point.
  std::vector<double> leverage_scores() const;

 private:
  const Task& task_;
  bool by_features_;
  Index rank_ = 0, length_ = 0;
  std::vector<double> vectors_;  // rank x length: U_r^T / S_r, or V_r^T
};

Cost singular_space_cost(const Sizes& sizes);

}  // namespace fwsr
