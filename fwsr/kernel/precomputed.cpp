// No formula: the matrix given is K itself (given_kernel.cpp).
#include "fwsr/kernel/formula.hpp"

namespace fwsr {

KernelFormula precomputed_kernel() {
  return {.name = "precomputed",
          .about = "the matrix given is K itself",
          .of = KernelOf::matrix,
          .loops = 120};
}

}  // namespace fwsr
