// One set of points that stands in one file or in many: npy and plain idx files of one width, their rows numbered in the
// order of the list. Who has some of the rows reads these and no others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr {

/// The files that a name with * ? [] stands for, sorted by their names; any other name stands for itself.
Result<std::vector<std::string>> files_named(const std::string& pattern);

/// All rows of all files, as a stream: nothing but headers is read.
Result<Dataset> join_files(const std::vector<std::string>& paths, const ReadOptions& options = {});

/// Rows that are here, as long as this is.
struct RowsHere {
  std::shared_ptr<const void> keep;
  PointsView view;
};
/// Rows first .. last of the set: in place where they stand in one file as they are needed, else copied; streamed when
/// they take more bytes than `hold_at_most`.
Result<RowsHere> read_rows(const std::vector<std::string>& paths, Index first, Index last,
                           Index hold_at_most);

}  // namespace fwsr
