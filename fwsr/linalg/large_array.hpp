// Numbers that are written before they are read: not initialised, and on large pages where they
// fill some.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "fwsr/base/allocations.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/system_memory.hpp"

namespace fwsr {

struct FreeMemory {
  void operator()(void* p) const {
    allocation_count.freed(p);
    std::free(p);
  }
};
template <class T>
using LargeArray = std::unique_ptr<T[], FreeMemory>;

template <class T>
LargeArray<T> make_large_array(Index count) {
  constexpr std::size_t page = std::size_t{1} << 21, line = 64;
  const auto bytes = static_cast<std::size_t>(checked_bytes(count, 1, sizeof(T)));
  const std::size_t step = bytes >= 2 * page ? page : line;
  const std::size_t rounded = (bytes + step - 1) / step * step;
  void* const memory = std::aligned_alloc(step, rounded ? rounded : step);
  if (!memory) throw std::bad_alloc{};
  allocation_count.allocated(memory);
  prefer_large_pages(memory, static_cast<Index>(rounded));
  return LargeArray<T>(static_cast<T*>(memory));
}

}  // namespace fwsr
