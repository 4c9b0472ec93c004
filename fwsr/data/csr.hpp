// Building sparse points out of the arrays of a file, which nobody has checked yet. Internal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/data/dataset.hpp"

namespace fwsr {

/// Checks every promise of `m` (starts from 0 to the number of entries without going down, columns
/// in range) and keeps the last one itself: entries of a row are put in ascending order and entries
/// of the same place are added up, each with a note. `name` begins every message.
template <class T>
Result<SparseMatrix<T>> make_csr(const std::string& name, SparseMatrix<T> m,
                                 std::vector<std::string>& notes);

/// The transpose of a checked matrix: what was stored by columns, by rows.
template <class T>
SparseMatrix<T> transpose(const SparseMatrix<T>& m);

}  // namespace fwsr
