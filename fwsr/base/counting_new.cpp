// operator new and delete that count (allocations.hpp); otherwise malloc and free, as the compiler's own. Part of the
// program, the Python module and the tests, and of no library: whoever links that keeps the operators they have. Weak, so
// that sanitizers and allocators that bring their own keep theirs.
#include <cstdlib>
#include <new>

#include "fwsr/base/allocations.hpp"

namespace {

/// As the standard says: a handler that was set may make room, again and again.
template <class Take>
void* taken(Take&& take) {
  while (true) {
    if (void* const memory = take()) {
      fwsr::allocation_count.allocated(memory);
      return memory;
    }
    const std::new_handler make_room = std::get_new_handler();
    if (!make_room) throw std::bad_alloc{};
    make_room();
  }
}

void give_back(void* memory) noexcept {
  fwsr::allocation_count.freed(memory);
  std::free(memory);
}

}  // namespace

[[gnu::weak]] void* operator new(std::size_t bytes) {
  return taken([&] { return std::malloc(bytes ? bytes : 1); });
}
[[gnu::weak]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  const std::size_t rounded = (bytes + step - 1) / step * step;
  return taken([&]() -> void* {
    return rounded < bytes ? nullptr : std::aligned_alloc(step, rounded ? rounded : step);
  });
}
[[gnu::weak]] void operator delete(void* memory) noexcept {
  give_back(memory);
}
[[gnu::weak]] void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
[[gnu::weak]] void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
[[gnu::weak]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}
