// Products of float32 matrices on the matrix unit of the processor (Intel AMX), which multiplies
// 16 x 32 by 32 x 16 tiles of bf16 and adds in float32.
//
// A float32 number is the exact sum of three bf16 numbers of eight bits, each the nearest to what is left:
//
//   x = h + m + l      x y = h h' + h m' + m h' + m m' + h l' + l h' + (no more than 2^-22 of x y)
//
// so six products of tiles are one product in float32, faster than the vector units have it.
// Where there is no matrix unit the callers use BLAS.
#pragma once

#include <cstdint>

#include "fwsr/base/aligned.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr {

/// Whether the unit is there and used (linalg/processor.hpp).
bool has_matrix_unit();
/// For tests and comparisons: false has has_matrix_unit() say no.
void allow_matrix_unit(bool yes);
/// Where the unit beats BLAS: for short rows packing them costs too much.
inline bool matrix_unit_pays(Index d) {
  return d >= 96 && has_matrix_unit();
}

/// Room for packed numbers, kept from one call to the next.
using UnitRoom = AlignedVector<std::uint32_t>;

/// Upper triangle of A^T A, d x d, from `count` rows of d numbers. @pre has_matrix_unit(), here and below
void gram_on_unit(const float* a, Index count, Index d, float* product, UnitRoom& room);
/// What `room` then holds, in bytes.
Index unit_gram_bytes(Index d);

/// An upper triangular d x d matrix, packed for forms_on_unit.
UnitRoom pack_triangle(const float* u, Index d);
Index unit_triangle_bytes(Index d);

/// forms_i = a_i^T U a_i for `count` rows of d numbers.
void forms_on_unit(const float* a, Index count, Index d, const UnitRoom& triangle, double* forms,
                   UnitRoom& room);
Index unit_form_bytes(Index d);

}  // namespace fwsr
