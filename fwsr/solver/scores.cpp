#include "fwsr/solver/scores.hpp"

#include <algorithm>

#include "fwsr/base/blocks.hpp"

namespace fwsr {

Index Scores::best(double tie, int threads) const {
  const auto n = static_cast<Index>(c.size());
  std::vector<double> most(size(block_count(n)));
  for_blocks(n > 64 * block_size ? threads : 1, n, [&](Index b, Index first, Index last) {
    most[size(b)] = *std::max_element(c.begin() + first, c.begin() + last);
  });
  const double largest = *std::max_element(most.begin(), most.end());
  const double enough = largest - tie * std::max(0.0, largest);
  for (std::size_t b = 0; b < most.size(); ++b)
    if (most[b] >= enough)
      for (Index i = static_cast<Index>(b) * block_size;; ++i)
        if (c[size(i)] >= enough) return i;
  return 0;
}

}  // namespace fwsr
