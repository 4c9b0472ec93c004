#include "fwsr/linalg/blas_room.hpp"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/limits.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

namespace {

constexpr Index buffer_bytes = Index{128} << 20;
constexpr Index spare = Index{16} << 20;  // for what is allocated meanwhile

std::mutex mutex;
int buffers = 0;  // that were taken here; the one from when it was loaded is in use

[[noreturn]] void refuse(int threads, Index needed, Index left) {
  throw MemoryError(fmt::format(
      "matrix products on {} thread{} need {} more address space, and the limit (ulimit -v) leaves "
      "{}; raise the limit{}",
      threads, threads == 1 ? "" : "s", format_bytes(static_cast<double>(needed)),
      format_bytes(static_cast<double>(left)), threads > 1 ? " or use fewer threads" : ""));
}

/// OpenBLAS keeps a buffer that is given back, and hands it out again.
void take_buffers(int count) {
  using Take = void* (*)(int);
  using GiveBack = void (*)(void*);
  const auto take = reinterpret_cast<Take>(::dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
  const auto give_back = reinterpret_cast<GiveBack>(::dlsym(RTLD_DEFAULT, "blas_memory_free"));
  if (!take || !give_back) return;
  std::vector<void*> held;
  held.reserve(static_cast<std::size_t>(count));
  while (std::ssize(held) < count) held.push_back(take(0));
  for (void* buffer : held) give_back(buffer);
}

}  // namespace

void make_room_for_products(int threads) {
  if (!address_space_left()) return;
  start_threads(threads);
  const std::lock_guard lock(mutex);
  const int team = std::max(threads, omp_get_num_threads());
  if (team <= buffers) return;
  const Index needed = (team - buffers) * buffer_bytes + spare;
  const Index left = address_space_left().value_or(needed);
  if (left < needed) refuse(team, needed, left);
  take_buffers(team);
  buffers = team;
}

}  // namespace fwsr
