// Chooses the form: of all that can serve the request and fit the memory, the one with the least
// arithmetic.
#pragma once

#include "fwsr/base/index.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// The facts a plan is made from.
struct PlanFacts {
  Index points = 0;    // n
  Index features = 0;  // d
  Index entries = 0;   // n d, or the non-zeros
  bool sparse = false;
  bool single = false;
  bool streamed = false;
  Index narrow_bytes = 0;  // of a number, where that is one or two: computed with as float32
  bool on_card = false;    // in the memory of a card already
  Index data_bytes = 0;    // streamed points: what each thread holds of them at a time
  Index label_bytes = 0;   // labels of all points, and who belongs to which class
  int threads = 1;
  int side_by_side = 1;  // classes that run at the same time share the memory
  double limit = 0;      // bytes for all of it; 0: as memory_limit says
};
PlanFacts facts_of(const PointsView& points, int threads);

/// The bytes that the data and the work on it may take together.
double memory_limit(Index data_bytes, const SelectOptions& options);

/// What the search for the width of a kernel (default_gamma) holds before all else: a sample of the points, and its
/// distances.
double gamma_bytes(double n, double d, bool sparse, const Kernel& kernel);

/// Throws MemoryError, with what would fit instead, when nothing does. @pre find_problem found none
Plan make_plan(const PlanFacts& facts, const SelectOptions& options);

}  // namespace fwsr
