// The columns that options name: by name, by number from 1, or as a range of either. Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// The field that `column` means. A name comes first, and a 1-based number when no column has that name.
/// `names` is empty without a header.
Result<Index> find_column(const std::string& column, Index fields,
                          const std::vector<std::string>& names);

/// The same, and all from A to B for "A-B".
Result<std::vector<Index>> find_columns(const std::string& columns, Index fields,
                                        const std::vector<std::string>& names);

/// The options that leave these fields out, on the command line and in Python, ready to be copied: names where
/// they are few and plain, else, or with `by_number`,
/// numbers. Empty when nothing can be written that means them.
std::string exclusion_of(const std::vector<Index>& fields, Index all,
                         const std::vector<std::string>& names, bool by_number);

}  // namespace fwsr
