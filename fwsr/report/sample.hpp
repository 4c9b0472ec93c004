// Which points a page shows where it cannot show all.
#pragma once

#include <algorithm>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/index_range.hpp"

namespace fwsr::report {

/// At most `most` of 0 .. n - 1, ascending.
inline std::vector<Index> evenly_spaced(Index n, Index most) {
  if (n <= most) return index_range(0, n);
  std::vector<Index> some;
  for (Index i = 0; i < most; ++i)
    some.push_back(static_cast<Index>(static_cast<double>(i) * static_cast<double>(n) /
                                      static_cast<double>(most)));
  return some;
}

}  // namespace fwsr::report
