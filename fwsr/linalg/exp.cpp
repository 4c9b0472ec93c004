#include "fwsr/linalg/exp.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

namespace fwsr {

namespace {

// exp(x) = 2^m exp(r) with m = round(x / ln 2) and r = x - m ln 2, |r| <= ln(2) / 2, where the
// Taylor polynomial of exp is good to rounding. ln 2 is subtracted in two parts, the first with so
// few bits that m times it is exact. m is found by adding a number so large that the sum has no
// bits behind the point: its last bits are then m itself.

struct SingleBits {
  using Value = float;
  using Bits = std::int32_t;
  static constexpr int mantissa = 23;
  static constexpr Bits bias = 127;
  static constexpr float rounder = 0x1.8p23F;
  static constexpr float log2e = 0x1.715476p+0F;
  static constexpr float ln2_high = 0x1.62e4p-1F, ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float smallest = -0x1.5d589ep+6F;  // ln 2^-126
  static constexpr float largest = 0x1.64p+6F;        // 89: beyond ln of the largest number
  static constexpr float taylor[] = {1.F / 5040, 1.F / 720, 1.F / 120, 1.F / 24,
                                     1.F / 6,    1.F / 2,   1.F,       1.F};
};

struct DoubleBits {
  using Value = double;
  using Bits = std::int64_t;
  static constexpr int mantissa = 52;
  static constexpr Bits bias = 1023;
  static constexpr double rounder = 0x1.8p52;
  static constexpr double log2e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double smallest = -0x1.6232bdd7abcd2p+9;  // ln 2^-1022
  static constexpr double largest = 0x1.63p+9;               // 710
  static constexpr double taylor[] = {1. / 6227020800,
                                      1. / 479001600,
                                      1. / 39916800,
                                      1. / 3628800,
                                      1. / 362880,
                                      1. / 40320,
                                      1. / 5040,
                                      1. / 720,
                                      1. / 120,
                                      1. / 24,
                                      1. / 6,
                                      1. / 2,
                                      1.,
                                      1.};
};

/// 64 bytes of numbers, and of the integers with the same bits: one register, or a few.
template <class Type>
struct Lanes {
  static constexpr Index count = 64 / static_cast<Index>(sizeof(typename Type::Value));
  using Values [[gnu::vector_size(64)]] = typename Type::Value;
  using Bits [[gnu::vector_size(64)]] = typename Type::Bits;
};

template <class Type>
[[gnu::always_inline]] inline void exp_lanes(typename Type::Value* x) {
  using Values = typename Lanes<Type>::Values;
  using Bits = typename Lanes<Type>::Bits;
  const Values zero = {};
  Values given;
  __builtin_memcpy(&given, x, sizeof given);
  const Values v = given > Type::largest ? zero + Type::largest : given;
  const Values shifted = v * Type::log2e + Type::rounder;
  const Values m = shifted - Type::rounder;
  const Values r = (v - m * Type::ln2_high) - m * Type::ln2_low;
  Values p = zero + Type::taylor[0];
  for (std::size_t c = 1; c < std::size(Type::taylor); ++c) p = p * r + Type::taylor[c];
  // 2^m as 2 x 2^(m - 1) where m > 0: it may be one more than an exponent can hold.
  const Values less = m > zero ? zero + 1 : zero;
  const Values rounded = shifted - less;
  Bits power;
  __builtin_memcpy(&power, &rounded, sizeof power);
  power = (power - std::bit_cast<typename Type::Bits>(Type::rounder) + Type::bias)
          << Type::mantissa;
  Values scale;
  __builtin_memcpy(&scale, &power, sizeof scale);
  const Values result = given < Type::smallest ? zero : (p + p * less) * scale;
  __builtin_memcpy(x, &result, sizeof result);
}

template <class Type>
[[gnu::always_inline]] inline void exp_body(typename Type::Value* x, Index n) {
  constexpr Index count = Lanes<Type>::count;
  Index i = 0;
  for (; i + count <= n; i += count) exp_lanes<Type>(x + i);
  if (i == n) return;
  typename Type::Value rest[static_cast<std::size_t>(count)] = {};
  std::copy(x + i, x + n, rest);
  exp_lanes<Type>(rest);
  std::copy(rest, rest + (n - i), x + i);
}

void single_base(float* x, Index n) {
  exp_body<SingleBits>(x, n);
}
void double_base(double* x, Index n) {
  exp_body<DoubleBits>(x, n);
}
[[gnu::target("avx2")]] void single_avx2(float* x, Index n) {
  exp_body<SingleBits>(x, n);
}
[[gnu::target("avx2")]] void double_avx2(double* x, Index n) {
  exp_body<DoubleBits>(x, n);
}
[[gnu::target("avx512f,avx512dq")]] void single_avx512(float* x, Index n) {
  exp_body<SingleBits>(x, n);
}
[[gnu::target("avx512f,avx512dq")]] void double_avx512(double* x, Index n) {
  exp_body<DoubleBits>(x, n);
}

struct Kernels {
  void (*single)(float*, Index);
  void (*twice)(double*, Index);
};

const Kernels& kernels() {
  static const Kernels chosen =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
          ? Kernels{single_avx512, double_avx512}
      : __builtin_cpu_supports("avx2") ? Kernels{single_avx2, double_avx2}
                                       : Kernels{single_base, double_base};
  return chosen;
}

}  // namespace

void exp_in_place(float* x, Index n) {
  kernels().single(x, n);
}
void exp_in_place(double* x, Index n) {
  kernels().twice(x, n);
}

}  // namespace fwsr
