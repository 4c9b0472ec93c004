// Exponentials of many numbers at once. Compiled for several instruction sets and chosen at run
// time; every choice does the same operations in the same order, so the bits are the same on all of
// them.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// x[i] <- exp(x[i]), i < n, to within two units in the last place. Results below the smallest
/// normal number are 0, those above the largest infinite; NaN stays NaN.
void exp_in_place(float* x, Index n);
void exp_in_place(double* x, Index n);

}  // namespace fwsr
