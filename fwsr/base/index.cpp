#include "fwsr/base/index.hpp"

#include <string>
#include <type_traits>

#include "fwsr/base/result.hpp"

namespace fwsr {

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
