#include "fwsr/solver/scores.hpp"

#include <algorithm>

namespace fwsr {

void Scores::find_most(int threads) {
  const auto n = static_cast<Index>(c.size());
  for_blocks(threads_for(threads, static_cast<double>(n)), n,
             [&](Index b, Index first, Index last) {
               most[size(b)] = *std::max_element(c.begin() + first, c.begin() + last);
             });
}

Index Scores::first(double enough) const {
  const auto block = std::find_if(most.begin(), most.end(), [&](double m) { return m >= enough; });
  if (block == most.end()) return -1;
  const auto begin = c.begin() + (block - most.begin()) * block_size;
  const auto found = std::find_if(begin, c.end(), [&](double v) { return v >= enough; });
  return found == c.end() ? -1 : found - c.begin();
}

Index Scores::best(double tie) const {
  const double largest = *std::max_element(most.begin(), most.end());
  return std::max<Index>(0, first(enough_of(largest, tie)));  // 0: scores that are not numbers
}

}  // namespace fwsr
