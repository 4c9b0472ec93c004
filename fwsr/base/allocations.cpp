#include "fwsr/base/allocations.hpp"

#include <algorithm>
#include <new>

namespace fwsr {

AllocationPeak::AllocationPeak() {
  AllocationCount& count = allocation_count;
  met_ = count.met.load();
  if (count.watchers.fetch_add(1) > 0) {
    count.met.fetch_add(1);
    return;
  }
  const Index before = count.now.load();
  void* const probe = ::operator new(4096);
  counted_ = count.now.load() - before >= 4096;
  ::operator delete(probe);
  before_ = count.now.load();
  count.most.store(before_);
}

AllocationPeak::~AllocationPeak() {
  allocation_count.watchers.fetch_sub(1);
}

Index AllocationPeak::bytes() const {
  if (!counted_ || allocation_count.met.load() != met_) return -1;
  return std::max<Index>(0, allocation_count.most.load() - before_);
}

}  // namespace fwsr
