// What some points leave of all others, in the kernel's space: K' = K - K_0 K_00^+ K_0^T.
#pragma once

#include <memory>
#include <span>

#include "fwsr/kernel/kernel_matrix.hpp"

namespace fwsr {

/// `kernel` stays the caller's. `hold`: n numbers for each of `taken` are kept, so that all members are as fast as those
/// of `kernel`; else only values and the diagonal are meant to be asked for.
std::unique_ptr<KernelMatrix> make_projected_kernel(const KernelMatrix& kernel,
                                                    std::span<const Index> taken, bool hold,
                                                    int threads);

}  // namespace fwsr
