// The size most of many numbers have, whatever a few of them are. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// The middle of those above zero among some of value(0), ..., value(n - 1), evenly spread; 0 when there are
/// none.
template <class Value>
double typical(Index n, const Value& value) {
  constexpr Index most = 1001;
  const Index count = std::min(n, most);
  std::vector<double> some;
  for (Index s = 0; s < count; ++s)
    if (const double v = value(s * n / count); v > 0) some.push_back(v);
  if (some.empty()) return 0;
  const auto middle = some.begin() + static_cast<Index>(some.size() / 2);
  std::nth_element(some.begin(), middle, some.end());
  return *middle;
}

}  // namespace fwsr
