// fwsr select --dry-run: the plan instead of the work.
#pragma once

#include "apps/select_result.hpp"

namespace fwsr::app {

/// What `fwsr select` would do with `result`'s data and options, to standard output. With classes,
/// one plan for each. @throws MemoryError when it would not fit
void write_dry_run(const SelectResult& result, bool json);

}  // namespace fwsr::app
