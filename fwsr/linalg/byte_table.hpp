// The loops of byte_gram.hpp, byte_forms.hpp and byte_vectors.hpp as one set of instructions has them.
#pragma once

#include <cstdint>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

/// Rows at a time, and columns of which the numbers stand together.
inline constexpr Index byte_rows_at_once = 1024, byte_panel = 16;

/// to_j += square ((S_j - part_j) + own) - (f offset_j + v moved_j): a row of S as it is added to C (byte_gram.cpp).
struct ByteRow {
  const std::int32_t* sums;
  const double *part, *offset, *moved;
  double square, own, f, v;
};

/// The loops for one set of instructions. Packed bytes are panels of 16 columns; in a panel come groups of four rows; in
/// a group the columns one after the other, four bytes each.
struct ByteLoops {
  /// sums[j] = sum_i u_ij of all columns of `panels` panels.
  void (*sums)(const std::uint8_t* packed, Index groups, Index panels, std::int32_t* sums);
  /// out[l * stride + j] = S_lj for all l < 16 panels and the j that stand in the panel of l, or behind it.
  void (*products)(const std::uint8_t* packed, Index groups, Index panels, const std::int32_t* sums,
                   std::int32_t* out, Index stride);
  /// `count` numbers of a row; rounded as they are written, so that the bits are the same everywhere.
  void (*add)(const ByteRow& row, Index count, double* to);
};
/// out[i] = sum_lj u_il u_ij D_lj of `count` rows of whole panels, `width` bytes each: D the sum of its three digits, as
/// ByteForms (byte_forms.hpp) keeps them.
using ByteFormsLoop = void (*)(const std::uint8_t* rows, Index count, Index width,
                               const std::int8_t* digits, double* out);
inline constexpr Index byte_digits = 3;

/// sums[16 i + k] = sum_l u_il digit_kl of the rows of `a`, of those with a sign u + 128 in place of u: of four features at a
/// time the digits of all lanes stand together, four each. Where d is no multiple of four the last group ends with the last
/// feature, and has zeros for those that were counted before.
inline constexpr Index byte_vector_lanes = 16;
struct ByteVectorLoops {
  void (*of_unsigned)(const Rows<std::uint8_t>& a, const std::int8_t* digits, std::int32_t* sums);
  void (*of_signed)(const Rows<std::int8_t>& a, const std::int8_t* digits, std::int32_t* sums);
};

extern const ByteLoops byte_base;
#if defined(__x86_64__)
extern const ByteLoops byte_avx2, byte_vnni;
extern const ByteFormsLoop byte_forms_vnni;
extern const ByteVectorLoops byte_vectors_vnni;
#endif

}  // namespace fwsr
