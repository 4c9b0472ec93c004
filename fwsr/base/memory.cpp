#include "fwsr/base/memory.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/system_memory.hpp"

namespace fwsr {

// ---- sizes in words ----

std::string format_bytes(double bytes) {
  constexpr const char* names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(names)) bytes /= 1024, ++unit;
  return unit == 0 || bytes >= 100 ? fmt::format("{:.0f} {}", bytes, names[unit])
                                   : fmt::format("{:.1f} {}", bytes, names[unit]);
}

Result<Index> parse_bytes(std::string_view text) {
  const Failure failure{fmt::format(
      "'{}' is not an amount of memory; write a number with an optional K, M, G or T, as in 4G",
      text)};
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || !(value > 0)) return failure;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  if (unit.size() == 2 && (unit[1] == 'i' || unit[1] == 'I')) unit.remove_suffix(1);
  if (unit.size() > 1) return failure;
  if (unit.size() == 1) {
    const std::size_t power = std::string_view("KMGT").find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    if (power == std::string_view::npos) return failure;
    value *= std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (!(value >= 1 && value < 0x1p62)) return failure;
  return static_cast<Index>(value);
}

// ---- memory facts ----

Index available_memory() {
  // Asking the system takes longer than a small run, of which there may be many.
  using Clock = std::chrono::steady_clock;
  constexpr auto holds_for = std::chrono::milliseconds(20);
  static std::mutex mutex;
  static Index known = 0;
  static Clock::time_point asked;
  const std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (known == 0 || now - asked > holds_for) known = available_memory(""), asked = now;
  return known;
}

void prefer_large_pages(void* start, Index bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(start) + page - 1) / page * page;
  const auto end =
      (reinterpret_cast<std::uintptr_t>(start) + static_cast<std::uintptr_t>(bytes)) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  static_cast<void>(start), static_cast<void>(bytes);
#endif
}

void touch_pages(void* start, Index bytes) {
  constexpr Index page = 4096, piece = 2048 * page;
  for_blocks(
      bytes > 2 * piece ? default_threads() : 1, bytes,
      [&](Index, Index first, Index last) {
        for (Index at = first; at < last; at += page)
          static_cast<volatile std::byte*>(start)[at] = std::byte{0};
      },
      piece);
}

namespace {

/// A size that the system tells about this process, as "VmHWM:"; 0 when it does not.
Index status_bytes(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(name, 0) == 0)
      return static_cast<Index>(std::stod(line.substr(name.size()))) * 1024;
  return 0;
}

}  // namespace

void release_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

Index peak_memory() {
  // Not getrusage: its maximum is inherited from the process that started this one.
  if (const Index bytes = status_bytes("VmHWM:"); bytes > 0) return bytes;
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<Index>(usage.ru_maxrss) * 1024;
}

}  // namespace fwsr
