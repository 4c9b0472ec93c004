// Labels in text of their own, and words that become labels. Internal: users call read_labels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/labels.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// One label a line, from the first line on: there is no header. A label that holds a comma, a
/// semicolon or a tab stands in quotes. Blank lines at the end are skipped.
Result<std::vector<std::string>> text_labels(const FileBytes& file,
                                             const MemoryBudget& budget = MemoryBudget());

/// The words of so many more points. Codes and every new name are counted in `memory`; `name` begins the message
/// where there is no room.
[[nodiscard]] std::optional<Failure> add_labels(const std::string& name,
                                                const std::vector<std::string>& words,
                                                MemoryShare& memory, Labels& labels);

}  // namespace fwsr
