// Matrix products on the card. cuBLAS is looked for when it is first needed, so that a program that was built with CUDA
// starts where there is none.
#pragma once

#include <cuda_runtime_api.h>

#include "fwsr/base/index.hpp"

struct cublasContext;

namespace fwsr::cuda {

/// A row-major matrix in the memory of the card: `stride` numbers from one row to the next.
struct Matrix {
  const double* data = nullptr;
  Index rows = 0, cols = 0, stride = 0;
};

class Blas {
 public:
  /// Throws Error when the library is not to be found.
  explicit Blas(cudaStream_t stream);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// out = a op(left) op(right) + b out, all row by row. op is the matrix, or its transpose.
  struct Product {
    Matrix left;
    bool left_transposed = false;
    Matrix right;
    bool transposed = false;  // the right one
    double a = 1, b = 0;
    double* out = nullptr;
    Index out_stride = 0;
  };
  void multiply(const Product& p) const;
  /// out_b += left_b^T right_b, `count` products of the same shape; the pointers are in the memory of the card.
  struct ManyProducts {
    const double *const *left = nullptr, *const *right = nullptr;  // rows x width each
    double* const* out = nullptr;                                  // width x width each
    Index rows = 0, width = 0, stride = 0, count = 0;              // stride: of left and right
  };
  void add_products(const ManyProducts& p) const;
  /// rows <- rows G^-T, G the lower triangle of a rank x rank matrix: forward substitution for every row.
  void substitute(const double* g, Index rank, double* rows, Index count, Index stride) const;

 private:
  Blas() = default;

  cublasContext* handle_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace fwsr::cuda
