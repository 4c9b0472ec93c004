// The csv reader with its internals within reach of the tests. Internal.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/data/csv_layout.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

/// A file as it is understood from how it begins.
struct CsvFile {
  std::string_view text{};  // from its first point on
  std::int64_t line = 1;    // of the file, on which that begins
  char separator = ',';
  BlankLines blank_lines = BlankLines::are_skipped;
  CsvLayout layout{};
};
Result<CsvFile> open_csv(const FileBytes& file, const ReadOptions& options);

/// Some rows, one behind the other.
struct CsvTable {
  Index first = 0;             // which row of the file the first is
  std::vector<double> values;  // rows x features
  std::vector<std::string> labels;
  std::vector<std::string> ids;
  std::vector<std::int64_t> lines;

  Index rows() const { return std::ssize(lines); }
};
/// Room for so many rows, which are said to stand in so many bytes; for fewer where these cannot hold them. Then one of
/// these is in trouble.
Result<CsvTable> make_csv_table(const std::string& name, const CsvLayout& layout, Index rows,
                                std::size_t bytes, MemoryShare& memory);
/// Fills in the rows of the table from those chunks of the file that they stand in. Fails with the first trouble.
std::optional<Failure> read_csv_rows(const std::string& name, const CsvFile& file,
                                     std::span<const Chunk> chunks, const ReadOptions& options,
                                     SharedCount& words, CsvTable& table);
std::vector<std::string> feature_names(const CsvLayout& layout);
/// The table as the points of `data`, which has a name.
std::optional<Failure> keep_csv_table(const CsvLayout& layout, CsvTable table, Dataset& data);

/// Text separated by commas, tabs, semicolons or vertical bars, see csv.cpp. The result, and the error, are the same
/// for every number of threads and every chunk_bytes >= 1.
Result<Dataset> read_csv(FileBytes file, const ReadOptions& options,
                         Index chunk_bytes = text_chunk);

}  // namespace fwsr
