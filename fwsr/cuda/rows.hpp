// Points in the memory of a card as its kernels see them: stored rows, and what makes points of them (prep/points.hpp),
//
//   a_i = outer_i (inner_i weights o x_i - means - mean_i 1),   then one more feature: eta
#pragma once

#include "fwsr/base/anywhere.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr::cuda {

/// How numbers are stored.
enum class Number { float32, float64, float16, bfloat16, uint8, int8, uint16, int16 };
inline Index bytes_of(Number n) {
  const bool bytes = n == Number::uint8 || n == Number::int8;
  return n == Number::float64 ? 8 : n == Number::float32 ? 4 : bytes ? 1 : 2;
}

struct Rows {
  const void* data = nullptr;
  Number number = Number::float32;
  Index stride = 0;  // numbers from one row to the next
  Index size = 0, features = 0;
  bool whole_pieces = false;        // rows are pieces of 16 bytes, zeros behind the last feature
  const Index* source = nullptr;    // where point i stands; null: in row i
  const double* weights = nullptr;  // of the features; null: 1
  const double* means = nullptr;    // of the features; null: 0
  const double *inner = nullptr, *mean = nullptr,
               *outer = nullptr;  // of the points; null: the next
  double every_inner = 1, every_outer = 1;
  double eta = 0;

  FWSR_ANYWHERE Index dim() const { return features + (eta != 0 ? 1 : 0); }
  /// Means are taken away as a number is read, lest an offset take digits; else from products, which are in double and
  /// keep all digits that shorter numbers have.
  FWSR_ANYWHERE bool centred_first() const { return number == Number::float64; }
};

/// Points first .. first + count of these.
inline Rows part_of(Rows rows, Index first, Index count) {
  const auto behind = [first](auto* numbers) { return numbers ? numbers + first : numbers; };
  rows.size = count;
  rows.inner = behind(rows.inner), rows.mean = behind(rows.mean), rows.outer = behind(rows.outer);
  if (rows.source)
    rows.source += first;
  else if (rows.data)
    rows.data = static_cast<const char*>(rows.data) + first * rows.stride * bytes_of(rows.number);
  return rows;
}

}  // namespace fwsr::cuda
