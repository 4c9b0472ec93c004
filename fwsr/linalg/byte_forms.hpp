// Quadratic forms of rows of bytes, u^T M u, by products of bytes: M in three digits of eight bits each.
//
//   M_lj + M_jl of l < j and M_jj are sigma times whole numbers of 24 bits, to within sigma / 2, with sigma 2^-23 times the
//   largest of them. All else is exact: the same bits wherever these products are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/large_array.hpp"

namespace fwsr {

class ByteForms {
 public:
  /// Whether this processor has what they need.
  static bool there();
  /// M symmetric, of which the first d rows and columns of `stride` numbers each are read.
  ByteForms(std::span<const double> m, Index d, Index stride);

  /// out[i] = u_i^T M u_i of `count` rows of unsigned bytes. `room` is the thread's, room_bytes() of it.
  void of(const std::byte* const* rows, Index count, std::uint8_t* room, double* out) const;
  /// At most so many rows at a time.
  static constexpr Index rows_at_once = 96;
  Index room_bytes() const { return rows_at_once * width_; }
  /// What a digit more would change in a form of u, at most, over ||u||^2; where errors of either sign add up.
  double unit() const { return sigma_; }

 private:
  Index d_, width_;  // columns, filled up to whole panels
  double sigma_ = 0;
  LargeArray<std::int8_t>
      digits_;  // panel by panel: groups of four rows up to its last; of each, three digits of 16 x 4
};

}  // namespace fwsr
