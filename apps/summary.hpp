// What a person reads: the summary of a run, and the plan of a dry run.
#pragma once

#include <string>
#include <string_view>

#include "apps/select_result.hpp"

namespace fwsr::app {

/// Text to standard error. After an interruption nobody waits long for somebody to read it.
void write_stderr(std::string_view text);

/// A few lines: how many, how, how good, how long, and every warning.
std::string summary(const SelectResult& result, bool colour);

/// The warnings alone, one a line.
std::string warnings_text(const SelectResult& result, bool colour);

/// A line that says how a table of text was understood; nothing for other formats.
std::string table_text(const Dataset& data);

/// The plan in words, one fact a line.
std::string plan_text(const Plan& plan);

}  // namespace fwsr::app
