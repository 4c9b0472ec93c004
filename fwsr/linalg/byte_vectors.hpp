// Rows of bytes times three vectors by products of bytes: each vector v in five digits of eight bits,
//
//   v_l = sigma q_l + e_l,  q_l a whole number of 40 bits,  |e_l| <= sigma / 2,  sigma about 2^-39 max |v_l|
//
// so that fifteen digits of four features are one register, and one instruction multiplies them with four bytes of a row and
// adds them up. Products with q are exact, and rounded once: the same bits wherever these are used, 2^-40 times
// sum_l |u_l| max |v_l| from those with v. That is nothing beside what float32 leaves of a score, and too much beside double.
#pragma once

#include <cstdint>

#include "fwsr/base/aligned.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

class ByteVectors {
 public:
  /// Whether this processor has what they need, and rows are neither too short nor so long that a sum might overflow.
  static bool there(Index d);

  /// None yet.
  ByteVectors() = default;
  /// Of d finite numbers each. @pre there(d)
  void set(const double* u, const double* v, const double* w, Index d);
  void clear() { groups_ = 0; }
  bool empty() const { return groups_ == 0; }

  /// x_i = <row_i, u>, and the like for v and w, of rows of unsigned bytes or of those with a sign.
  void dots(const Rows<std::uint8_t>& a, double* x, double* y, double* z) const;
  void dots(const Rows<std::int8_t>& a, double* x, double* y, double* z) const;

 private:
  template <class T>
  void dots_of(const Rows<T>& a, double* x, double* y, double* z) const;

  Index groups_ = 0;                   // of four features
  AlignedVector<std::int8_t> digits_;  // of each the lanes of byte_table.hpp, four digits each
  double sigma_[3] = {};
  std::int32_t sums_[16] = {};  // of all digits in a lane
};

}  // namespace fwsr
