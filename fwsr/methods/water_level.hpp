// The level above which a vector has a given norm: what projections onto a simplex and proximal steps ask for.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// The largest of n numbers. @pre n > 0
double largest(const double* a, Index n);

/// The s with ||(a - s)_+|| = mass in the norm dual to the p-norm: the 1-norm (infinite p) or the 2-norm (p = 2).
/// `guess` makes it faster. @pre n > 0, mass > 0
double level(const double* a, Index n, double mass, bool infinite, double guess);

}  // namespace fwsr
