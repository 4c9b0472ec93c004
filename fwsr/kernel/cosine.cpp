// The cosine kernel, <x, y> / (||x|| ||y||): the linear one of points of norm 1. A zero point is
// orthogonal to all.
#include "fwsr/kernel/formula.hpp"

namespace fwsr {

KernelFormula linear_kernel();

KernelFormula cosine_kernel() {
  KernelFormula formula = linear_kernel();
  formula.name = "cosine";
  formula.about = "<x, y> / (||x|| ||y||)";
  formula.normalize = true;
  formula.centered = false;
  return formula;
}

}  // namespace fwsr
