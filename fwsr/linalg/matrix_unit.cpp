#include "fwsr/linalg/matrix_unit.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>

#include "fwsr/linalg/matrix_unit_amx.hpp"

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

std::uint32_t* ready(UnitRoom& room, Index words) {
  if (static_cast<Index>(room.size()) < words) room.resize(static_cast<std::size_t>(words));
  return room.data();
}

}  // namespace

bool has_matrix_unit() {
  static const bool here = processor_has_it() && system_lets_us();
  return here && allowed;
}
void allow_matrix_unit(bool yes) {
  allowed = yes;
}

Index unit_gram_bytes(Index d) {
  return 4 * amx::gram_words(d);
}
Index unit_triangle_bytes(Index d) {
  return 4 * amx::triangle_words(d);
}
Index unit_form_bytes(Index d) {
  return 4 * amx::form_words(d);
}

#if defined(__x86_64__)

void gram_on_unit(const float* a, Index count, Index d, float* product, UnitRoom& room) {
  amx::gram(a, count, d, product, ready(room, amx::gram_words(d)));
}

UnitRoom pack_triangle(const float* u, Index d) {
  UnitRoom packed(static_cast<std::size_t>(amx::triangle_words(d)));
  amx::pack_triangle(u, d, packed.data());
  return packed;
}

void forms_on_unit(const float* a, Index count, Index d, const UnitRoom& triangle, double* forms,
                   UnitRoom& room) {
  std::uint32_t* const words = ready(room, amx::form_words(d));
  for (Index first = 0; first < count; first += amx::form_rows)
    amx::forms(a + first * d, std::min(amx::form_rows, count - first), d, triangle.data(),
               forms + first, words);
}

#else

void gram_on_unit(const float*, Index, Index, float*, UnitRoom&) {}
UnitRoom pack_triangle(const float*, Index) {
  return {};
}
void forms_on_unit(const float*, Index, Index, const UnitRoom&, double*, UnitRoom&) {}

#endif

}  // namespace fwsr
