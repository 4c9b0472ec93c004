#include "fwsr/linalg/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <string>

#include "fwsr/base/result.hpp"
#include "fwsr/linalg/gram.hpp"

// LAPACK as Fortran has it: matrices by columns, everything by address.
extern "C" {
void dsyevd_(const char* job, const char* half, const blasint* n, double* a, const blasint* stride,
             double* values, double* work, const blasint* work_size, blasint* whole_work,
             const blasint* whole_work_size, blasint* info);
void dpotrf_(const char* half, const blasint* n, double* a, const blasint* stride, blasint* info);
void dpotri_(const char* half, const blasint* n, double* a, const blasint* stride, blasint* info);
}

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

blasint to_blas(Index v) {
  if (v > std::numeric_limits<blasint>::max())
    throw Error("a matrix dimension of " + std::to_string(v) +
                " is beyond what LAPACK can address");
  return static_cast<blasint>(v);
}

}  // namespace

// What is the upper triangle to us is the lower one to Fortran.

Eigen symmetric_eigen(std::vector<double> matrix, Index m) {
  Eigen result{.values = std::vector<double>(at(m)), .vectors = std::move(matrix)};
  if (m == 0) return result;
  const blasint n = to_blas(m);
  blasint info = 0, whole_size = -1, size = -1, wanted_whole = 0;
  double wanted = 0;
  dsyevd_("V", "L", &n, result.vectors.data(), &n, result.values.data(), &wanted, &size,
          &wanted_whole, &whole_size, &info);
  size = static_cast<blasint>(wanted);
  whole_size = wanted_whole;
  std::vector<double> work(at(size));
  std::vector<blasint> whole(at(whole_size));
  dsyevd_("V", "L", &n, result.vectors.data(), &n, result.values.data(), work.data(), &size,
          whole.data(), &whole_size, &info);
  if (info != 0) throw Error("the eigenvalues of a symmetric matrix could not be found");
  return result;
}

std::vector<double> cholesky(std::vector<double> matrix, Index m) {
  if (m == 0) return matrix;
  const blasint n = to_blas(m);
  blasint info = 0;
  dpotrf_("U", &n, matrix.data(), &n, &info);
  if (info != 0) throw Error("a matrix that should be positive definite is not");
  for (Index i = 0; i < m; ++i)
    std::fill(matrix.begin() + i * m + i + 1, matrix.begin() + (i + 1) * m, 0.0);
  return matrix;
}

void solve_cholesky(const std::vector<double>& lower, Index m, double* right, Index columns) {
  if (m == 0 || columns == 0) return;
  const blasint n = to_blas(m), width = to_blas(columns);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, width, 1.0,
              lower.data(), n, right, width);
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, n, width, 1.0,
              lower.data(), n, right, width);
}

std::vector<double> inverse(const std::vector<double>& matrix, Index m) {
  std::vector<double> result = cholesky(matrix, m);
  if (m == 0) return result;
  const blasint n = to_blas(m);
  blasint info = 0;
  dpotri_("U", &n, result.data(), &n, &info);
  if (info != 0) throw Error("a matrix could not be inverted");
  for (Index i = 0; i < m; ++i)  // the lower triangle is there
    for (Index j = i + 1; j < m; ++j) result[at(i * m + j)] = result[at(j * m + i)];
  return result;
}

}  // namespace fwsr
