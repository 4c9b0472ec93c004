// Matrices that own their numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// A dense matrix that owns its numbers. Its view lives no longer than itself.
template <class T>
struct DenseMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<T> values;  ///< rows x cols, row by row

  MatrixView<const T> view() const { return {values.data(), rows, cols}; }
};

/// A sparse matrix that owns its entries. Columns within a row are ascending and unique. Its view lives
/// no longer than itself.
template <class T>
struct SparseMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::int64_t> starts;   ///< rows + 1
  std::vector<std::int64_t> columns;  ///< one per entry
  std::vector<T> values;              ///< one per entry

  CsrView<T, std::int64_t> view() const {
    return {rows, cols, starts.data(), columns.data(), values.data()};
  }
};

}  // namespace fwsr
