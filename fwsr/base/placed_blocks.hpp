// Blocks of points that live in several places, as they lie among all points.
#pragma once

#include <algorithm>

#include "fwsr/base/blocks.hpp"

namespace fwsr {

/// Calls work(thread, first, last, before) for blocks of a portion, in parallel, as they lie among all points: `before`
/// rows of the block come before point `first` and live elsewhere. So a point has its place in a block whoever holds it:
/// the last bits of a float32 matrix product tell which rows of it stand where.
template <class Work>
void for_blocks_of_all(int threads, const Portion& portion, Index block, Work&& work) {
  const Index elsewhere = portion.first % block;
  for_tasks(threads, block_count(elsewhere + portion.size, block), [&](int thread, Index b) {
    const Index begin = b * block - elsewhere, first = std::max<Index>(0, begin);
    work(thread, first, std::min(portion.size, begin + block), first - begin);
  });
}

}  // namespace fwsr
