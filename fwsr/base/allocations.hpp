// How much memory work asks for, whatever the rest of the process holds: every operator new and every LargeArray is
// counted while somebody wants to know.
#pragma once

#include <malloc.h>

#include <atomic>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// For all threads together.
struct AllocationCount {
  std::atomic<int> watchers = 0;  // nothing is counted while there are none
  std::atomic<Index> met = 0;     // how often one came while another was there
  std::atomic<Index> now = 0;     // since the first of them came
  std::atomic<Index> most = 0;

  void allocated(void* memory) {
    if (watchers.load(std::memory_order_relaxed) == 0) return;
    const auto size = static_cast<Index>(::malloc_usable_size(memory));
    const Index sum = now.fetch_add(size, std::memory_order_relaxed) + size;
    Index before = most.load(std::memory_order_relaxed);
    while (before < sum && !most.compare_exchange_weak(before, sum, std::memory_order_relaxed)) {
    }
  }
  /// @pre the memory is still there
  void freed(void* memory) {
    if (!memory || watchers.load(std::memory_order_relaxed) == 0) return;
    now.fetch_sub(static_cast<Index>(::malloc_usable_size(memory)), std::memory_order_relaxed);
  }
};
inline AllocationCount allocation_count;

/// Counts from here on, until it is gone. Two at a time would count each other's work, and neither knows how much.
class AllocationPeak {
 public:
  AllocationPeak();
  ~AllocationPeak();
  AllocationPeak(const AllocationPeak&) = delete;
  AllocationPeak& operator=(const AllocationPeak&) = delete;

  /// The most bytes that were asked for at one time, beyond those at the beginning; -1 where a program has an operator
  /// new of its own, which counts nothing, and when others counted meanwhile.
  Index bytes() const;

 private:
  bool counted_ = false;
  Index before_ = 0, met_ = 0;
};

}  // namespace fwsr
