// The csv reader with its internals within reach of the tests. Internal.
#pragma once

#include "fwsr/base/files.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

/// Text separated by commas, tabs, semicolons or vertical bars, see csv.cpp. The result, and the error, are the same
/// for every number of threads and every chunk_bytes >= 1.
Result<Dataset> read_csv(FileBytes file, const ReadOptions& options,
                         Index chunk_bytes = text_chunk);

}  // namespace fwsr
