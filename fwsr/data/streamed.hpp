// Points that stay in their file because memory is short: read in blocks, whenever they are needed.
// Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/dataset.hpp"

namespace fwsr {

/// Makes the points of `stored`, which begin at byte `offset` of `file`, those of `data` as a stream;
/// false when they may be held, or when the file is in memory already. Fails when they may not be held
/// and cannot be streamed.
Result<bool> stream_points(const FileBytes& file, const StoredMatrix& stored, Index offset,
                           const ReadOptions& options, Dataset& data);

/// Refuses points of `bytes` that may not be held; `why` they cannot be streamed, and what to do.
std::optional<Failure> find_too_large(const std::string& name, Index bytes,
                                      const ReadOptions& options, const char* why);

}  // namespace fwsr
