// Which field of a csv record is what. Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr {

struct CsvLayout {
  bool header = false;               // the first record holds names
  std::vector<std::string> names{};  // of all fields; empty without a header
  std::vector<Index> feature{};      // per field: which feature it is, or -1
  Index features = 0;
  Index label = -1;  // field number from 0, or -1
  Index id = -1;

  Index fields() const { return std::ssize(feature); }
  /// "field 3" or "field 3 ('age')".
  std::string describe(Index field) const;
};

/// Decides from the first record and the options. A file has a header when an option names a
/// column, or when a field that is to be a feature holds words in the first record. In a file
/// with a header an option is a name first, and a 1-based number when no column has that name.
Result<CsvLayout> plan_layout(const std::string& file, const std::vector<std::string>& first_record,
                              const ReadOptions& options);

}  // namespace fwsr
