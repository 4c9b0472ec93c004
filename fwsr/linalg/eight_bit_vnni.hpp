// eight_bit.hpp on plain pointers: eight_bit_vnni.cpp is compiled for instructions that not every processor has, and
// includes nothing whose inline functions could be linked into everything else.
#pragma once

#include <cstdint>

#include "fwsr/base/index.hpp"

namespace fwsr::vnni {

constexpr Index rows_at_once = 64;  // of the columns below so many stand together

static inline Index padded_depth(Index d) {
  return (d + 3) / 4 * 4;
}
static inline Index padded_columns(Index count) {
  return (count + 63) / 64 * 64;
}

/// A row of numbers as whole numbers of eight bits, q: u = scale q + e.
struct Whole {
  float scale = 0;
  float norm = 0, error = 0;  // ||u||, ||e||
  std::int32_t sum = 0;       // of all q
};

#if defined(__x86_64__)
/// `q`: padded_depth(d) numbers, zeros at the end.
Whole make_whole(const float* u, Index d, std::int8_t* q);

/// Some rows beside columns.
struct Block {
  const std::int8_t* q;  // rows x depth
  const Whole* of_rows;
  Index rows, depth;
  const std::uint8_t*
      packed;  // columns + 128: 64 columns together, of each four numbers after four numbers
  const float* scales;  // of columns
  const float* add;     // one number for each
  Index columns;        // padded
};
/// out_it = add_t - (scale q)_i . (scale q)_t, rows x columns, and the least of each row.
void products(const Block& block, float* out, float* least);

/// The places of up to `most` numbers that are no more than `enough`, or not comparable with it; how many there are.
Index no_more_than(const float* values, Index count, float enough, Index* places, Index most);
#endif

}  // namespace fwsr::vnni
