// The libsvm reader with its internals within reach of the tests. Internal.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

/// The points of one chunk.
struct LibsvmPart {
  std::vector<std::string> labels;
  std::vector<std::int64_t> lines;
  std::vector<std::int64_t> counts;   // entries of each point
  std::vector<std::int64_t> columns;  // indices as they stand in the file
  std::vector<double> values;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();  // index, ...
  std::int64_t largest = -1;                                         // ... of all points
  std::optional<Trouble> trouble;

  Index points() const { return std::ssize(lines); }
};
LibsvmPart read_libsvm_chunk(std::string_view text, const Chunk& chunk);
/// Appends those of chunks first .. last to `parts`. What they take is counted in `memory`. Fails with the first trouble.
std::optional<Failure> read_libsvm_chunks(const std::string& name, std::string_view text,
                                          std::span<const Chunk> chunks, Index first, Index last,
                                          const ReadOptions& options, MemoryShare& memory,
                                          std::vector<LibsvmPart>& parts);
/// Moves the parts, which are emptied on the way, into the points of `data`, which has a name and counts memory. `base`
/// is the index of the first column. Fails when there is no room.
std::optional<Failure> join_libsvm_parts(std::vector<LibsvmPart>& parts, std::int64_t base,
                                         Dataset& data);
inline constexpr const char* note_of_index_zero =
    "indices count from 0, for the file has an index 0";
/// 0 where an index is; else 1.
inline std::int64_t base_of_libsvm(std::int64_t smallest) {
  return smallest == 0 ? 0 : 1;
}

/// "label index:value index:value ... # comment" lines, see libsvm.cpp. The result, and the
/// error, are the same for every number of threads and every chunk_bytes >= 1.
Result<Dataset> read_libsvm(FileBytes file, const ReadOptions& options,
                            Index chunk_bytes = text_chunk);

}  // namespace fwsr
