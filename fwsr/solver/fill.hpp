// Filling a short answer: farthest-first traversal from the exemplars, in the kernel's space.
#pragma once

#include <functional>
#include <memory>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// From whole columns of a kernel, or, where it is the linear kernel of some points, from these. Both outlive it.
std::unique_ptr<PointDistances> distances_in(const KernelMatrix& kernel, const Points* linear,
                                             int threads);

/// Where the answer is short: adds the candidates farthest from all exemplars, one by one, up to k if that was asked for,
/// else until every group has its floor. They are marked as filled, with strength and (where codes are kept) codes 0, and
/// have no weights yet. Ties go to the smallest index. `distances` makes those of the n points. True when points were added.
bool fill_short_answer(Index n, const std::function<std::unique_ptr<PointDistances>()>& distances,
                       const SelectOptions& options, const Terms& terms, Selection& selection);

}  // namespace fwsr
