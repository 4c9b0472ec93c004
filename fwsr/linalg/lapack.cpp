#include "fwsr/linalg/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "fwsr/base/at.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/gram.hpp"

// LAPACK as Fortran has it: matrices by columns, everything by address.
extern "C" {
void dlatrd_(const char* half, const blasint* n, const blasint* columns, double* a,
             const blasint* stride, double* beside, double* reflectors, double* w,
             const blasint* w_stride);
void dsytd2_(const char* half, const blasint* n, double* a, const blasint* stride, double* diagonal,
             double* beside, double* reflectors, blasint* info);
void dstedc_(const char* job, const blasint* n, double* diagonal, double* beside, double* vectors,
             const blasint* stride, double* work, const blasint* work_size, blasint* whole_work,
             const blasint* whole_work_size, blasint* info);
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

blasint to_blas(Index v) {
  if (v > std::numeric_limits<blasint>::max())
    throw Error("a matrix dimension of " + std::to_string(v) +
                " is beyond what LAPACK can address");
  return static_cast<blasint>(v);
}

void check(blasint info) {
  if (info != 0) throw Error("the eigenvalues of a symmetric matrix could not be found");
}

// All vectors of a matrix by dstedc take room for 1 + 4 m + m^2 numbers, which LAPACK counts.
constexpr Index most_for_all = 32766;
static_assert(1 + 4 * most_for_all + most_for_all * most_for_all <=
              std::numeric_limits<std::int32_t>::max());
// As many are found at once, whether they are wanted or not.
constexpr Index few = 32;

/// Q^T matrix Q = T with T tridiagonal; Q is kept as LAPACK has it.
struct Tridiagonal {
  std::vector<double> reduced, diagonal, beside, reflectors;
};
/// What dsytrd does, with a look at `keep_going` after every few columns: each of these reads all that is left of the
/// matrix.
Tridiagonal reduce(std::vector<double> matrix, blasint n, const KeepGoing& keep_going) {
  constexpr blasint panel = 16;
  const auto m = static_cast<std::size_t>(n);
  Tridiagonal t{.reduced = std::move(matrix),
                .diagonal = std::vector<double>(m),
                .beside = std::vector<double>(m),
                .reflectors = std::vector<double>(m)};
  std::vector<double> w(m * panel);
  const auto entry = [&](blasint row, blasint column) {
    return t.reduced.data() + static_cast<Index>(column) * n + row;
  };
  blasint i = 0;
  for (; n - i > 2 * panel; i += panel) {
    throw_if_cancelled(keep_going);
    const blasint left = n - i, rest = left - panel;
    dlatrd_("L", &left, &panel, entry(i, i), &n, &t.beside[at(i)], &t.reflectors[at(i)], w.data(),
            &n);
    cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, rest, panel, -1, entry(i + panel, i), n,
                 w.data() + panel, n, 1, entry(i + panel, i + panel), n);
    for (blasint j = i; j < i + panel; ++j) {
      *entry(j + 1, j) = t.beside[at(j)];
      t.diagonal[at(j)] = *entry(j, j);
    }
  }
  const blasint left = n - i;
  blasint info = 0;
  dsytd2_("L", &left, entry(i, i), &n, &t.diagonal[at(i)], &t.beside[at(i)], &t.reflectors[at(i)],
          &info);
  check(info);
  return t;
}

/// All values of T and their vectors, by dividing and conquering.
EigenDecomposition all_of_tridiagonal(Tridiagonal& t, blasint n) {
  const auto m = static_cast<std::size_t>(n);
  EigenDecomposition result{.values = {}, .vectors = std::vector<double>(m * m)};
  const blasint size = 1 + 4 * n + n * n, whole_size = 3 + 5 * n;
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<blasint> whole(static_cast<std::size_t>(whole_size));
  blasint info = 0;
  dstedc_("I", &n, t.diagonal.data(), t.beside.data(), result.vectors.data(), &n, work.data(),
          &size, whole.data(), &whole_size, &info);
  check(info);
  result.values = std::move(t.diagonal);
  return result;
}

