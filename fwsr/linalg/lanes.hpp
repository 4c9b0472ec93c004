// Eight doubles at a time, as the instruction set has them that the including file is compiled for
// (pass_loops.hpp): loading, storing, sums in one fixed order.
#pragma once

#include "fwsr/base/narrow.hpp"
#include "fwsr/linalg/pass.hpp"

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace fwsr {

namespace {

constexpr Index lanes = pass_lanes;
using Lanes [[gnu::vector_size(lanes * sizeof(double))]] = double;
using Singles [[gnu::vector_size(lanes * sizeof(float))]] = float;

[[gnu::always_inline]] inline void load(const double* from, Lanes& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
[[gnu::always_inline]] inline void load(const float* from, Lanes& to) {
#if defined(__AVX512F__)  // g++ 12 makes six instructions of the conversion below
  const auto wide = _mm512_cvtps_pd(_mm256_loadu_ps(from));
  __builtin_memcpy(&to, &wide, sizeof to);
#else
  Singles narrow;
  __builtin_memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, Lanes);
#endif
}
// Narrow numbers, which become doubles in registers.
#if defined(__AVX2__) && defined(__F16C__)
[[gnu::always_inline]] inline void widen(__m256 single, Lanes& to) {
#if defined(__AVX512F__)
  const __m512d wide = _mm512_cvtps_pd(single);
#else
  const __m256d wide[2] = {_mm256_cvtps_pd(_mm256_castps256_ps128(single)),
                           _mm256_cvtps_pd(_mm256_extractf128_ps(single, 1))};
#endif
  __builtin_memcpy(&to, &wide, sizeof to);
}
template <class T>
[[gnu::always_inline]] inline __m128i eight(const T* from) {
  __m128i bits = {};
  __builtin_memcpy(&bits, from, lanes * sizeof(T));
  return bits;
}
[[gnu::always_inline]] inline __m256i whole(const std::uint8_t* from) {
  return _mm256_cvtepu8_epi32(eight(from));
}
[[gnu::always_inline]] inline __m256i whole(const std::int8_t* from) {
  return _mm256_cvtepi8_epi32(eight(from));
}
[[gnu::always_inline]] inline __m256i whole(const std::uint16_t* from) {
  return _mm256_cvtepu16_epi32(eight(from));
}
[[gnu::always_inline]] inline __m256i whole(const std::int16_t* from) {
  return _mm256_cvtepi16_epi32(eight(from));
}
template <NarrowType T>
[[gnu::always_inline]] inline __m256 singles(const T* from) {
  return _mm256_cvtepi32_ps(whole(from));
}
[[gnu::always_inline]] inline __m256 singles(const Float16* from) {
  return _mm256_cvtph_ps(eight(from));
}
[[gnu::always_inline]] inline __m256 singles(const BFloat16* from) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight(from)), 16));
}
template <NarrowType T>
[[gnu::always_inline]] inline void load(const T* from, Singles& to) {
  const __m256 wide = singles(from);
  __builtin_memcpy(&to, &wide, sizeof to);
}
template <NarrowType T>
[[gnu::always_inline]] inline void load(const T* from, Lanes& to) {
  widen(singles(from), to);
}
#if defined(__AVX512DQ__)
// Whole numbers by way of 64 bits: from 32 they would have to be brought across the register first, by the ports that a pass
// needs for its products.
[[gnu::always_inline]] inline void widen(__m512i numbers, Lanes& to) {
  const __m512d wide = _mm512_cvtepi64_pd(numbers);
  __builtin_memcpy(&to, &wide, sizeof to);
}
[[gnu::always_inline]] inline void load(const std::uint8_t* from, Lanes& to) {
  widen(_mm512_cvtepu8_epi64(eight(from)), to);
}
[[gnu::always_inline]] inline void load(const std::int8_t* from, Lanes& to) {
  widen(_mm512_cvtepi8_epi64(eight(from)), to);
}
[[gnu::always_inline]] inline void load(const std::uint16_t* from, Lanes& to) {
  widen(_mm512_cvtepu16_epi64(eight(from)), to);
}
[[gnu::always_inline]] inline void load(const std::int16_t* from, Lanes& to) {
  widen(_mm512_cvtepi16_epi64(eight(from)), to);
}
#else
[[gnu::always_inline]] inline void widen(__m256i numbers, Lanes& to) {
  const __m256d wide[2] = {_mm256_cvtepi32_pd(_mm256_castsi256_si128(numbers)),
                           _mm256_cvtepi32_pd(_mm256_extracti128_si256(numbers, 1))};
  __builtin_memcpy(&to, &wide, sizeof to);
}
[[gnu::always_inline]] inline void load(const std::uint8_t* from, Lanes& to) {
  widen(whole(from), to);
}
[[gnu::always_inline]] inline void load(const std::int8_t* from, Lanes& to) {
  widen(whole(from), to);
}
[[gnu::always_inline]] inline void load(const std::uint16_t* from, Lanes& to) {
  widen(whole(from), to);
}
[[gnu::always_inline]] inline void load(const std::int16_t* from, Lanes& to) {
  widen(whole(from), to);
}
#endif
#else
/// The float32 that a narrow number is: as widened() of base/narrow.hpp, compiled here.
template <class T>
[[gnu::always_inline]] inline float single_of(T value) {
  return static_cast<float>(value);
}
[[gnu::always_inline]] inline float single_of(BFloat16 value) {
  const unsigned bits = static_cast<unsigned>(value.bits) << 16;
  float wide;
  __builtin_memcpy(&wide, &bits, sizeof wide);
  return wide;
}
/// By moving its bits to where a float32 has them, times what the exponents then differ by: exact also for subnormal ones.
[[gnu::always_inline]] inline float single_of(Float16 value) {
  const unsigned size = value.bits & 0x7fffu, sign = (value.bits & 0x8000u) << 16;
  const unsigned moved = size << 13 | (size >= 0x7c00u ? 0x7f800000u : 0u);
  float wide;
  __builtin_memcpy(&wide, &moved, sizeof wide);
  if (size < 0x7c00u) wide *= 0x1p112f;
  unsigned bits;
  __builtin_memcpy(&bits, &wide, sizeof bits);
  bits |= sign;
  __builtin_memcpy(&wide, &bits, sizeof wide);
  return wide;
}
template <NarrowType T>
[[gnu::always_inline]] inline void load(const T* from, Singles& to) {
  for (Index l = 0; l < lanes; ++l) to[l] = single_of(from[l]);
}
template <NarrowType T>
[[gnu::always_inline]] inline void load(const T* from, Lanes& to) {
  for (Index l = 0; l < lanes; ++l) to[l] = static_cast<double>(single_of(from[l]));
}
#endif
[[gnu::always_inline]] inline void store(const Lanes& from, double* to) {
  __builtin_memcpy(to, &from, sizeof from);
}
[[gnu::always_inline]] inline void store(const Lanes& from, float* to) {
#if defined(__AVX512F__)
  __m512d wide;
  __builtin_memcpy(&wide, &from, sizeof wide);
  _mm256_storeu_ps(to, _mm512_cvtpd_ps(wide));
#else
  const Singles narrow = __builtin_convertvector(from, Singles);
  __builtin_memcpy(to, &narrow, sizeof narrow);
#endif
}
[[gnu::always_inline]] inline void spread(double v, Lanes& to) {
  to = Lanes{v, v, v, v, v, v, v, v};
}
/// sum += x y, rounded once where the processor can. Everything else is rounded as written, so that
/// a difference of equal numbers is zero.
[[gnu::always_inline]] inline void add_product(Lanes& sum, const Lanes& x, const Lanes& y) {
#if defined(__AVX512F__)
  __m512d s, a, b;
  __builtin_memcpy(&s, &sum, sizeof s);
  __builtin_memcpy(&a, &x, sizeof a);
  __builtin_memcpy(&b, &y, sizeof b);
  s = _mm512_fmadd_pd(a, b, s);
  __builtin_memcpy(&sum, &s, sizeof s);
#elif defined(__FMA__)
  __m256d s[2], a[2], b[2];
  __builtin_memcpy(s, &sum, sizeof s);
  __builtin_memcpy(a, &x, sizeof a);
  __builtin_memcpy(b, &y, sizeof b);
  for (int i = 0; i < 2; ++i) s[i] = _mm256_fmadd_pd(a[i], b[i], s[i]);
  __builtin_memcpy(&sum, s, sizeof s);
#else
  sum += x * y;
#endif
}
/// The last `count` numbers of a row, zeros behind them; nothing is read beyond.
#if defined(__AVX512F__)
[[gnu::always_inline]] inline void load_tail(const float* from, Index count, Lanes& to) {
  const auto wide = _mm512_cvtps_pd(
      _mm256_maskz_loadu_ps(static_cast<__mmask8>((1u << static_cast<unsigned>(count)) - 1), from));
  __builtin_memcpy(&to, &wide, sizeof to);
}
[[gnu::always_inline]] inline void load_tail(const double* from, Index count, Lanes& to) {
  const auto wide =
      _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << static_cast<unsigned>(count)) - 1), from);
  __builtin_memcpy(&to, &wide, sizeof to);
}
template <NarrowType T>
#else
template <class T>
#endif
[[gnu::always_inline]] inline void load_tail(const T* from, Index count, Lanes& to) {
  T padded[lanes] = {};
#pragma GCC unroll 1
  for (Index l = 0; l < count; ++l) padded[l] = from[l];
  load(padded, to);
}
/// Eight partial sums, always added in this order: the entries of a vector, or eight vectors.
template <class Eight, class Sum>
[[gnu::always_inline]] inline void add_up(const Eight& s, Sum& out) {
  out = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
[[gnu::always_inline]] inline double sum_of(const Lanes& s) {
  double sum;
  add_up(s, sum);
  return sum;
}
/// The sums of four vectors side by side, each added in the order of sum_of.
using Quad [[gnu::vector_size(4 * sizeof(double))]] = double;
[[gnu::always_inline]] inline void fold(const Lanes& s, Quad& out) {
  out = __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
}
[[gnu::always_inline]] inline void sums_of(const Lanes& s0, const Lanes& s1, const Lanes& s2,
                                           const Lanes& s3, Quad& out) {
  Quad a, b, c, d;
  fold(s0, a), fold(s1, b), fold(s2, c), fold(s3, d);
  const Quad ab =
      __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const Quad cd =
      __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  out = __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}
[[gnu::always_inline]] inline void keep_larger(Lanes& most, const Lanes& v) {
  most = v > most ? v : most;
}
[[gnu::always_inline]] inline double largest_of(const Lanes& s) {
  double most = s[0];
  for (Index l = 1; l < lanes; ++l) most = s[l] > most ? s[l] : most;
  return most;
}
/// Numbers as whole numbers. Without their signs these are in the same order, those that are not finite
/// behind all others.
template <class T>
struct WordOf {
  using Word = int;
};
template <>
struct WordOf<double> {
  using Word = long long;
};
template <class T>
using Words [[gnu::vector_size(lanes * sizeof(T))]] = typename WordOf<T>::Word;
template <class T>
constexpr auto without_sign =
    static_cast<typename WordOf<T>::Word>(~0ULL >> (8 * (sizeof(long long) - sizeof(T)) + 1));
/// The largest of them as a number; infinite when it is not finite.
template <class T>
[[gnu::always_inline]] inline double number_of(const Words<T>& words) {
  auto most = words[0];
  for (Index l = 1; l < lanes; ++l) most = words[l] > most ? words[l] : most;
  T number;
  __builtin_memcpy(&number, &most, sizeof number);
  const auto value = static_cast<double>(number);
  return value - value == 0 ? value : __builtin_inf();
}

}  // namespace

}  // namespace fwsr
