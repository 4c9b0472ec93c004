// Matrix products through BLAS, row-major. The only file of the project that calls it.
//
// Every call runs on one thread: OpenBLAS gives different bits for different numbers of threads, so
// parallelism is ours, over blocks of constant size (base/blocks.hpp).
#pragma once

#include <span>
#include <string>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// While one of these lives, BLAS calls of this thread, and of the teams it starts, run on one thread
/// each.
class SerialBlas {
 public:
  SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;
  ~SerialBlas();

 private:
  int omp_threads_;  // what OpenMP would have used
};

enum class Op { none, transpose };

/// C (m x n) <- a op(A) op(B) + b C, with op(A) m x k and op(B) k x n. Strides are from row to row, in
/// elements; 0: rows are adjacent.
template <class T>
struct Product {
  Op op_a = Op::none, op_b = Op::none;
  Index m = 0, n = 0, k = 0;
  T a = 1;
  const T* left = nullptr;
  Index left_stride = 0;
  const T* right = nullptr;
  Index right_stride = 0;
  T b = 0;
  T* out = nullptr;
  Index out_stride = 0;
};
void multiply(const Product<float>& p);
void multiply(const Product<double>& p);
/// The same for a few rows that are together wherever it is asked: their bits may depend on how many they are.
void multiply_few(const Product<double>& p);
/// x <- x G^-1 for rows of `d` numbers, G lower triangular, d x d.
void divide_by_lower(std::span<const double> g, Index d, double* x, Index rows);

/// Upper triangle of A^T A for A rows x d, to `out` with rows `out_stride` apart; the lower one of
/// `out` is left undefined.
void multiply_by_itself(MatrixView<const float> a, float* out, Index out_stride);
void multiply_by_itself(MatrixView<const double> a, double* out, Index out_stride);

/// y <- op(A) x, and y <- y + op(A) x; A rows x cols with rows `stride` apart.
void multiply_vector(Op op, MatrixView<const double> a, const double* x, double* y);
void add_vector(Op op, MatrixView<const double> a, const double* x, double* y);

/// "OpenBLAS 0.3.21 ... SkylakeX", for --version.
std::string blas_name();

}  // namespace fwsr
