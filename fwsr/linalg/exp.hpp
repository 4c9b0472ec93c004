// e^x to one unit or two of the last place, in straight-line code that compilers turn into vector
// instructions when it stands in a loop.
//
//   x = n ln 2 + r,  |r| <= ln 2 / 2,   e^x = 2^n e^r,   e^r by its Taylor polynomial
//
// Results below e^-87 (float32) or e^-708 (double) are zero.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace fwsr {

template <class T>
struct ExpNumbers;
template <>
struct ExpNumbers<float> {
  using Bits = std::uint32_t;
  static constexpr float magic = 12582912.0f;  // 1.5 x 2^23: adding it rounds to a whole number
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float lowest = -87.0f, highest = 88.72283f;
  static constexpr int degree = 7, mantissa = 23;
};
template <>
struct ExpNumbers<double> {
  using Bits = std::uint64_t;
  static constexpr double magic = 6755399441055744.0;  // 1.5 x 2^52
  static constexpr double ln2_high = 6.93147180369123816490e-01,
                          ln2_low = 1.90821492927058770002e-10;
  static constexpr double lowest = -708.0, highest = 709.782712893383973;
  static constexpr int degree = 13, mantissa = 52;
};

/// 1 / k!
template <class T>
constexpr T inverse_factorial(int k) {
  double product = 1;
  for (int i = 2; i <= k; ++i) product *= i;
  return static_cast<T>(1 / product);
}

/// The polynomial from its term of degree k down, by Horner's rule.
template <class T, int k = ExpNumbers<T>::degree>
[[gnu::always_inline]] inline T exp_polynomial(T r, T above = 0) {
  constexpr T factor = inverse_factorial<T>(k);
  if constexpr (k == 0)
    return above * r + factor;
  else
    return exp_polynomial<T, k - 1>(r, above * r + factor);
}

template <class T>
[[gnu::always_inline]] inline T exp_of(T x) {
  using N = ExpNumbers<T>;
  constexpr T log2e = static_cast<T>(1.44269504088896340736);
  T within = x < N::lowest ? N::lowest : x;
  within = within > N::highest ? N::highest : within;
  const T shifted = within * log2e + N::magic;
  const T n = shifted - N::magic;
  const T r = (within - n * N::ln2_high) - n * N::ln2_low;
  const auto bits = std::bit_cast<typename N::Bits>(exp_polynomial<T>(r)) +
                    (std::bit_cast<typename N::Bits>(shifted) << N::mantissa);
  T value = std::bit_cast<T>(bits);
  value = x < N::lowest ? T{0} : value;
  value = x > N::highest ? std::numeric_limits<T>::infinity() : value;
  return x == x ? value : x;  // NaN stays. NOLINT(misc-redundant-expression)
}

}  // namespace fwsr
