// Sums over points that are too large to hold one of per block: a thread makes the sum of a whole segment (blocks.hpp),
// and these are added first to last.
#pragma once

#include <algorithm>
#include <vector>

#include "fwsr/base/blocks.hpp"

namespace fwsr {

/// How many segments a thread takes in a row before their sums are added; 0: all sums are held until the end. `bytes`
/// and `operations` are those of one segment.
inline Index segments_in_a_row(const Portion& portion, double bytes, double operations) {
  constexpr double little = 8 << 20, of_a_thread = 1 << 20, a_turn = 5e8;
  const auto segments = static_cast<double>(block_count(portion.size, portion.segment()));
  if (bytes * segments <= little) return 0;
  const double most = std::min(segments / 16, of_a_thread / bytes);
  return static_cast<Index>(
      std::clamp(a_turn / std::max(1.0, operations), 1.0, std::max(1.0, most)));
}

/// Calls make(thread, sum, first, last), which sets `sum` to that of points first .. last, for every segment of a portion
/// (counted from its first point) in parallel, and add(sum, thread) afterwards, one at a time, first segment to last. Where all sums take little
/// memory, nobody waits for his turn; else threads take some segments in a row, so that they work longer than they
/// wait.
template <class Sum, class Make, class Add>
void sum_segments(int threads, const Portion& portion, double bytes, double operations, Make&& make,
                  Add&& add) {
  const Index n = portion.size, size = portion.segment();
  const Index in_a_row = segments_in_a_row(portion, bytes, operations);
  if (in_a_row == 0) {
    std::vector<Sum> sums(static_cast<std::size_t>(block_count(n, size)));
    for_blocks(
        threads, n,
        [&](int thread, Index s, Index first, Index last) {
          make(thread, sums[static_cast<std::size_t>(s)], first, last);
        },
        size);
    for (const Sum& sum : sums) add(sum, 0);
    return;
  }
  struct Turn {
    std::vector<Sum> sums;
    Index count = 0;
  };
  std::vector<Turn> turns(static_cast<std::size_t>(std::max(1, threads)));
  for_blocks_in_order(
      threads, n, in_a_row * size,
      [&](int thread, Index first, Index last) {
        Turn& own = turns[static_cast<std::size_t>(thread)];
        own.sums.resize(static_cast<std::size_t>(in_a_row));
        own.count = 0;
        for (Index from = first; from < last; from += size)
          make(thread, own.sums[static_cast<std::size_t>(own.count++)], from,
               std::min(last, from + size));
      },
      [&](int thread) {
        const Turn& own = turns[static_cast<std::size_t>(thread)];
        for (Index s = 0; s < own.count; ++s) add(own.sums[static_cast<std::size_t>(s)], thread);
      });
}

}  // namespace fwsr
