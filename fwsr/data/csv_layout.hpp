// Which field of a csv record is what. Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/data/csv_opening.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr {

struct CsvLayout {
  bool header = false;               // there are names ...
  bool names_above = false;          // ... in the comment above the first record, which is a point
  bool doubtful_header = false;      // the first record holds words, but numbers as well
  std::vector<std::string> names{};  // of all fields; empty without a header
  std::vector<Index> feature{};      // per field: which feature it is, or -1
  Index features = 0;
  Index label = -1;  // field number from 0, or -1
  Index id = -1;
  Index empty_from = 0;  // this field and all behind it are empty on every line: commas at its end
  TableReading reading{};

  Index fields() const { return std::ssize(feature); }
  bool first_is_point() const { return !header || names_above; }
  /// "field 3" or "field 3 ('age')".
  std::string describe(Index field) const;
  /// "'age' (column 3)", or "column 3" without a name.
  std::string column_name(Index field) const;
};

/// Decides from the first records and the options. A file has a header when an option names a column, when a
/// field that is to be a feature holds words in the first record, or when the first record counts the columns
/// and most of the next ones are not of its kind (csv_header.hpp). In a file with a header an option is a name first,
/// and a 1-based number when no column has that name.
Result<CsvLayout> plan_layout(const std::string& file, const Opening& opening,
                              const ReadOptions& options);

}  // namespace fwsr
