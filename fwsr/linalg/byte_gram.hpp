// Sums of products of bytes over many rows, as whole numbers: the same bits on every processor.
//
//   S_lj = sum_i u_il u_ij    of rows u_i of unsigned bytes; bytes with a sign become these by adding 128
//
// and what becomes of them when the points are b_i = factor (u_i - mean of u_i, where centred) - offset. The sums are
// exact. Of a centred matrix also sum_i s_i u_ij and sum_i s_i^2 are needed, with s_i the sum of row i: the digits of s_i
// are three more columns of bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/linalg/gram.hpp"

namespace fwsr {

/// What rows of bytes are, and what becomes of them.
struct ByteRows {
  /// Has pointers to rows first .. last put into `rows`; what must be copied is put into `room`, which is the thread's.
  std::function<void(Index first, Index last, const std::byte** rows, std::vector<std::byte>& room)>
      fetch;
  Index d = 0;
  bool is_signed = false;
  bool centred = false;
  double factor = 1;
  std::span<const double> offset = {};  // d numbers, or none
  bool bordered = false;                // one more number to every b_i ...
  double border = 0;                    // ... the same for all
};

/// Rows with more columns are left to other products: the digits of their sums would be more than three.
inline constexpr Index most_byte_columns = 65536;

/// gram_in_segments of the rows b_i, from whole numbers. Every entry is off by no more than 2^-50 times 65025 factor^2
/// and what the offsets add, for every row: less than what rounding does to products in float32, unless bytes differ
/// from the offsets by less than 1 / 30. @pre rows.d <= most_byte_columns
SegmentSums<Gram> byte_gram_in_segments(const Portion& portion, const ByteRows& rows, int threads,
                                        const KeepGoing& keep_going);

/// What a thread holds of whole numbers meanwhile, in bytes.
double byte_gram_bytes(Index d);

}  // namespace fwsr
