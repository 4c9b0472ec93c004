#include "apps/checksums.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace fwsr::app {

namespace {

/// FNV-1a of the columns and values that are not zero.
class Checksum {
 public:
  void add(Index column, double value) {
    if (value == 0) return;
    add(static_cast<std::uint64_t>(column));
    add(std::bit_cast<std::uint64_t>(value));
  }
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ ^= word >> (8 * byte) & 0xff;
      state_ *= 0x100000001b3;
    }
  }
  std::uint64_t state_ = 0xcbf29ce484222325;
};

template <class T>
T number_of(const StreamView<T>&);
template <class View>
using StoredNumber = decltype(number_of(std::declval<View>()));

}  // namespace

std::vector<std::string> checksums_of(const Dataset& data, const std::vector<Index>& points) {
  std::vector<std::string> found;
  std::visit(
      [&]<class View>(const View& v) {
        for (const Index i : points) {
          Checksum sum;
          if constexpr (requires { v.starts; }) {
            for (auto e = v.starts[i]; e < v.starts[i + 1]; ++e)
              sum.add(static_cast<Index>(v.columns[e]), static_cast<double>(v.values[e]));
          } else if constexpr (requires { v.source; }) {
            std::vector<StoredNumber<View>> row(static_cast<std::size_t>(v.cols));
            v.source->read(i, i + 1, row.data());
            for (Index l = 0; l < v.cols; ++l)
              sum.add(l, static_cast<double>(row[static_cast<std::size_t>(l)]));
          } else {
            for (Index l = 0; l < v.cols; ++l) sum.add(l, static_cast<double>(v(i, l)));
          }
          found.push_back(sum.text());
        }
      },
      data.view());
  return found;
}

}  // namespace fwsr::app
