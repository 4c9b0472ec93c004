// Labels in text of their own. Internal: users call read_labels.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// One label a line, from the first line on: there is no header. A label that holds a comma, a
/// semicolon or a tab stands in quotes. Blank lines at the end are skipped.
Result<std::vector<std::string>> text_labels(const FileBytes& file,
                                             const MemoryBudget& budget = MemoryBudget());

}  // namespace fwsr
