// The one entrance for files: recognises the format by content and calls its reader. To add a
// format, write one file with a `recognises` and a `read` function and add a line to the table in
// read.cpp.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/base/memory_budget.hpp"
#include "fwsr/data/dataset.hpp"

namespace fwsr {

enum class Header { automatic, yes, no };

/// How to read a file. Options a format cannot honour are refused, never ignored.
struct ReadOptions {
  std::string label_column{};  // csv/tsv: name, or 1-based number; mat, npz: variable name
  std::string id_column{};     // csv/tsv: name, or 1-based number
  /// csv/tsv: the features, names, 1-based numbers, or ranges of either ("a-d", "2-5"); empty: all
  /// columns that are nothing else.
  std::vector<std::string> columns{};
  std::vector<std::string> exclude_columns{};  // csv/tsv: no features, written in the same way
  std::string variable{};                      // npz, mat: which array when the file holds several
  Header header = Header::automatic;           // csv/tsv
  int threads = 1;
  /// npy and plain idx files whose points would take more bytes than this are not read but streamed:
  /// they stay in the file and are fetched in blocks, over and over.
  Index hold_at_most = std::numeric_limits<Index>::max();
  /// Counts what is taken while reading and what the result holds; refuses files that need more. By
  /// default that is what the machine has available.
  MemoryBudget budget{};
  /// Asked while text is parsed and gzip unpacked; Interrupted is thrown when it says no.
  KeepGoing keep_going{};
};

/// Reads `path` ("-" is standard input, for csv and libsvm; "digits" is the built-in data when no
/// file of that name exists).
Result<Dataset> read_dataset(const std::string& path, const ReadOptions& options = {});

/// The same for bytes already opened: what read_dataset calls, and the fuzzers.
Result<Dataset> read_dataset(FileBytes file, const ReadOptions& options = {});

/// One label per point from a file of its own: text with one label a line, or npy / idx / mat / npz
/// holding integers (or numbers) in one column. Integers are written without a decimal point.
Result<Labels> read_labels(const std::string& path, const MemoryBudget& budget = MemoryBudget());
Result<Labels> read_labels(FileBytes file, const MemoryBudget& budget = MemoryBudget());

/// The names of the formats that are read, for --version and error messages.
std::vector<std::string> readable_formats();

}  // namespace fwsr
