// One piece of work, compiled for several instruction sets and run on the widest in use.
//
// The work is a lambda that inlines everything it calls; its vectors are GCC vector types of 64
// bytes, which the compiler cuts to the registers of each instruction set. Multiplications and
// additions are fused only where a file is compiled so (small_gram.cpp); elsewhere the bits are the
// same on all of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fwsr/linalg/processor.hpp"
#include "fwsr/linalg/target.hpp"

namespace fwsr {

template <class Work>
[[FWSR_TARGET("avx512f,avx512dq")]] void run_avx512(const Work& work) {
  work();
}
template <class Work>
[[FWSR_TARGET("avx2")]] void run_avx2(const Work& work) {
  work();
}

/// @pre `work` is a lambda with __attribute__((always_inline)), and so is all it calls
template <class Work>
void run_widest(const Work& work) {
  const Instructions level = instructions();
  if (level >= Instructions::avx512)
    run_avx512(work);
  else if (level >= Instructions::avx2)
    run_avx2(work);
  else
    work();
}

// 64 bytes of numbers.
using Floats [[gnu::vector_size(64)]] = float;
using Doubles [[gnu::vector_size(64)]] = double;
using FloatBits [[gnu::vector_size(64)]] = std::int32_t;
using DoubleBits [[gnu::vector_size(64)]] = std::int64_t;

template <class T>
struct Vector;
template <>
struct Vector<float> {
  using Values = Floats;
  using Bits = FloatBits;
  static constexpr std::size_t lanes = 16;
};
template <>
struct Vector<double> {
  using Values = Doubles;
  using Bits = DoubleBits;
  static constexpr std::size_t lanes = 8;
};

/// Eight numbers as double.
[[gnu::always_inline]] inline void load_eight(const double* from, Doubles& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
[[gnu::always_inline]] inline void load_eight(const float* from, Doubles& to) {
  double wide[8];
  for (int l = 0; l < 8; ++l) wide[l] = static_cast<double>(from[l]);
  __builtin_memcpy(&to, wide, sizeof to);
}

/// The sum of eight partial sums, in a fixed tree.
[[gnu::always_inline]] inline double add_eight(const Doubles& s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

}  // namespace fwsr
