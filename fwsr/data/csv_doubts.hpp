// Columns of a table that are features because nobody said otherwise, and hardly are. Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/data/csv_layout.hpp"

namespace fwsr {

/// One sentence for every feature that counts the points, or has whole numbers under a name like customer_id, label or
/// class. `values`: rows x layout.features, row by row.
std::vector<std::string> doubtful_columns(const CsvLayout& layout,
                                          const std::vector<double>& values);

}  // namespace fwsr
