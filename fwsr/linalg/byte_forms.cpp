#include "fwsr/linalg/byte_forms.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/byte_table.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

constexpr Index group_bytes = 4 * byte_panel;

}  // namespace

bool ByteForms::there() {
  return has_byte_products();
}

ByteForms::ByteForms(std::span<const double> m, Index d, Index stride)
    : d_(d), width_(block_count(d, byte_panel) * byte_panel) {
  // Every pair of places once: what stands below the diagonal is added to what stands above it.
  const auto entry = [&](Index l, Index j) {
    return l > j || j >= d ? 0.0 : m[at(l * stride + j)] * (l == j ? 1 : 2);
  };
  double largest = 0;
  for (Index l = 0; l < d; ++l)
    for (Index j = l; j < d; ++j) largest = std::max(largest, std::abs(entry(l, j)));
  // A little less than 2^23 of them, so that no digit overflows.
  sigma_ = largest / (0x1p23 - 0x1p16);
  const double times = largest > 0 ? 1 / sigma_ : 0;
  const Index panels = width_ / byte_panel;
  digits_ =
      make_large_array<std::int8_t>(panels * (panels + 1) / 2 * 4 * byte_digits * group_bytes);
  std::int8_t* to = digits_.get();
  for (Index j = 0; j < width_; j += byte_panel)
    for (Index l = 0; l < j + byte_panel; l += 4, to += byte_digits * group_bytes)
      for (Index c = 0; c < byte_panel; ++c)
        for (Index r = 0; r < 4; ++r) {
          auto whole = static_cast<std::int32_t>(std::lrint(entry(l + r, j + c) * times));
          for (Index k = 0; k < byte_digits;
               ++k) {  // -128 .. 127 each, the last takes what is left
            const auto digit = static_cast<std::int8_t>(static_cast<std::uint8_t>(whole & 0xff));
            to[k * group_bytes + 4 * c + r] = digit;
            whole = (whole - digit) / 256;
          }
        }
}

void ByteForms::of(const std::byte* const* rows, Index count, std::uint8_t* room,
                   double* out) const {
#if defined(__x86_64__)
  for (Index i = 0; i < count; ++i) {
    std::memcpy(room + i * width_, rows[i], at(d_));
    std::fill_n(room + i * width_ + d_, width_ - d_, std::uint8_t{0});
  }
  byte_forms_vnni(room, count, width_, digits_.get(), out);
  for (Index i = 0; i < count; ++i) out[i] *= sigma_;
#else
  static_cast<void>(rows), static_cast<void>(count), static_cast<void>(room),
      static_cast<void>(out);
#endif
}

}  // namespace fwsr
