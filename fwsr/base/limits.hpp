// Limits on the address space of a process (ulimit -v, RLIMIT_AS, RLIMIT_DATA). Internal.
#pragma once

#include <optional>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// What the limits leave of the address space; nothing where there are none.
std::optional<Index> address_space_left();

/// Where address space is limited: has OpenMP start the threads of a team of `threads`, or throws
/// MemoryError when their stacks do not fit. Elsewhere it does that by itself, and ends the program when
/// it cannot.
void start_threads(int threads);

}  // namespace fwsr
