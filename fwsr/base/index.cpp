#include "fwsr/base/index.hpp"

#include <string>
#include <type_traits>

#include "fwsr/base/narrow.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

const char* name_of(NarrowNumber number) {
  constexpr const char* names[] = {"uint8", "int8", "uint16", "int16", "float16", "bfloat16"};
  return names[static_cast<int>(number)];
}

Index bytes_of(NarrowNumber number) {
  return number == NarrowNumber::uint8 || number == NarrowNumber::int8 ? 1 : 2;
}

float NarrowView::Row::operator[](std::size_t j) const {
  return with_narrow(number, [&]<class T>(T) { return widened(load_narrow<T>(first, j)); });
}

void NarrowView::read(Index first, Index last, float* out) const {
  for (Index i = first; i < last; ++i, out += cols)
    with_narrow(number, [&]<class T>(T) {
      const std::byte* const from = address(i);
      for (Index l = 0; l < cols; ++l)
        out[l] = widened(load_narrow<T>(from, static_cast<std::size_t>(l)));
    });
}

Index number_bytes(const PointsView& p) {
  const auto* const narrow = std::get_if<NarrowView>(&p);
  return narrow ? bytes_of(narrow->number) : is_single(p) ? 4 : 8;
}

const char* number_name(const PointsView& p) {
  const auto* const narrow = std::get_if<NarrowView>(&p);
  return narrow ? name_of(narrow->number) : is_single(p) ? "float32" : "float64";
}

Index entries_of(const PointsView& p) {
  return std::visit(
      [](const auto& v) -> Index {
        if constexpr (requires { v.starts; })
          return v.rows == 0 ? 0 : static_cast<Index>(v.starts[v.rows]);
        else
          return v.rows * v.cols;
      },
      p);
}

Index checked_bytes(Index rows, Index cols, std::size_t size) {
  Index cells = 0;
  Index bytes = 0;
  if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &cells) ||
      __builtin_mul_overflow(cells, static_cast<Index>(size), &bytes))
    throw MemoryError("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                      " numbers cannot exist in memory");
  return bytes;
}

}  // namespace fwsr
