#include "fwsr/cuda/cublas.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <string>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/cuda/device.hpp"

namespace fwsr::cuda {

namespace {

/// What is used of cuBLAS, found by name in the library that is there.
struct Library {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&cublasDgemm_v2_64) gemm = nullptr;
  decltype(&cublasDgemmBatched_64) gemm_many = nullptr;
  decltype(&cublasDtrsm_v2_64) trsm = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
};

Library load() {
  const std::string name = fmt::format("libcublas.so.{}", CUDART_VERSION / 1000);
  void* const found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!found)
    throw Error(
        fmt::format("the card needs cuBLAS, and {} was not found; install it (pip install "
                    "nvidia-cublas, or the "
                    "CUDA toolkit) and have its folder in LD_LIBRARY_PATH, or use device cpu",
                    name));
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(found, symbol));
    if (!function)
      throw Error(
          fmt::format("{} has no {}; install a newer cuBLAS, or use device cpu", name, symbol));
  };
  Library library;
  find(library.create, "cublasCreate_v2");
  find(library.destroy, "cublasDestroy_v2");
  find(library.set_stream, "cublasSetStream_v2");
  find(library.set_workspace, "cublasSetWorkspace_v2");
  find(library.gemm, "cublasDgemm_v2_64");
  find(library.gemm_many, "cublasDgemmBatched_64");
  find(library.trsm, "cublasDtrsm_v2_64");
  find(library.status_string, "cublasGetStatusString");
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check_blas(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED)
    throw MemoryError(fmt::format("the card has no memory left for cuBLAS ({})", doing));
  throw Error(fmt::format("cuBLAS said '{}' while {}", library().status_string(status), doing));
}

/// Its own, so that the same bits come from run to run.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

}  // namespace

Blas::Blas(cudaStream_t stream) : Blas() {  // so that what was begun is ended when it throws
  check_blas(library().create(&handle_), "starting it");
  check_blas(library().set_stream(handle_, stream), "starting it");
  check(cudaMalloc(&workspace_, workspace_bytes), "starting cuBLAS");
  check_blas(library().set_workspace(handle_, workspace_, workspace_bytes), "starting it");
}

Blas::~Blas() {
  if (handle_) library().destroy(handle_);
  if (workspace_) cudaFree(workspace_);
}

// cuBLAS holds matrices column by column: a row-major matrix is the transpose of what it sees.
void Blas::multiply(const Product& p) const {
  const Index rows = p.left_transposed ? p.left.cols : p.left.rows,
              inner = p.left_transposed ? p.left.rows : p.left.cols,
              columns = p.transposed ? p.right.rows : p.right.cols;
  if (rows == 0 || columns == 0) return;
  check_blas(library().gemm(handle_, p.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                            p.left_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, columns, rows, inner,
                            &p.a, p.right.data, p.right.stride, p.left.data, p.left.stride, &p.b,
                            p.out, p.out_stride),
             "multiplying matrices");
}

void Blas::add_products(const ManyProducts& p) const {
  if (p.rows == 0 || p.count == 0) return;
  const double one = 1;
  check_blas(
      library().gemm_many(handle_, CUBLAS_OP_N, CUBLAS_OP_T, p.width, p.width, p.rows, &one,
                          p.right, p.stride, p.left, p.stride, &one, p.out, p.width, p.count),
      "multiplying points");
}

void Blas::substitute(const double* g, Index rank, double* rows, Index count, Index stride) const {
  const double one = 1;
  // As cuBLAS sees it: G^T upper is what row-major lower G is; columns of `rows` are points.
  check_blas(library().trsm(handle_, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                            CUBLAS_DIAG_NON_UNIT, rank, count, &one, g, rank, rows, stride),
             "substituting");
}

}  // namespace fwsr::cuda
