// A run, as a page is told of it.
#pragma once

#include <span>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr::report {

/// A run over all points, or over those of a class.
struct Run {
  const Selection* selection = nullptr;  // exemplars by their number among all points
  std::span<const Index> members = {};   // ascending; empty: all points
  /// As the method understood them: its own centring, and of its kernel what the plan says.
  SelectOptions options = {};
  bool dissimilarities = false;  // the points are rows of a matrix of these: there is no span
};

}  // namespace fwsr::report
