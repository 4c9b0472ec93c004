// The upper triangle of A^T A for a tall A, by tiles of sums that stay in registers while the rows pass by: for AVX-512,
// where a triangle of BLAS takes up to 2.5 times as long.
#pragma once

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Whether it takes less time than BLAS for rows of d numbers.
bool gram_tiles_pay(Index d);

/// For `rows` rows of d numbers, `stride` apart. The lower triangle of `out` is left undefined.
/// @pre gram_tiles_pay(d)
template <class T>
void gram_in_tiles(const T* a, Index rows, Index d, Index stride, T* out, Index out_stride);

}  // namespace fwsr
