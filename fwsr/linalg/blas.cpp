#include "fwsr/linalg/blas.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>

#include "fwsr/base/result.hpp"
#include "fwsr/linalg/gram_tiles.hpp"
#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

std::mutex serial_mutex;
int serial_depth = 0;
int threads_before = 1;

/// The pthread flavour of OpenBLAS has a pool of its own, with one setting for the process.
bool has_own_pool() {
  return openblas_get_parallel() == OPENBLAS_THREAD;
}

/// What the kernels that OpenBLAS chose ask of the processor.
Instructions asked_by(const std::string& kernels) {
  for (const char* old : {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom", "Nano",
                          "Athlon", "Opteron", "Opteron_SSE3", "Barcelona", "Bobcat"})
    if (kernels == old) return Instructions::baseline;
  for (const char* wide : {"SkylakeX", "Cooperlake", "SapphireRapids"})
    if (kernels == wide) return Instructions::avx512;
  return Instructions::avx2;
}

/// The kernels OpenBLAS should use in place of those it chose; null when these are right.
const char* better_kernels(const std::string& present) {
  const Instructions most = std::min(instructions(), Instructions::avx512), now = asked_by(present);
  const bool old = now == Instructions::baseline && most > Instructions::baseline;
  const bool too_new = now > most && instructions() < available_instructions();
  if (!old && !too_new) return nullptr;
  return most == Instructions::avx512 ? "SkylakeX"
         : most == Instructions::avx2 ? "Haswell"
                                      : "Prescott";
}

