#include "fwsr/base/file_watch.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace fwsr {

// ---- changes ----

FileWatch::FileWatch(int descriptor, const struct stat& about, std::string name)
    : descriptor_(descriptor), about_(about), name_(std::move(name)) {}

FileWatch::~FileWatch() {
  ::close(descriptor_);
}

std::optional<std::string> FileWatch::find_change() const {
  struct stat now = {};
  if (::fstat(descriptor_, &now) != 0) return std::nullopt;
  constexpr const char* advice =
      "what was read may be half old and half new; leave the file alone and start again";
  if (now.st_size != about_.st_size)
    return fmt::format("{}: was {} bytes long and is {} now: it changed while it was read, and {}",
                       name_, about_.st_size, now.st_size, advice);
  if (now.st_mtim.tv_sec != about_.st_mtim.tv_sec || now.st_mtim.tv_nsec != about_.st_mtim.tv_nsec)
    return fmt::format("{}: was written to while it was read, and {}", name_, advice);
  return std::nullopt;
}

// ---- faults ----

namespace {

/// `begin` is set last and cleared first: who finds an address between begin and end finds the name.
struct Mapping {
  std::atomic<std::uintptr_t> begin = UINTPTR_MAX, end = 0;
  std::atomic<const char*> name = nullptr;
  std::atomic<bool> taken = false;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

std::array<Mapping, 64> mappings;

}  // namespace

int announce_mapping(const void* start, std::size_t length, const char* name) {
  for (std::size_t place = 0; place < mappings.size(); ++place) {
    Mapping& m = mappings[place];
    if (m.taken.exchange(true)) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    m.name = name;
    m.end = begin + length;
    m.begin = begin;
    return static_cast<int>(place);
  }
  return -1;
}

void forget_mapping(int place) {
  if (place < 0) return;
  Mapping& m = mappings[static_cast<std::size_t>(place)];
  m.begin = UINTPTR_MAX;
  m.end = 0;
  m.name = nullptr;
  m.taken = false;
}

const char* mapped_file_at(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Mapping& m : mappings)
    if (m.taken && at >= m.begin && at < m.end) return m.name;
  return nullptr;
}

}  // namespace fwsr
