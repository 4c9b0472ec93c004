// Theta: the codes X in small. For q = 2 and free signs every row of X is a combination of columns
// of K, X = Theta K[basis, :], and Theta follows from the steps taken and K among the basis alone.
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// Replays `trace` and keeps the rows of `exemplars`, in their order. Scores and lengths are in the
/// kernel's own (scaled) units. `costs`: of the points; none: 1 each. O(steps m^2) for m different picks.
Coefficients replay(const std::vector<Step>& trace, const std::vector<Index>& exemplars,
                    const KernelMatrix& kernel, const std::vector<double>& costs = {},
                    int threads = 1, const KeepGoing& keep_going = {});

/// Codes of what is included and of `exemplars`, from those of the exemplars alone in the space beyond what is included:
/// with I the included points that are independent, X = Theta (K_B - K_BI K_II^-1 K_I) becomes
///
///   X = -Theta Z^T K_I + Theta K_B                               Z = K_II^-1 K_IB, Z_T its columns of T
///   Y = (K_II^-1 + Z_T Theta Z^T) K_I - Z_T Theta K_B            what is left of the others is given to the included
///
/// rows of Y first, columns of I before those of B. `kernel` is the whole one.
Coefficients with_included(const Coefficients& theta, const std::vector<Index>& exemplars,
                           const std::vector<Index>& included, const KernelMatrix& kernel);

}  // namespace fwsr
