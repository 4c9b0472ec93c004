// The sum of some numbers, first to last. Internal.
#pragma once

#include <numeric>
#include <vector>

namespace fwsr {

inline double total(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace fwsr
