// Numbers of one and two bytes as types, and the float32 that each is. Internal.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// The bits of IEEE's half precision, and those of a float32 without its lower half.
struct Float16 {
  std::uint16_t bits;
  bool operator==(const Float16&) const = default;
};
struct BFloat16 {
  std::uint16_t bits;
  bool operator==(const BFloat16&) const = default;
};

template <class T>
struct NarrowNumberOf;
template <>
struct NarrowNumberOf<std::uint8_t> {
  static constexpr NarrowNumber value = NarrowNumber::uint8;
};
template <>
struct NarrowNumberOf<std::int8_t> {
  static constexpr NarrowNumber value = NarrowNumber::int8;
};
template <>
struct NarrowNumberOf<std::uint16_t> {
  static constexpr NarrowNumber value = NarrowNumber::uint16;
};
template <>
struct NarrowNumberOf<std::int16_t> {
  static constexpr NarrowNumber value = NarrowNumber::int16;
};
template <>
struct NarrowNumberOf<Float16> {
  static constexpr NarrowNumber value = NarrowNumber::float16;
};
template <>
struct NarrowNumberOf<BFloat16> {
  static constexpr NarrowNumber value = NarrowNumber::bfloat16;
};

template <class T>
concept NarrowType = requires {
  NarrowNumberOf<T>::value;
};

/// work(T{}) for the type T of `number`.
template <class Work>
auto with_narrow(NarrowNumber number, Work&& work) {
  switch (number) {
    case NarrowNumber::int8:
      return work(std::int8_t{});
    case NarrowNumber::uint16:
      return work(std::uint16_t{});
    case NarrowNumber::int16:
      return work(std::int16_t{});
    case NarrowNumber::float16:
      return work(Float16{});
    case NarrowNumber::bfloat16:
      return work(BFloat16{});
    case NarrowNumber::uint8:
      break;
  }
  return work(std::uint8_t{});
}

/// Number `place` of those that stand from `first` on, wherever that is.
template <class T>
T load_narrow(const std::byte* first, std::size_t place) {
  T value;
  std::memcpy(&value, first + place * sizeof(T), sizeof(T));
  return value;
}

template <std::integral T>
float widened(T value) {
  return static_cast<float>(value);
}
inline float widened(BFloat16 value) {
  const std::uint32_t bits = std::uint32_t{value.bits} << 16;
  float wide = 0;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}
inline float widened(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fu, fraction = value.bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals: fraction x 2^-24, exact in float32
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -size : size;
  }
  const std::uint32_t wide_exponent = exponent == 0x1f ? 0xffu : exponent + 112;
  const std::uint32_t bits = sign | (wide_exponent << 23) | (fraction << 13);
  float wide = 0;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

}  // namespace fwsr
