// Whether a matrix that is given as a kernel can be one.
//
// A kernel is symmetric and positive semi-definite: v^T K v >= 0 for every v. Of a matrix with rounding in its
// entries, by no more than e sqrt(K_ii K_jj) each, that is v^T K v >= -e (sum_i |v_i| sqrt(K_ii))^2, and
// whoever meets a v for which it is not has the proof that the matrix is no kernel. Such a v is looked for
// among pairs of points here, all of them, and in the span of some or, where there are few, of all points.
// The certificate looks on among what it computes anyway (solver/regression.cpp, solver/certificate.cpp).
#pragma once

#include <span>
#include <string>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// e: what a matrix that was computed in float32 may be off by, whatever it is held in since.
double entry_error_of_given(const PointsView& view);

/// Throws Error with a sentence unless the rows and columns of `subset` (all of them when that is empty) are
/// finite and symmetric to rounding, no diagonal entry is negative, and no v was found. O(n^2), and as much
/// again as a Cholesky factorisation of some 500 points takes. @pre the matrix is dense and square
void check_given_kernel(const PointsView& view, std::span<const Index> subset, int threads);

/// What everybody says who has found a v: `how` is the rest of the sentence that begins "it is not positive
/// semi-definite: ". Throws Error.
[[noreturn]] void throw_no_kernel(const std::string& how);

}  // namespace fwsr
