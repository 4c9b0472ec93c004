#include "fwsr/solver/scores.hpp"

#include <algorithm>

namespace fwsr {

void Scores::find_block_max(int threads) {
  const auto n = static_cast<Index>(c.size());
  for_blocks(threads_for(threads, static_cast<double>(n)), n,
             [&](Index b, Index first, Index last) {
               block_max[size(b)] = *std::max_element(c.begin() + first, c.begin() + last);
             });
}

Index Scores::first(double enough) const {
  const auto block =
      std::find_if(block_max.begin(), block_max.end(), [&](double m) { return m >= enough; });
  if (block == block_max.end()) return -1;
  const auto begin = c.begin() + (block - block_max.begin()) * block_size;
  const auto found = std::find_if(begin, c.end(), [&](double v) { return v >= enough; });
  return found == c.end() ? -1 : found - c.begin();
}

Index Scores::best(double tie) const {
  const double largest = *std::max_element(block_max.begin(), block_max.end());
  return std::max<Index>(0, first(enough_of(largest, tie)));  // 0: scores that are not numbers
}

}  // namespace fwsr
