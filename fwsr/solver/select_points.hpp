// One selection on some of the points: what both front doors (all points, class by class) call.
#pragma once

#include <span>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// `subset` chooses points by index; empty means all. Indices in the result refer to all points,
/// except `assignment` and `codes`, which follow the subset. @pre find_problem found none
Selection select_points(const PointsView& view, std::span<const Index> subset,
                        const SelectOptions& options, const Plan& plan, const Observer& observer);

/// Theta k_basis(a) for every point of `fresh`, row by row.
std::vector<double> encode_points(const Points& trained, const Kernel& kernel, double eta,
                                  bool eta_relative, const Coefficients& theta, Index exemplars,
                                  const Points& fresh);

}  // namespace fwsr
