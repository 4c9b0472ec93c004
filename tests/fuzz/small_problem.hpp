// A small problem out of any bytes: points with everything that is hard about points (huge, tiny, equal,
// opposite, zero, not finite), a way to store them, options, a method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/solver/options.hpp"

namespace fwsr::fuzz {

/// Takes bytes one by one; zeros when there are none left.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const std::uint8_t b = rest_.front();
    rest_ = rest_.subspan(1);
    return b;
  }
  Index below(Index n) { return next() % n; }
  bool yes() { return next() % 2 != 0; }
  template <class List>
  auto one_of(const List& list) {
    return list[static_cast<std::size_t>(below(std::ssize(list)))];
  }

 private:
  std::span<const std::uint8_t> rest_;
};

struct SmallProblem {
  explicit SmallProblem(Bytes bytes);
  PointsView view() const;
  /// The largest number over the smallest that is not zero, eta among them.
  double spread() const;

  Index n = 0, d = 0;
  MethodChoice choice;
  SelectOptions options;

 private:
  void take_points(Bytes& bytes);
  void take_kernel(Bytes& bytes);
  void take_options(Bytes& bytes);

  std::vector<double> values_;  // n x d
  std::vector<float> singles_;  // the same
  Index storage_ = 0;           // dense, then sparse; of doubles, then of floats
  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> columns_;
  std::vector<double> entries_;
  std::vector<float> single_entries_;
};

}  // namespace fwsr::fuzz
