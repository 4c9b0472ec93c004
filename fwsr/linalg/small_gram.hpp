// The inner products of a few points with each other, without the packing that makes BLAS slow on
// small matrices: 50 points of 1000 features take half the time of a call.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Whether this is faster than BLAS on this processor.
bool small_gram_pays(Index n, Index d);

/// out (n x n, rows `stride` apart) = A A^T, A n x d contiguous, in float32: 16 partial sums each.
void small_gram(const float* rows, Index n, Index d, float* out, Index stride);

}  // namespace fwsr
