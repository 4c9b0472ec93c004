// One run of a method that is not the solver: the points made ready, its choice, and the description of that.
#pragma once

#include <cstdint>
#include <span>

#include "fwsr/methods/method.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {

/// As select_points (solver/select_points.hpp), by the method.
Selection run_method(const Method& method, const Settings& settings, std::uint64_t seed,
                     const PointsView& view, std::span<const Index> subset,
                     const SelectOptions& options, const Plan& plan, const Observer& observer);

}  // namespace fwsr
