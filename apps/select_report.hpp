// The answer of `fwsr select` as a page.
#pragma once

#include <string>

#include "apps/report_arguments.hpp"
#include "apps/select_result.hpp"

namespace fwsr::app {

std::string select_report(const SelectResult& result, const ReportArguments& a,
                          const RowsShown& shown);

/// What is held while the page is made.
struct ReportMemory {
  Index held = 0;    // data, answer, texts
  Index making = 0;  // beside these
};
ReportMemory report_memory(const Dataset& data, const SelectPlan& plan, const RowsShown& shown,
                           const SelectOptions& options);

/// Refuses a page that could not be made within the memory allowed, before the work. @throws MemoryError
void check_room_for_report(const ReportArguments& a, const ReportMemory& memory,
                           const Dataset& data, const SelectOptions& options);

/// How large the page may become, and what making it takes; empty: there is to be none.
std::string report_plan(const ReportArguments& a, const ReportMemory& memory,
                        const RowsShown& shown);

}  // namespace fwsr::app
