#include "fwsr/linalg/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "fwsr/base/result.hpp"
#include "fwsr/linalg/gram.hpp"

// LAPACK as Fortran has it: matrices by columns, everything by address.
extern "C" {
void dsyevd_(const char* job, const char* half, const blasint* n, double* a, const blasint* stride,
             double* values, double* work, const blasint* work_size, blasint* whole_work,
             const blasint* whole_work_size, blasint* info);
void dsytrd_(const char* half, const blasint* n, double* a, const blasint* stride, double* diagonal,
             double* beside, double* reflectors, double* work, const blasint* work_size,
             blasint* info);
void dstemr_(const char* job, const char* range, const blasint* n, double* diagonal, double* beside,
             const double* least, const double* most, const blasint* first, const blasint* last,
             blasint* found, double* values, double* vectors, const blasint* stride,
             const blasint* columns, blasint* support, blasint* accurately, double* work,
             const blasint* work_size, blasint* whole_work, const blasint* whole_work_size,
             blasint* info);
void dormtr_(const char* side, const char* half, const char* transposed, const blasint* m,
             const blasint* n, const double* a, const blasint* stride, const double* reflectors,
             double* c, const blasint* c_stride, double* work, const blasint* work_size,
             blasint* info);
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

void check(blasint info) {
  if (info != 0) throw Error("the eigenvalues of a symmetric matrix could not be found");
}

// All vectors of a matrix by dsyevd take room for 1 + 6 m + 2 m^2 numbers, which LAPACK counts.
constexpr Index most_for_all = 32766;
static_assert(1 + 6 * most_for_all + 2 * most_for_all * most_for_all <=
              std::numeric_limits<std::int32_t>::max());
// As many are found at once, whether they are wanted or not.
constexpr Index few = 32;

/// Q^T matrix Q = T with T tridiagonal; Q is kept as LAPACK has it.
struct Tridiagonal {
  std::vector<double> reduced, diagonal, beside, reflectors;
};
Tridiagonal reduce(std::vector<double> matrix, blasint n) {
  const auto m = static_cast<std::size_t>(n);
  Tridiagonal t{.reduced = std::move(matrix),
                .diagonal = std::vector<double>(m),
                .beside = std::vector<double>(m),
                .reflectors = std::vector<double>(m)};
  blasint info = 0, size = -1;
  std::vector<double> work(1);
  for (int twice = 0; twice < 2; ++twice) {  // the first time tells how much room it wants
    dsytrd_("L", &n, t.reduced.data(), &n, t.diagonal.data(), t.beside.data(), t.reflectors.data(),
            work.data(), &size, &info);
    check(info);
    size = static_cast<blasint>(work[0]);
    work.resize(static_cast<std::size_t>(size));
  }
  return t;
}

/// The `count` largest values of T and their vectors.
Eigen largest_of_tridiagonal(Tridiagonal& t, blasint n, blasint count) {
  const auto m = static_cast<std::size_t>(n), wanted = static_cast<std::size_t>(count);
  Eigen result{.values = std::vector<double>(m), .vectors = std::vector<double>(wanted * m)};
  const double unused = 0;
  const blasint first = n - count + 1, size = 18 * n, whole_size = 10 * n;
  blasint found = 0, accurately = 1, info = 0;
  std::vector<blasint> support(2 * wanted), whole(10 * m);
  std::vector<double> work(18 * m);
  dstemr_("V", "I", &n, t.diagonal.data(), t.beside.data(), &unused, &unused, &first, &n, &found,
          result.values.data(), result.vectors.data(), &n, &count, support.data(), &accurately,
          work.data(), &size, whole.data(), &whole_size, &info);
  check(info);
  result.values.resize(wanted);
  return result;
}

/// Vectors of T to those of the matrix: times Q.
void turn_back(const Tridiagonal& t, blasint n, blasint count, std::vector<double>& vectors) {
  blasint info = 0, size = -1;
  std::vector<double> work(1);
  for (int twice = 0; twice < 2; ++twice) {
    dormtr_("L", "L", "N", &n, &count, t.reduced.data(), &n, t.reflectors.data(), vectors.data(),
            &n, work.data(), &size, &info);
    check(info);
    size = static_cast<blasint>(work[0]);
    work.resize(static_cast<std::size_t>(size));
  }
}

}  // namespace

// What is the upper triangle to us is the lower one to Fortran.

Eigen symmetric_eigen(std::vector<double> matrix, Index m) {
  Eigen result{.values = std::vector<double>(at(m)), .vectors = std::move(matrix)};
  if (m == 0) return result;
  if (m > most_for_all)
    throw Error("all eigenvectors of a matrix of " + std::to_string(m) + " rows are more than " +
                "LAPACK can find: it takes at most " + std::to_string(most_for_all));
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
  check(info);
  return result;
}

Eigen largest_eigen(std::vector<double> matrix, Index m, Index count) {
  if (count == 0) return {};
  if (m <= few || (2 * count > m && m <= most_for_all)) {
    Eigen all = symmetric_eigen(std::move(matrix), m);
    all.values.erase(all.values.begin(), all.values.end() - count);
    all.vectors.erase(all.vectors.begin(), all.vectors.end() - count * m);
    return all;
  }
  to_blas(18 * m);
  const blasint n = to_blas(m), wanted = to_blas(count);
  Tridiagonal t = reduce(std::move(matrix), n);
  Eigen result = largest_of_tridiagonal(t, n, wanted);
  turn_back(t, n, wanted, result.vectors);
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
