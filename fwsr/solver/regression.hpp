// How well some points stand for all: least squares and ridge regression of every point on them.
#pragma once

#include <span>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// In the kernel's units, without the eta row.
struct Regression {
  double projection = 0;  // ||A - P_T A||^2
  double ridge = 0;       // min_X ||A_T X - A||^2 + rho^2 ||X||^2
  double trace = 0;       // ||A||^2
};

/// `linear`: the points themselves where the kernel is their inner product, else null. `rho` in the
/// kernel's units; negative when nobody asked.
Regression regress(const KernelMatrix& kernel, const Points* linear,
                   std::span<const Index> exemplars, double rho, int threads, const Alive& alive);

}  // namespace fwsr
