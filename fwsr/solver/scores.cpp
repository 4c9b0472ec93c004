#include "fwsr/solver/scores.hpp"

#include <algorithm>

namespace fwsr {

void Scores::find_block_max(int threads) {
  const auto n = static_cast<Index>(c.size());
  for_blocks(threads_for(threads, static_cast<double>(n)), n,
             [&](Index b, Index first, Index last) {
               double most = score(size(first));
               for (Index i = first + 1; i < last; ++i)
                 if (most < score(size(i))) most = score(size(i));  // as max_element
               block_max[size(b)] = most;
             });
}

Index Scores::first(double enough) const {
  const auto block =
      std::find_if(block_max.begin(), block_max.end(), [&](double m) { return m >= enough; });
  if (block == block_max.end()) return -1;
  const auto n = static_cast<Index>(c.size());
  Index i = (block - block_max.begin()) * block_size;
  while (i < n && !(score(size(i)) >= enough)) ++i;
  return i < n ? i : -1;
}

Index Scores::best(double tie) const {
  const double largest = *std::max_element(block_max.begin(), block_max.end());
  return std::max<Index>(0, first(enough_of(largest, tie)));  // 0: scores that are not numbers
}

}  // namespace fwsr
