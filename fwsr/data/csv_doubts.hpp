// Columns of a table that are features because nobody said otherwise, and hardly are. Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/data/csv_layout.hpp"

namespace fwsr {

/// What the numbers of a feature look like, in some of the rows.
struct ColumnFacts {
  double first = 0;
  bool counts = false;  // whole numbers, each one more than the one before
  bool whole = false;   // whole numbers, where the name makes one ask
};
/// Of every feature. `values`: rows x layout.features, row by row.
std::vector<ColumnFacts> facts_of_columns(const CsvLayout& layout,
                                          const std::vector<double>& values);
/// Those of `rows` rows and of more that follow.
void add_facts(std::vector<ColumnFacts>& all, Index rows, const std::vector<ColumnFacts>& more);

/// One sentence for every feature that counts the points, or has whole numbers under a name like customer_id, label or
/// class.
std::vector<std::string> doubtful_columns(const CsvLayout& layout,
                                          const std::vector<ColumnFacts>& facts, Index rows);

}  // namespace fwsr
