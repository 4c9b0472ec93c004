#include "fwsr/linalg/processor.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace fwsr {

namespace {

#if defined(__x86_64__)

bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & 1u << 29);
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
/// All that the loops of ours and the kernels of OpenBLAS are compiled with.
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}

#else

bool has_avx2() {
  return false;
}
bool has_avx512() {
  return false;
}

#endif

#if defined(__x86_64__) && defined(__linux__)

bool has_matrix_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned bf16 = 1u << 22, tile = 1u << 24;
  return (d & bf16) && (d & tile);
}

/// A process has to ask for the unit's registers, 8 KiB to be saved for every thread.
bool system_lets_us() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

#else

bool has_matrix_tiles() {
  return false;
}
bool system_lets_us() {
  return false;
}

#endif

#if defined(__x86_64__)
bool has_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & 1u << 11);
}
#else
bool has_vnni() {
  return false;
}
#endif

Instructions look() {
  if (!has_avx2()) return Instructions::baseline;
  if (!has_avx512()) return Instructions::avx2;
  return has_matrix_tiles() && system_lets_us() ? Instructions::amx : Instructions::avx512;
}

constexpr Instructions levels[] = {Instructions::baseline, Instructions::avx2, Instructions::avx512,
                                   Instructions::amx};

}  // namespace

const char* name_of(Instructions level) {
  constexpr const char* names[] = {"baseline", "avx2", "avx512", "amx"};
  return names[static_cast<int>(level)];
}

Instructions available_instructions() {
  static const Instructions there = look();
  return there;
}

Result<Instructions> choose_instructions(const char* wanted, Instructions there) {
  if (!wanted || !*wanted) return there;
  for (const Instructions level : levels) {
    if (std::string(wanted) != name_of(level)) continue;
    if (level <= there) return level;
    return Failure{fmt::format(
        "FWSR_CPU is {}, but this processor has {} at most; choose that or less, or unset it",
        wanted, name_of(there))};
  }
  return Failure{fmt::format(
      "FWSR_CPU is '{}'; choose from baseline, avx2, avx512 and amx, or unset it", wanted)};
}

const Result<Instructions>& chosen_instructions() {
  static const Result<Instructions> chosen =
      choose_instructions(std::getenv("FWSR_CPU"), available_instructions());
  return chosen;
}

Instructions instructions() {
  const Result<Instructions>& chosen = chosen_instructions();
  if (!chosen) throw Error(chosen.error().message);
  return *chosen;
}

bool has_byte_products() {
  static const bool there = has_vnni();
  return there && instructions() >= Instructions::avx512;
}

}  // namespace fwsr
