// Memory of this machine that the card reads by itself while the processor fills another part of it.
#pragma once

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include "fwsr/base/index.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::cuda {

class Pinned {
 public:
  explicit Pinned(Index bytes) {
    if (cudaMallocHost(&data_, static_cast<std::size_t>(bytes)) == cudaSuccess) return;
    cudaGetLastError();
    throw MemoryError(
        fmt::format("{} of the memory of this machine, which the card reads by itself, were needed "
                    "for copies, and not to be had; end what else uses it",
                    format_bytes(static_cast<double>(bytes))));
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  unsigned char* get() const { return static_cast<unsigned char*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace fwsr::cuda
