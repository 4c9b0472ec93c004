// Factorisations through LAPACK, on one thread each (blas.hpp says why).
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr {

/// matrix = V diag(values) V^T: values ascending, row r of `vectors` belongs to values[r].
struct EigenDecomposition {
  std::vector<double> values;
  std::vector<double> vectors;  // m x m
};
/// Of a symmetric m x m matrix, of which the upper triangle is read. Asks `keep_going` now and then, but not
/// while LAPACK finds the vectors of the tridiagonal matrix, about a tenth of the time.
EigenDecomposition symmetric_eigen(std::vector<double> matrix, Index m,
                                   const KeepGoing& keep_going = {});
/// The same, but only the `count` largest values and their vectors (count x m): in less time, and
/// with little memory beside the matrix. @pre count <= m
EigenDecomposition largest_eigen(std::vector<double> matrix, Index m, Index count,
                                 const KeepGoing& keep_going = {});

/// The lower factor L with matrix = L L^T of a symmetric positive definite m x m matrix, row by row;
/// zeros above the diagonal. Throws Error when it is not positive definite.
std::vector<double> cholesky(std::vector<double> matrix, Index m);

/// Whether a symmetric m x m matrix has such a factor.
bool is_positive_definite(std::vector<double> matrix, Index m);

/// right <- (L L^T)^-1 right for a matrix of m x columns, row by row.
void solve_cholesky(const std::vector<double>& lower, Index m, double* right, Index columns);

/// The inverse of a symmetric positive definite matrix.
std::vector<double> inverse(const std::vector<double>& matrix, Index m);

}  // namespace fwsr
