// Whether what an earlier run wrote down (recorder.hpp) can be of some points: a file may be damaged, or made up.
#pragma once

#include "fwsr/solver/recorder.hpp"

namespace fwsr {

/// Throws Error where it names points that are none of n, or one twice.
void check_record(const RunRecord& record, Index n);

}  // namespace fwsr
