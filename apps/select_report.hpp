// The answer of `fwsr select` as a page.
#pragma once

#include <string>

#include "apps/report_arguments.hpp"
#include "apps/select_result.hpp"

namespace fwsr::app {

std::string select_report(const SelectResult& result, const ReportArguments& a,
                          const RowsShown& shown);

/// How large the page may become, and what making it takes beside the plan of the run; empty: there is to be none.
std::string report_plan(const ReportArguments& a, Index points, Index exemplars, int threads,
                        const RowsShown& shown);

}  // namespace fwsr::app
