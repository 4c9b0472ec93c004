// What a reader returns: the points, and what the file said about them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/labels.hpp"
#include "fwsr/base/matrix.hpp"
#include "fwsr/base/memory_budget.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/table_reading.hpp"

namespace fwsr {

/// A dense matrix that stands in a mapped file.
template <class T>
struct MappedMatrix {
  FileBytes file;
  Index rows = 0;
  Index cols = 0;
  Index offset = 0;  // bytes from the start of the file; a multiple of sizeof(T)
};

/// A dense matrix that stays in its file and is read in blocks, over and over.
template <class T>
struct StreamedMatrix {
  std::unique_ptr<const RowSource<T>> source;
  Index rows = 0;
  Index cols = 0;
};

/// A dense matrix of numbers of one or two bytes, in a mapped file or in memory of its own.
struct NarrowMatrix {
  std::shared_ptr<const void> keep;  // what the numbers live in
  const void* numbers = nullptr;
  NarrowNumber number = NarrowNumber::uint8;
  Index rows = 0;
  Index cols = 0;
  bool mapped = false;
};

using PointsStorage = std::variant<DenseMatrix<float>, DenseMatrix<double>, MappedMatrix<float>,
                                   MappedMatrix<double>, SparseMatrix<float>, SparseMatrix<double>,
                                   StreamedMatrix<float>, StreamedMatrix<double>, NarrowMatrix>;

/// The points of one file. Owns them; `view()` borrows, and lives no longer than the Dataset.
struct Dataset {
  std::string name;    // the path as given, or "standard input"
  std::string format;  // "npy", "npz", "csv", "libsvm", "idx", "mat", "built-in"
  std::string type;    // numbers as stored in the file: "float32", "uint8", "text", ...
  PointsStorage points;
  std::vector<std::string> columns;  // feature names where the file has them, else empty
  std::vector<std::string> ids;      // one per point, or empty
  Labels labels;                     // one per point, or empty
  std::optional<TableReading> table =
      {};                         // csv: header, separator, columns as they were understood
  std::vector<Index> image = {};  // height and width, of idx images and digits; else empty
  /// Things the user should know: "float16 swapped once (94 MB)".
  std::vector<std::string> notes;
  /// For text formats: the line of the file on which each point's record starts; else empty.
  std::vector<std::int64_t> lines;
  /// What reading took of its budget and this holds.
  MemoryShare memory{};
  /// True when the points can stay in the file: are streamed, or would be (ReadOptions).
  bool can_be_streamed = false;
  /// Tells whether the file has changed since, where the points still stand in it; else null.
  std::shared_ptr<const FileWatch> watch = {};

  PointsView view() const;
};

}  // namespace fwsr
