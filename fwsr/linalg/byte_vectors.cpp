#include "fwsr/linalg/byte_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/byte_table.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

constexpr Index digits_each = 5, group = 4;
constexpr Index group_bytes = group * byte_vector_lanes;
/// The digits of a vector stand in neighbouring lanes, the lowest first.
constexpr Index lane_of(Index vector, Index digit) {
  return vector * digits_each + digit;
}
/// Sums of d products of a byte and a digit are 32-bit numbers: 255 * 128 d < 2^31.
constexpr Index most_features = 65'000;

}  // namespace

bool ByteVectors::there(Index d) {
  return has_byte_products() && d >= group && d <= most_features;
}

void ByteVectors::set(const double* u, const double* v, const double* w, Index d) {
  groups_ = block_count(d, group);
  digits_.assign(at(groups_ * group_bytes), 0);
  std::fill_n(sums_, byte_vector_lanes, 0);
  const double* const vectors[3] = {u, v, w};
  for (Index k = 0; k < 3; ++k) {
    double largest = 0;
    for (Index l = 0; l < d; ++l) largest = std::max(largest, std::abs(vectors[k][l]));
    // A little less than 2^39 of them, so that the last digit does not overflow.
    sigma_[k] = largest / (0x1p39 - 0x1p32);
    // What is so small that its inverse is no number is as good as zero.
    const double times = std::isnormal(sigma_[k]) && sigma_[k] > 0x1p-1020 ? 1 / sigma_[k] : 0;
    for (Index l = 0; l < d; ++l) {
      // The last group ends with the last feature; those that it shares with the one before are counted there.
      const Index place = l / group < groups_ - 1 ? l % group : l - (d - group);
      std::int8_t* const to =
          digits_.data() + l / group * group_bytes + group * lane_of(k, 0) + place;
      auto whole = static_cast<std::int64_t>(std::llrint(vectors[k][l] * times));
      for (Index digit = 0; digit < digits_each; ++digit) {  // -128 .. 127 each
        const auto low = static_cast<std::int8_t>(static_cast<std::uint8_t>(whole & 0xff));
        to[group * digit] = low;
        sums_[lane_of(k, digit)] += low;
        whole = (whole - low) / 256;
      }
    }
  }
}

template <class T>
void ByteVectors::dots_of(const Rows<T>& a, double* x, double* y, double* z) const {
#if defined(__x86_64__)
  constexpr Index at_once = 512;
  std::int32_t sums[at_once * byte_vector_lanes];
  double* const out[3] = {x, y, z};
  for (Index first = 0; first < a.count; first += at_once) {
    const Rows<T> some{
        .rows = a.rows + first, .count = std::min(at_once, a.count - first), .d = a.d};
    if constexpr (std::is_signed_v<T>)
      byte_vectors_vnni.of_signed(some, digits_.data(), sums);
    else
      byte_vectors_vnni.of_unsigned(some, digits_.data(), sums);
    for (Index i = 0; i < some.count; ++i)
      for (Index k = 0; k < 3; ++k) {
        const std::int32_t* const own = sums + i * byte_vector_lanes + lane_of(k, 0);
        std::int64_t whole = 0;
        for (Index digit = digits_each; digit-- > 0;) {
          whole = 256 * whole + own[digit];
          // 128 was added to each number.
          if (std::is_signed_v<T>) whole -= std::int64_t{128} * sums_[lane_of(k, digit)];
        }
        out[k][first + i] = sigma_[k] * static_cast<double>(whole);
      }
  }
#else
  static_cast<void>(a), static_cast<void>(x), static_cast<void>(y), static_cast<void>(z);
#endif
}

void ByteVectors::dots(const Rows<std::uint8_t>& a, double* x, double* y, double* z) const {
  dots_of(a, x, y, z);
}
void ByteVectors::dots(const Rows<std::int8_t>& a, double* x, double* y, double* z) const {
  dots_of(a, x, y, z);
}

}  // namespace fwsr
