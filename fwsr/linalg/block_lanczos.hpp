// The leading eigenvectors of a symmetric matrix that is known by its products, several at a time, so that eigenvalues
// that are equal are all found.
#pragma once

#include <functional>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/keep_going.hpp"

namespace fwsr {

/// out = M x for each of some rows of n numbers.
using ApplyToRows = std::function<void(const double* x, Index rows, double* out)>;

/// count x n, orthonormal rows, those of the largest eigenvalues first. Block Lanczos from random rows, every block
/// orthogonalised against all before, begun anew from the best so far, until M x is within 1e-8 of the largest
/// eigenvalue of a multiple of x for all of them, or after some rounds. @pre 0 < count <= n
std::vector<double> leading_vectors(const ApplyToRows& apply, Index n, Index count,
                                    const KeepGoing& keep_going);

/// How many vectors of n numbers it holds at once.
double leading_vectors_held(double count);

}  // namespace fwsr
