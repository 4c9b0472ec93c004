// Points of narrow numbers for tests, and the same in float32.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/narrow.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/views.hpp"

namespace fwsr {

constexpr NarrowNumber all_numbers[] = {NarrowNumber::uint8,   NarrowNumber::int8,
                                        NarrowNumber::uint16,  NarrowNumber::int16,
                                        NarrowNumber::float16, NarrowNumber::bfloat16};

/// What a half is, from its parts.
inline double value_of(Float16 h) {
  const int exponent = h.bits >> 10 & 0x1f, fraction = h.bits & 0x3ff;
  const double sign = h.bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}
inline double value_of(BFloat16 h) {
  const int exponent = h.bits >> 7 & 0xff, fraction = h.bits & 0x7f;
  const double sign = h.bits & 0x8000 ? -1.0 : 1.0;
  if (exponent == 255)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -133) : std::ldexp(128 + fraction, exponent - 134));
}
template <class T>
double value_of(T v) {
  return static_cast<double>(v);
}

/// Some bits as a number of type T, which is finite.
template <class T>
T some_number(Rng& rng) {
  T number{};
  do {
    const auto bits = static_cast<std::uint16_t>(rng.below(1u << 16));
    if constexpr (std::is_same_v<T, Float16>) {  // of moderate size
      number.bits = static_cast<std::uint16_t>((bits & 0x83ffu) | (10 + rng.below(8)) << 10);
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      number.bits = static_cast<std::uint16_t>((bits & 0x807fu) | (120 + rng.below(8)) << 7);
    } else {
      number = static_cast<T>(sizeof(T) == 1 ? bits : bits % 4000);
    }
  } while (!std::isfinite(value_of(number)));
  return number;
}

/// Rows of narrow numbers with a gap behind each, and the same in float32.
class Twin {
 public:
  Twin(NarrowNumber number, Index n, Index d, std::uint64_t seed, Index least = 0)
      : number_(number), n_(n), d_(d), stride_(d + 3) {
    Rng rng(seed);
    bits_.resize(at(n * stride_ * bytes_of(number)));
    with_narrow(number, [&]<class T>(T) {
      std::vector<T> one(at(d));
      for (Index i = 0; i < n; ++i) {
        // Some points twice, some features nearly constant.
        if (i > 0 && i % 17 == 0) {
          std::memcpy(address(i), address(i - 1), one.size() * sizeof(T));
        } else {
          for (T& v : one) v = some_number<T>(rng);
          if constexpr (std::is_integral_v<T>)
            for (Index l = 0; l < d; l += 3)
              one[at(l)] = static_cast<T>(least + one[at(l)] % (least ? 2 : 50));
          std::memcpy(address(i), one.data(), one.size() * sizeof(T));
        }
        T stored{};
        for (Index l = 0; l < d; ++l) {
          std::memcpy(&stored, address(i) + l * Index{sizeof(T)}, sizeof(T));
          wide_.push_back(static_cast<float>(value_of(stored)));
        }
      }
    });
  }
  NarrowView narrow() const { return narrow_view(bits_.data(), number_, n_, d_, stride_); }
  MatrixView<const float> wide() const { return {wide_.data(), n_, d_}; }
  /// Whether sums of their products are those of whole numbers.
  bool exact() const { return bytes_of(number_) == 1 && d_ >= 32; }

 private:
  std::byte* address(Index i) { return bits_.data() + i * stride_ * bytes_of(number_); }

  NarrowNumber number_;
  Index n_, d_, stride_;
  std::vector<std::byte> bits_;
  std::vector<float> wide_;
};

}  // namespace fwsr
