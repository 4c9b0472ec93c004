// Theta: the codes X in small. For q = 2 and free signs every row of X is a combination of columns
// of K, X = Theta K[basis, :], and Theta follows from the steps taken and K among the basis alone.
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// Replays `trace` and keeps the rows of `exemplars`, in their order. Scores and lengths are in the
/// kernel's own (scaled) units. O(steps m^2) for m different picks, on one thread.
Coefficients replay(const std::vector<Step>& trace, const std::vector<Index>& exemplars,
                    const KernelMatrix& kernel, const KeepGoing& keep_going = {});

}  // namespace fwsr
