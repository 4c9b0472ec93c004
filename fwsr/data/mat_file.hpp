// How MATLAB files of version 5 to 7.2 are built ("MAT-File Format", The MathWorks): a header, then one
// element per variable, plain or deflated; inside it flags, shape, name, and parts that hold the
// numbers. No length is believed before it is compared with what the file can hold. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/inflate.hpp"

namespace fwsr {

/// What one variable at the top of a file says of itself.
struct MatVariable {
  std::string name;
  int matlab_class = 0;  // 5 sparse, 6 double, 7 single, 8 .. 15 integers; others are not numbers
  bool is_complex = false;
  bool is_logical = false;
  std::vector<Index> shape;
  std::span<const std::byte> content;  // of its element, as it stands in the file
  bool is_compressed = false;
  bool big_endian = false;

  bool is_sparse() const { return matlab_class == 5; }
  bool is_number() const { return matlab_class >= 5 && matlab_class <= 15; }
  bool is_matrix() const { return is_number() && shape.size() == 2; }
};

/// True for MATLAB files of every version, also those that we cannot read.
bool looks_like_mat(const FileBytes& file);

/// The variables that have a name. The file must outlive them.
Result<std::vector<MatVariable>> list_variables(const FileBytes& file);

/// A run of numbers inside a variable. MATLAB stores whole numbers in as few bytes as hold them,
/// whatever the class of the variable.
struct MatPart {
  NumberType type;
  Index count = 0;
};

/// One variable, read from start to end into memory of the caller: it takes none of its own.
class MatReader {
 public:
  /// Begins behind the description of `variable`.
  explicit MatReader(const MatVariable& variable);

  /// Ends the part before and begins the next; nothing when no whole numbers are there.
  std::optional<MatPart> next_part();
  /// Fills `out` with the next bytes of the part; false when there are not so many.
  bool read(std::span<std::byte> out);
  /// Reads the rest; false when the element does not end as it should, checksum included.
  bool finish();
  /// "its compressed data is cut off", when that was why.
  std::string problem() const;

 private:
  friend Result<std::vector<MatVariable>> list_variables(const FileBytes&);
  struct Tag {
    std::uint32_t type;
    std::size_t length;
  };
  MatReader() = default;
  /// At the beginning of the element.
  bool open(const MatVariable& variable);
  bool take_description(MatVariable& variable);
  std::optional<Tag> next_tag();
  bool fetch(std::span<std::byte> out);
  bool skip(std::size_t count);
  std::optional<std::uint32_t> fetch_word();

  std::span<const std::byte> plain_;
  std::unique_ptr<Inflater> inflater_;  // null for a plain element
  bool big_endian_ = false;
  bool is_logical_ = false;
  std::size_t left_ = 0;       // of the element
  std::size_t part_left_ = 0;  // of the part, and
  std::size_t padding_ = 0;    // behind it
};

}  // namespace fwsr
