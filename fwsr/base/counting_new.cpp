// operator new and delete that count (allocations.hpp); otherwise malloc and free, as the compiler's own. Weak: a program
// that brings its own keeps it, and nothing is counted. Sanitizers bring theirs.
#include <cstdlib>
#include <new>

#include "fwsr/base/allocations.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FWSR_COUNTING_NEW 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define FWSR_COUNTING_NEW 0
#else
#define FWSR_COUNTING_NEW 1
#endif
#else
#define FWSR_COUNTING_NEW 1
#endif

namespace fwsr {

extern const bool has_counting_new;
const bool has_counting_new = FWSR_COUNTING_NEW != 0;

}  // namespace fwsr

#if FWSR_COUNTING_NEW

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

#endif
