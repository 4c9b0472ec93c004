#include "fwsr/base/limits.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

namespace {

/// The limit less what is taken of it; nothing where there is none.
std::optional<Index> left_of(__rlimit_resource resource, Index taken) {
  struct rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return std::max<Index>(0, static_cast<Index>(limit.rlim_cur) - taken);
}

/// What OMP_STACKSIZE says: a number, of KiB unless B, K, M or G follows. Nothing when it makes no sense, as OpenMP
/// ignores it then.
std::optional<Index> stack_size_wanted() {
  const char* text = std::getenv("OMP_STACKSIZE");
  if (!text || std::string_view(text).find('-') != std::string_view::npos) return std::nullopt;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  while (std::isspace(static_cast<unsigned char>(*end)) != 0) ++end;
  const std::string_view units = "bkmg";
  const int letter = std::tolower(static_cast<unsigned char>(*end));
  const std::size_t unit = *end == '\0' ? 1 : units.find(static_cast<char>(letter));
  if (end == text || unit == std::string_view::npos || number > (1ull << 62) >> (10 * unit))
    return std::nullopt;
  return static_cast<Index>(number << (10 * unit));
}

Index stack_size() {
  if (const auto wanted = stack_size_wanted()) return *wanted;
  std::size_t size = std::size_t{8} << 20;
  pthread_attr_t attributes;
  if (::pthread_getattr_default_np(&attributes) == 0) {
    ::pthread_attr_getstacksize(&attributes, &size);
    ::pthread_attr_destroy(&attributes);
  }
  return static_cast<Index>(size);
}

}  // namespace

std::optional<Index> address_space_left() {
  const bool limited = left_of(RLIMIT_AS, 0) || left_of(RLIMIT_DATA, 0);
  if (!limited) return std::nullopt;
  Index all = 0, resident = 0, shared = 0, text = 0, libraries = 0, data = 0;  // in pages
  std::ifstream("/proc/self/statm") >> all >> resident >> shared >> text >> libraries >> data;
  const Index page = ::sysconf(_SC_PAGESIZE);
  const auto space = left_of(RLIMIT_AS, all * page), heap = left_of(RLIMIT_DATA, data * page);
  if (!space || !heap) return space ? space : heap;
  return std::min(*space, *heap);
}

void start_threads(int threads) {
  if (threads <= 1) return;
  const auto left = address_space_left();
  if (!left) return;
  // A block of the allocator beside every stack, as large as it likes to have them, and some room.
  constexpr Index block = Index{128} << 20, room = Index{16} << 20;
  static thread_local int started = 1;
  if (threads <= started) return;
  const Index needed = (threads - started) * stack_size() + block + room;
  if (*left < needed)
    throw MemoryError(
        fmt::format("{} threads need {} of address space, and the limit (ulimit -v) leaves {}; "
                    "raise the limit or use fewer threads",
                    threads, format_bytes(static_cast<double>(needed)),
                    format_bytes(static_cast<double>(*left))));
#pragma omp parallel num_threads(threads)
  {}
  started = threads;
}

}  // namespace fwsr
