// Numbers that begin on a cache line: a wide load from anywhere else touches two.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace fwsr {

template <class T>
struct OnCacheLine {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  OnCacheLine() = default;
  template <class U>
  OnCacheLine(const OnCacheLine<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), line));
  }
  void deallocate(T* numbers, std::size_t) { ::operator delete(numbers, line); }
  bool operator==(const OnCacheLine&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, OnCacheLine<T>>;

}  // namespace fwsr
