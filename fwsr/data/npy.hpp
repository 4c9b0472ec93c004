// The parts of the NumPy format that npz files share. Internal.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/binary.hpp"

namespace fwsr {

/// What the header of an .npy image promises.
struct NpyHeader {
  /// NumPy's letter: 'b' bool, 'i', 'u', 'f' numbers, 'V' bfloat16 of ml_dtypes, 'S' bytes, 'U' UCS-4 text. Nothing
  /// else gets past the parser.
  char kind = 'f';
  Index size = 0;  // bytes per element
  bool big_endian = false;
  bool by_columns = false;  // fortran_order
  std::vector<Index> shape;
  Index count = 0;   // product of the shape
  Index offset = 0;  // bytes before the first element

  Index total_bytes() const { return offset + count * size; }  // checked to fit
  bool is_text() const { return kind == 'S' || kind == 'U'; }
  NumberType number() const;  // @pre !is_text()
  std::string type() const;   // "float32", "text"
};

/// "(3, 4)", "(3,)", "()".
std::string shape_text(const std::vector<Index>& shape);

/// Takes the header, and not one byte more, from `next`. `where` begins every message: the file,
/// and for npz the array.
Result<NpyHeader> read_npy_header(const std::string& where, const ByteSource& next);

/// The points of a header just read: refuses text, wrong numbers of dimensions and emptiness.
Result<PointsStorage> read_npy_points(const std::string& where, const NpyHeader& header,
                                      const ByteSource& next, std::vector<std::string>& notes,
                                      MemoryShare& memory);

/// The labels of a header just read: numbers or text, n or n x 1.
Result<std::vector<std::string>> read_npy_labels(const std::string& where, const NpyHeader& header,
                                                 const ByteSource& next, MemoryShare& memory);

}  // namespace fwsr
