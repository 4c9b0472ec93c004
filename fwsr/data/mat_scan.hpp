// A look at a MATLAB file before matio sees it. matio believes the lengths it reads: one wrong byte
// makes it take gigabytes, and from a file that is cut off it returns zeros without a word. So the
// lengths are checked here, and matio gets only variables that keep their promises. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/files.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// One variable at the top of a file of version 5 to 7.2.
struct MatVariable {
  std::string name;
  int matlab_class = 0;  // 5 sparse, 6 double, 7 single, 8 .. 15 integers; others are not numbers
  bool is_complex = false;
  bool is_logical = false;
  std::vector<Index> shape;
  std::span<const std::byte> element;  // as it stands in the file, tag included
  bool is_compressed = false;

  bool is_sparse() const { return matlab_class == 5; }
  bool is_number() const { return matlab_class >= 5 && matlab_class <= 15; }
  bool is_matrix() const { return is_number() && shape.size() == 2; }
};

struct MatFile {
  std::span<const std::byte> header;  // the first 128 bytes
  bool big_endian = false;
  std::vector<MatVariable> variables;  // those with a name
};

/// True for MATLAB files of version 5 on, also the 7.3 ones that we cannot read.
bool looks_like_mat(const FileBytes& file);

/// The list of variables. The file must outlive it.
Result<MatFile> scan_mat(const FileBytes& file);

/// The element of one numeric variable, ready for matio.
struct MatElement {
  std::vector<std::byte> bytes;  // tag first, inflated
  int matlab_class = 0;          // as it now stands in the bytes
};

/// Inflates the element if need be and checks that every part of it is as long as the shape says.
/// Floating numbers that MATLAB has packed into integers of one or two bytes, as it does whenever
/// none is lost, become a variable of that integer class: that is how they are stored, and matio
/// need not blow them up.
Result<MatElement> extract_variable(const std::string& where, const MatFile& mat,
                                    const MatVariable& variable);

}  // namespace fwsr
