// Filling a short answer: farthest-first traversal from the exemplars, in the kernel's space.
#pragma once

#include <functional>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// Adds the candidates farthest from all exemplars, one by one, until there are `wanted` in all; they are
/// marked as filled, with strength and (where `codes` are kept) codes 0, and have no weights yet. Ties go to the
/// smallest index. `open`: for every point whether it may be added, asked before each; null: all may.
using MayBeAdded = std::function<bool(Index point)>;
void fill_up(const KernelMatrix& kernel, Index wanted, int threads, bool codes,
             Selection& selection, const MayBeAdded& open = {});

/// Where the answer is short: fills it up to k if that was asked for, else until every group has its floor. True when
/// points were added.
bool fill_short_answer(const KernelMatrix& kernel, const SelectOptions& options, const Terms& terms,
                       int threads, Selection& selection);

}  // namespace fwsr
