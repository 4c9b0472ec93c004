// The answers of `fwsr compare` and `fwsr sweep` as pages.
#pragma once

#include <string>

#include "apps/compare_result.hpp"
#include "apps/report_arguments.hpp"
#include "apps/sweep_result.hpp"

namespace fwsr::app {

std::string compare_report(const CompareResult& result, const ReportArguments& a,
                           const RowsShown& shown);
std::string sweep_report(const SweepResult& result, const ReportArguments& a,
                         const RowsShown& shown);

}  // namespace fwsr::app
