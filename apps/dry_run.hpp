// fwsr select --dry-run: the plan instead of the work.
#pragma once

#include "apps/select_result.hpp"

namespace fwsr::app {

/// What `fwsr select` would do with `result`'s data and request, to standard output. With classes, one plan for each.
void write_dry_run(const SelectResult& result, const SelectPlan& plan, bool json);

}  // namespace fwsr::app
