// A tile of a symmetric matrix S: what it adds to S x and to the sums of squares of the rows of S,
// through its rows and, because S is symmetric, through its columns. Sums in double, in an order
// that depends on the sizes alone and is the same for rows and columns: equal rows of S, wherever
// they stand, have equal sums.
#pragma once

#include <algorithm>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// out = sum_b weights_b rows_b, every entry in the order of the rows.
void combine_rows(MatrixView<const double> rows, const double* weights, double* out);

/// rows_i = sum_j T_ij x_j and columns_j = sum_i T_ij y_i. Without `columns`, only the first.
template <class T>
struct TileProduct {
  const T* tile = nullptr;      // rows x columns, contiguous
  Index rows = 0, columns = 0;  // at most 480
  const double* x = nullptr;    // columns
  const double* y = nullptr;    // rows
  double* to_rows = nullptr;
  double* to_columns = nullptr;  // may be null
};
void multiply_tile(const TileProduct<float>& p);
void multiply_tile(const TileProduct<double>& p);

/// rows_i = sum_j T_ij^2 and columns_j = sum_i T_ij^2; x and y are not used.
void square_tile(const TileProduct<float>& p);
void square_tile(const TileProduct<double>& p);

/// out (columns x rows) = tile^T.
void transpose_tile(const float* tile, Index rows, Index columns, double* out);
void transpose_tile(const double* tile, Index rows, Index columns, double* out);

/// out = tile, rows x columns, both with rows some `stride` apart.
inline void copy_rows(const double* tile, Index stride, Index rows, Index columns, double* out,
                      Index out_stride) {
  for (Index i = 0; i < rows; ++i) std::copy_n(tile + i * stride, columns, out + i * out_stride);
}

}  // namespace fwsr