/// An OpenBLAS older than the processor does not know its model and falls back to kernels of 2004,
/// several times slower; one that knows it does not know of FWSR_CPU. Tell it what to use and let it
/// choose again, through the functions with which it chose when it was loaded, where this build of it has
/// them.
void choose_kernels() {
  const char* better = better_kernels(openblas_get_corename());
  if (!better || std::getenv("OPENBLAS_CORETYPE")) return;
  using Action = void (*)();
  const auto quit = reinterpret_cast<Action>(::dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
  const auto init = reinterpret_cast<Action>(::dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
  if (!quit || !init) return;
  ::setenv("OPENBLAS_CORETYPE", better, 1);
  quit();
  init();
  ::unsetenv("OPENBLAS_CORETYPE");
}

blasint to_blas(Index v) {
  if (v > std::numeric_limits<blasint>::max())
    throw Error("a matrix dimension of " + std::to_string(v) + " is beyond what BLAS can address");
  return static_cast<blasint>(v);
}

CBLAS_TRANSPOSE to_blas(Op op) {
  return op == Op::none ? CblasNoTrans : CblasTrans;
}

/// The distance of rows that BLAS is told, 1 at least: `stride`, or that of adjacent rows.
blasint row_distance(Index stride, Index columns) {
  return to_blas(std::max<Index>(1, stride > 0 ? stride : columns));
}

/// For small products of two matrices as they stand, OpenBLAS's kernels for AVX-512 take memory and do not look whether
/// they got it: a program that is short of it crashes there. The smallest are done here. @pre neither is transposed
template <class T>
void multiply_here(const Product<T>& p) {
  const auto apart = [](Index stride, Index columns) { return stride > 0 ? stride : columns; };
  for (Index i = 0; i < p.m; ++i) {
    T* const out = p.out + i * apart(p.out_stride, p.n);
    for (Index j = 0; j < p.n; ++j) out[j] = p.b == 0 ? T{0} : p.b * out[j];
    for (Index l = 0; l < p.k; ++l) {
      const T times = p.a * p.left[i * apart(p.left_stride, p.k) + l];
      const T* const row = p.right + l * apart(p.right_stride, p.n);
      for (Index j = 0; j < p.n; ++j) out[j] += times * row[j];
    }
  }
}
template <class T>
bool as_they_stand(const Product<T>& p) {
  return p.op_a == Op::none && p.op_b == Op::none;
}

template <class T, class Gemm>
void multiply_by(Gemm gemm, const Product<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  // Whatever the number of rows, so that those of a block do not depend on how many there are.
  constexpr Index tiny = 128;
  if (as_they_stand(p) && p.n <= tiny && p.k <= tiny && p.n * p.k <= tiny) return multiply_here(p);
  gemm(CblasRowMajor, to_blas(p.op_a), to_blas(p.op_b), to_blas(p.m), to_blas(p.n), to_blas(p.k),
       p.a, p.left, row_distance(p.left_stride, p.op_a == Op::none ? p.k : p.m), p.right,
       row_distance(p.right_stride, p.op_b == Op::none ? p.n : p.k), p.b, p.out,
       row_distance(p.out_stride, p.n));
}

}  // namespace

// The OpenMP flavour asks OpenMP for the calling thread's setting at every call, whatever
// openblas_set_num_threads said; our own parallel loops name their number of threads.
SerialBlas::SerialBlas() : omp_threads_(omp_get_max_threads()) {
  const std::lock_guard lock(serial_mutex);
  static const bool once = (choose_kernels(), true);
  static_cast<void>(once);
  if (has_own_pool() && serial_depth++ == 0) {
    threads_before = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
  omp_set_num_threads(1);
}

SerialBlas::~SerialBlas() {
  const std::lock_guard lock(serial_mutex);
  if (has_own_pool() && --serial_depth == 0) openblas_set_num_threads(threads_before);
  omp_set_num_threads(omp_threads_);
}

void multiply(const Product<float>& p) {
  multiply_by(cblas_sgemm, p);
}
void multiply(const Product<double>& p) {
  multiply_by(cblas_dgemm, p);
}

void multiply_few(const Product<double>& p) {
  constexpr double tiny = 1 << 15;
  const double work =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  if (as_they_stand(p) && work <= tiny)
    multiply_here(p);
  else
    multiply(p);
}

void divide_by_lower(std::span<const double> g, Index d, double* x, Index rows) {
  if (rows == 0 || d == 0) return;
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, to_blas(rows),
              to_blas(d), 1.0, g.data(), to_blas(d), x, to_blas(d));
}

// A small triangle costs BLAS more than the whole square.
namespace {

constexpr Index small_triangle = 48;

template <class T>
bool multiply_small(MatrixView<const T> a, T* out, Index out_stride) {
  if (a.cols > small_triangle) return false;
  multiply(Product<T>{.op_a = Op::transpose,
                      .m = a.cols,
                      .n = a.cols,
                      .k = a.rows,
                      .left = a.data,
                      .left_stride = a.stride,
                      .right = a.data,
                      .right_stride = a.stride,
                      .out = out,
                      .out_stride = out_stride});
  return true;
}

}  // namespace

void multiply_by_itself(MatrixView<const float> a, float* out, Index out_stride) {
  if (gram_tiles_pay(a.cols))
    return gram_in_tiles(a.data, a.rows, a.cols, a.stride, out, out_stride);
  if (multiply_small(a, out, out_stride)) return;
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, to_blas(a.cols), to_blas(a.rows), 1, a.data,
              to_blas(a.stride), 0, out, to_blas(out_stride));
}

void multiply_by_itself(MatrixView<const double> a, double* out, Index out_stride) {
  if (gram_tiles_pay(a.cols))
    return gram_in_tiles(a.data, a.rows, a.cols, a.stride, out, out_stride);
  if (multiply_small(a, out, out_stride)) return;
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, to_blas(a.cols), to_blas(a.rows), 1, a.data,
              to_blas(a.stride), 0, out, to_blas(out_stride));
}

void multiply_vector(Op op, MatrixView<const double> a, const double* x, double* y) {
  if (a.rows == 0 || a.cols == 0) {
    std::fill_n(y, op == Op::none ? a.rows : a.cols, 0.0);
    return;
  }
  cblas_dgemv(CblasRowMajor, to_blas(op), to_blas(a.rows), to_blas(a.cols), 1.0, a.data,
              to_blas(a.stride), x, 1, 0.0, y, 1);
}

void add_vector(Op op, MatrixView<const double> a, const double* x, double* y) {
  if (a.rows == 0 || a.cols == 0) return;
  cblas_dgemv(CblasRowMajor, to_blas(op), to_blas(a.rows), to_blas(a.cols), 1.0, a.data,
              to_blas(a.stride), x, 1, 1.0, y, 1);
}

std::string blas_name() {
  const SerialBlas chosen;  // the kernels that will be used, not those first loaded
  return openblas_get_config();
}

}  // namespace fwsr
