#include "fwsr/linalg/tiles.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>

#include "fwsr/linalg/tiles_amx.hpp"

namespace fwsr {

namespace {

std::atomic<bool> allowed{true};

#if defined(__x86_64__) && defined(__linux__)

/// The unit, and the vector instructions that pack for it.
bool processor_has_it() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24;
  return (d & bf16) && (d & tile) && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// A process has to ask for the unit's registers, 8 KiB to be saved for every thread.
bool system_lets_us() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

#else

bool processor_has_it() {
  return false;
}
bool system_lets_us() {
  return false;
}

#endif

std::uint32_t* ready(TileRoom& room, Index words) {
  if (static_cast<Index>(room.size()) < words) room.resize(static_cast<std::size_t>(words));
  return room.data();
}

}  // namespace

bool tiles_available() {
  static const bool here = processor_has_it() && system_lets_us();
  return here && allowed;
}
void allow_tiles(bool yes) {
  allowed = yes;
}

Index gram_tile_bytes(Index d) {
  return 4 * amx::gram_words(d);
}
Index triangle_tile_bytes(Index d) {
  return 4 * amx::triangle_words(d);
}
Index form_tile_bytes(Index d) {
  return 4 * amx::form_words(d);
}

#if defined(__x86_64__)

void gram_by_tiles(const float* a, Index count, Index d, float* product, TileRoom& room) {
  amx::gram(a, count, d, product, ready(room, amx::gram_words(d)));
}

TileRoom pack_triangle(const float* u, Index d) {
  TileRoom packed(static_cast<std::size_t>(amx::triangle_words(d)));
  amx::pack_triangle(u, d, packed.data());
  return packed;
}

void forms_by_tiles(const float* a, Index count, Index d, const TileRoom& triangle, double* forms,
                    TileRoom& room) {
  std::uint32_t* const words = ready(room, amx::form_words(d));
  for (Index first = 0; first < count; first += amx::form_rows)
    amx::forms(a + first * d, std::min(amx::form_rows, count - first), d, triangle.data(),
               forms + first, words);
}

#else

void gram_by_tiles(const float*, Index, Index, float*, TileRoom&) {}
TileRoom pack_triangle(const float*, Index) {
  return {};
}
void forms_by_tiles(const float*, Index, Index, const TileRoom&, double*, TileRoom&) {}

#endif

}  // namespace fwsr