/// The `count` largest values of T and their vectors.
EigenDecomposition largest_of_tridiagonal(Tridiagonal& t, blasint n, blasint count) {
  const auto m = static_cast<std::size_t>(n), wanted = static_cast<std::size_t>(count);
  EigenDecomposition result{.values = std::vector<double>(m),
                            .vectors = std::vector<double>(wanted * m)};
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

/// Vectors of T to those of the matrix: times Q, some at a time.
void turn_back(const Tridiagonal& t, blasint n, Index count, std::vector<double>& vectors,
               const KeepGoing& keep_going) {
  const Index some = std::clamp<Index>(3'000'000'000 / (Index{n} * n), 32, 128);
  std::vector<double> work(1);
  for (Index first = 0; first < count; first += some) {
    throw_if_cancelled(keep_going);
    const auto columns = static_cast<blasint>(std::min(some, count - first));
    for (const bool asking : {true, false}) {  // how much room it wants, then the work
      blasint info = 0;
      const auto size = asking ? blasint{-1} : static_cast<blasint>(work.size());
      dormtr_("L", "L", "N", &n, &columns, t.reduced.data(), &n, t.reflectors.data(),
              vectors.data() + first * n, &n, work.data(), &size, &info);
      check(info);
      if (asking) work.resize(static_cast<std::size_t>(work[0]));
    }
  }
}

}  // namespace

// What is the upper triangle to us is the lower one to Fortran.

EigenDecomposition symmetric_eigen(std::vector<double> matrix, Index m,
                                   const KeepGoing& keep_going) {
  if (m == 0) return {};
  for (const double v : matrix) require_finite(v);  // LAPACK may not come back from others
  if (m > most_for_all)
    throw Error("all eigenvectors of a matrix of " + std::to_string(m) + " rows are more than " +
                "LAPACK can find: it takes at most " + std::to_string(most_for_all));
  const blasint n = to_blas(m);
  Tridiagonal t = reduce(std::move(matrix), n, keep_going);
  throw_if_cancelled(keep_going);
  EigenDecomposition result = all_of_tridiagonal(t, n);
  turn_back(t, n, m, result.vectors, keep_going);
  return result;
}

EigenDecomposition largest_eigen(std::vector<double> matrix, Index m, Index count,
                                 const KeepGoing& keep_going) {
  if (count == 0) return {};
  if (m <= few || (2 * count > m && m <= most_for_all)) {
    EigenDecomposition all = symmetric_eigen(std::move(matrix), m, keep_going);
    all.values.erase(all.values.begin(), all.values.end() - count);
    all.vectors.erase(all.vectors.begin(), all.vectors.end() - count * m);
    return all;
  }
  for (const double v : matrix) require_finite(v);
  to_blas(18 * m);
  const blasint n = to_blas(m), wanted = to_blas(count);
  Tridiagonal t = reduce(std::move(matrix), n, keep_going);
  throw_if_cancelled(keep_going);
  EigenDecomposition result = largest_of_tridiagonal(t, n, wanted);
  turn_back(t, n, count, result.vectors, keep_going);
  return result;
}

namespace {

/// Where the upper triangle, as Fortran sees it, was becomes its factor. False where there is none.
bool factorise(std::vector<double>& matrix, Index m) {
  const blasint n = to_blas(m);
  blasint info = 0;
  dpotrf_("U", &n, matrix.data(), &n, &info);
  return info == 0;
}

}  // namespace

bool is_positive_definite(std::vector<double> matrix, Index m) {
  return m == 0 || factorise(matrix, m);
}

std::vector<double> cholesky(std::vector<double> matrix, Index m) {
  if (m == 0) return matrix;
  if (!factorise(matrix, m)) throw Error("a matrix that should be positive definite is not");
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
