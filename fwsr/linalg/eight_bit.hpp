// Inner products of float32 rows to some two digits, four times as fast as in float32: rows become whole numbers of eight
// bits, whose products the processor adds without rounding (AVX-512 VNNI).
//
//   u = s q + e,  s = max |u_l| / 127      |u.b - s s' q.q'| <= ||e|| ||b|| + (||u|| + ||e||) ||e'||
//
// So a few of many rows are left that may have the largest product (solver/screened_nearest.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "fwsr/base/aligned.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/eight_bit_vnni.hpp"

namespace fwsr {

/// Whether the processor has such products, and they are used (linalg/processor.hpp).
bool has_eight_bit_products();
/// For tests and comparisons: false has has_eight_bit_products() say no.
void allow_eight_bit_products(bool yes);

/// Some rows of d numbers, with a number a_t each, beside which points ask for the least a_t - u.b_t.
class EightBitRows {
 public:
  /// @pre has_eight_bit_products()
  EightBitRows(const float* rows, const float* add, Index count, Index d);

  /// For one thread.
  struct Scratch {
    AlignedVector<std::int8_t> q;
    std::vector<vnni::Whole> of_points;
    std::vector<float> values, least;
  };
  /// Finds values of up to `at_once` points.
  static constexpr Index at_once = vnni::rows_at_once;
  void find(const float* points, Index count, Scratch& scratch) const;
  /// Of point i of those: by how much each of its values may be off, beside rounding of float32. Infinite where the point
  /// is so large or small that nothing is known.
  double error(Index i, const Scratch& scratch) const;
  float least(Index i, const Scratch& scratch) const {
    return scratch.least[static_cast<std::size_t>(i)];
  }
  /// The places of values that are no more than this, or are not comparable with it, up to so many; how many there are.
  Index no_more_than(float enough, Index i, const Scratch& scratch, Index* places,
                     Index most) const;

 private:
  Index count_ = 0, columns_ = 0, d_ = 0, depth_ = 0;
  AlignedVector<std::uint8_t> packed_;
  std::vector<float> scales_, add_;
  double longest_ = 0, error_ = 0;  // of b_t and e_t
};

}  // namespace fwsr
