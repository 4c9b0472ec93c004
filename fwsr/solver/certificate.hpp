// What the codes say about the points, and how good they are, computed from the data and the codes
// alone: nothing is carried over from the run.
#pragma once

#include <vector>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/codes.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// The problem that was solved, as the certificate needs it.
struct Problem {
  const KernelMatrix& kernel;
  const Points* linear = nullptr;  // the points, when the kernel is linear and cheap by features
  const KernelMatrix* exact = nullptr;  // what `kernel` approximates, where it does
  Norm q = Norm::two;
  bool nonneg = false;
  double beta = 0;
  double precision = 1e-9;  // of the run: 1e-6 when its matrix products were in float32
  int threads = 1;
  Alive alive;
};

/// One sweep over the points: weights, strength, assignment and codes into `selection`, as asked.
/// A point goes to the exemplar with the largest |X_ti|, of equal ones to the first chosen.
void describe_codes(const Problem& problem, const Codes& codes, bool assignment, bool keep_codes,
                    Selection& selection);

/// @pre describe_codes has filled selection.strength
Certificate certify(const Problem& problem, const Codes& codes, const SelectOptions& options,
                    const Selection& selection);

}  // namespace fwsr
