// Projection onto the span of a few vectors, and ridge regression on them.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// An orthonormal basis of the span of the rows of a m x d matrix: rank x d, row by row. Gram-Schmidt by blocks of rows
/// that are among the longest left, every row orthogonalised twice; rows that add less than 1e-12 of the largest norm add
/// nothing. The same bits for any number of threads.
std::vector<double> orthonormal_rows(std::vector<double> rows, Index m, Index d, int threads = 1);

/// Those that make orthonormal rows a basis of the whole space: d - rank rows.
std::vector<double> orthonormal_beyond(std::span<const double> orthonormal, Index d);

/// Rows of d numbers, `stride` apart, less their projections on the span of rank orthonormal rows of d numbers: twice, for
/// what rounding left.
struct RowsOfNumbers {
  double* first = nullptr;
  Index count = 0, d = 0, stride = 0;
};
void take_away(std::span<const double> orthonormal, const RowsOfNumbers& rows);

/// The Cholesky factor of a symmetric positive semi-definite m x m matrix, with pivoting and cut at
/// its numerical rank: matrix[p_i, p_j] = sum_l L_il L_jl.
struct PivotedCholesky {
  Index size = 0;
  Index rank = 0;
  std::vector<Index> pivots;  // rank of them
  std::vector<double> lower;  // rank x rank, row by row, of the pivot rows

  /// ||L^-1 b[pivots]||^2 = b^T (matrix)^+ b for b in its range. @pre scratch has `rank` places
  double squared_solution(const double* b, double* scratch) const;
  /// What squared_solution left in `scratch`, L^-1 b[pivots], becomes L^-T of it: b is the matrix's columns
  /// at the pivots times that.
  void weights(double* scratch) const;
};
PivotedCholesky pivoted_cholesky(std::vector<double> matrix, Index m);

}  // namespace fwsr
