// Filling a short answer: farthest-first traversal from the exemplars, in the kernel's space.
#pragma once

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// Adds the points farthest from all exemplars, one by one, until there are `wanted`; they are
/// marked as filled, with strength and (where `codes` are kept) codes 0, and have no weights yet. Ties go to the
/// smallest index.
void fill_up(const KernelMatrix& kernel, Index wanted, int threads, bool codes,
             Selection& selection);

}  // namespace fwsr
