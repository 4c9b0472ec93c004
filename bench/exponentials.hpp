// e^x of many numbers as fast as one core can: the floor under an RBF kernel.
#pragma once

#include "fwsr/base/index.hpp"

namespace bench {

// y[i] = e^x[i] for x in -80 .. 0, two ways: the vector functions of the C library, and a
// polynomial of our own (relative error below 2e-7, good enough for float32 only).
void library_exp(const float* x, float* y, fwsr::Index n);
void library_exp(const double* x, double* y, fwsr::Index n);
void polynomial_exp(const float* x, float* y, fwsr::Index n);

}  // namespace bench
