// The indices of neighbouring points, for those who take any.
#pragma once

#include <numeric>
#include <vector>

#include "fwsr/base/at.hpp"

namespace fwsr {

/// first, first + 1, ..., last - 1. @pre first <= last
inline std::vector<Index> index_range(Index first, Index last) {
  std::vector<Index> all(at(last - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace fwsr
