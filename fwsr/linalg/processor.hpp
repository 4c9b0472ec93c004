// Which instructions of the processor are used. The only place that looks at it.
#pragma once

#include "fwsr/base/result.hpp"

namespace fwsr {

/// Each has all of those before it. `baseline` is what every processor of its kind has, `amx` the matrix
/// unit, where the system lets this process use it.
enum class Instructions { baseline, avx2, avx512, amx };

const char* name_of(Instructions level);

/// The most that this machine has; asked once.
Instructions available_instructions();

/// The level that `wanted` names, which may be null or empty: all that is `there`.
Result<Instructions> choose_instructions(const char* wanted, Instructions there);

/// What is used: all there is, or no more than FWSR_CPU says. Read once.
const Result<Instructions>& chosen_instructions();
/// @throws Error when FWSR_CPU names nothing that is there
Instructions instructions();
/// Whether, with AVX-512, four products of bytes are one instruction (VNNI), and FWSR_CPU allows it.
bool has_byte_products();

}  // namespace fwsr
