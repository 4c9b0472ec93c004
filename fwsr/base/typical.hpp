// The size most of many numbers have, whatever a few of them are. Internal.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Some of n numbers, evenly spread: these represent them.
inline std::vector<Index> typical_places(Index n) {
  constexpr Index most = 1001;
  const Index count = std::min(n, most);
  std::vector<Index> places;
  for (Index s = 0; s < count; ++s) places.push_back(s * n / count);
  return places;
}

/// 0 when none is.
inline double middle_above_zero(std::vector<double> some) {
  std::erase_if(some, [](double v) { return !(v > 0); });
  if (some.empty()) return 0;
  const auto middle = some.begin() + static_cast<Index>(some.size() / 2);
  std::nth_element(some.begin(), middle, some.end());
  return *middle;
}

/// The middle of those above zero among some of value(0), ..., value(n - 1), evenly spread; 0 when there are
/// none.
template <class Value>
double typical(Index n, const Value& value) {
  std::vector<double> some;
  for (const Index i : typical_places(n)) some.push_back(value(i));
  return middle_above_zero(std::move(some));
}

}  // namespace fwsr
