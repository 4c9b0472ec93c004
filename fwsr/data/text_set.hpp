// csv and libsvm files as one set of points that several read together, their rows numbered in the order of the list.
// Where a row begins is known to who knows all that stands before it. So each of the several looks through some pieces of
// the files, and who is told what all have found reads whatever rows he likes, and no others.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/data/csv.hpp"
#include "fwsr/data/dataset.hpp"
#include "fwsr/data/libsvm.hpp"
#include "fwsr/data/read.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

/// What stands in one piece.
struct TextPiece {
  ChunkScan scan;
  // libsvm, where not every line is a point:
  Index points = 0, entries = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max(), largest = -1;  // index
};
template <class A>
void fields(A& a, TextPiece& v) {
  a(v.scan.odd_quotes, v.scan.line_breaks, v.points, v.entries, v.smallest, v.largest);
  for (const std::size_t odd : {std::size_t{0}, std::size_t{1}})
    a(v.scan.ends[odd], v.scan.first_end[odd], v.scan.lines_to[odd], v.scan.blank_lines[odd]);
}

class TextSet {
 public:
  /// Whether this file is one for a set.
  static Result<bool> suits(const std::string& path, const MemoryBudget& budget);
  /// Opens all files, and looks at how they begin. They are of one format and have the same columns.
  static Result<TextSet> open(const std::vector<std::string>& paths, const ReadOptions& options,
                              Index piece_bytes = text_chunk);

  Index pieces() const { return pieces_; }
  /// What stands in pieces first .. last. Of csv only the line breaks are looked at.
  Result<std::vector<TextPiece>> look_through(Index first, Index last) const;
  /// What stands in all of them: from now on all rows can be had.
  std::optional<Failure> number_rows(std::span<const TextPiece> all);

  Index rows() const { return rows_; }
  Index features() const { return features_; }
  /// libsvm: they are sparse, with so many entries.
  bool sparse() const { return !files_.front().csv; }
  Index entries() const { return entries_; }
  /// csv: how the first file was understood.
  const CsvLayout& layout() const { return files_.front().csv->layout; }

  /// Rows first .. last as their reader makes them, with ids, labels and lines.
  Result<Dataset> read(Index first, Index last) const;
  /// What is known of all rows beside their ids and labels; they themselves, also the sparse, as a stream of dense rows,
  /// each of which is read when somebody looks at it.
  static Dataset as_stream(std::shared_ptr<const TextSet> set);

 private:
  struct File {
    FileBytes bytes;
    std::string_view text{};       // what is cut into pieces
    std::optional<CsvFile> csv{};  // none: libsvm
    Index first_piece = 0;
    std::vector<Chunk> chunks{};  // its pieces
    std::vector<Index> starts{};  // which of all rows is the first of each, and of the next file
  };

  Result<Dataset> read_csv(Index first, Index last) const;
  Result<Dataset> read_libsvm(Index first, Index last) const;
  const File& file_of(Index piece) const;
  std::optional<Failure> look_through(Index number, TextPiece& piece) const;

  std::vector<File> files_;
  ReadOptions options_;
  Index piece_bytes_ = 0, pieces_ = 0, rows_ = 0, features_ = 0, entries_ = 0;
  std::int64_t base_ = 1;  // libsvm: the index of the first column
};

}  // namespace fwsr
