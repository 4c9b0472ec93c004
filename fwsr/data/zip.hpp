// As much of the zip format as npz files need: the directory, and entries that are stored or
// deflated. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/data/inflate.hpp"

namespace fwsr {

/// One line of the directory.
struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;        // as a file
  std::uint64_t compressed = 0;  // in the zip
  std::uint64_t header_at = 0;   // of the local header
  std::uint32_t crc = 0;
  bool deflated = false;
};

/// All entries. Refuses encryption, other compression methods, several disks, two entries of one
/// name, and anything that points outside the file. `name` begins every message.
Result<std::vector<ZipEntry>> read_zip_directory(std::span<const std::byte> zip,
                                                 const std::string& name);

/// One entry, read from start to end. Never gives more than the directory states.
class ZipReader {
 public:
  /// `where` (file and entry) begins every message.
  static Result<ZipReader> open(std::span<const std::byte> zip, const ZipEntry& entry,
                                std::string where);

  /// Fills `out` or says what is wrong.
  Result<Done> read(std::span<std::byte> out);
  /// After the last byte: the entry has ended, with the length and the checksum of the directory.
  Result<Done> finish();

 private:
  ZipReader() = default;
  std::string where_;
  std::span<const std::byte> data_;     // as it stands in the zip
  std::unique_ptr<Inflater> inflater_;  // null for a stored entry
  std::uint64_t size_ = 0;
  std::uint64_t given_ = 0;
  std::uint32_t stated_crc_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace fwsr
