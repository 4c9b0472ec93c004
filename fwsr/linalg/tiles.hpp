// Products of float32 matrices on the matrix unit of the processor (Intel AMX), which multiplies
// 16 x 32 by 32 x 16 tiles of bf16 and adds in float32.
//
// A float32 number is the exact sum of three bf16 numbers, its leading, middle and last eight bits:
//
//   x = h + m + l      x y = h h' + h m' + m h' + m m' + h l' + l h' + (less than 2^-23 of x y)
//
// so six products of tiles are one product in float32, at several times the speed of the vector units.
// Where there is no matrix unit the callers use BLAS.
#pragma once

#include <cstdint>

#include "fwsr/base/aligned.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr {

/// Whether this processor has the unit and the system lets this process use it; asked once.
bool tiles_available();
/// For tests and comparisons: false has tiles_available() say no.
void allow_tiles(bool allowed);
/// Where tiles beat BLAS: for short rows packing them costs too much.
inline bool tiles_pay(Index d) {
  return d >= 96 && tiles_available();
}

/// Room for packed numbers, kept from one call to the next.
using TileRoom = AlignedVector<std::uint32_t>;

/// Upper triangle of A^T A, d x d, from `count` rows of d numbers. @pre tiles_available(), here and below
void gram_by_tiles(const float* a, Index count, Index d, float* product, TileRoom& room);
/// What `room` then holds, in bytes.
Index gram_tile_bytes(Index d);

/// An upper triangular d x d matrix, packed for forms_by_tiles.
TileRoom pack_triangle(const float* u, Index d);
Index triangle_tile_bytes(Index d);

/// forms_i = a_i^T U a_i for `count` rows of d numbers.
void forms_by_tiles(const float* a, Index count, Index d, const TileRoom& triangle, double* forms,
                    TileRoom& room);
Index form_tile_bytes(Index d);

}  // namespace fwsr
