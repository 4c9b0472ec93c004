// fwsr select --dry-run: the plan instead of the work.
#pragma once

#include "apps/select_result.hpp"

namespace fwsr::app {

/// What `fwsr select` would do with `result`'s data and request, to standard output. With classes, one plan for each.
/// `report`: what is to be said of the page; empty: there is to be none.
void write_dry_run(const SelectResult& result, const SelectPlan& plan, bool json,
                   const std::string& report);

}  // namespace fwsr::app
