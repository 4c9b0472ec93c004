// K-FWSR: the solver of fwsr/solver on the rbf kernel, or on the one the user names.
#include "fwsr/methods/taken_conditions.hpp"

namespace fwsr {

Method k_fwsr_method() {
  return {
      .name = "k-fwsr",
      .title = "kernel Frank-Wolfe",
      .about =
          "fwsr in the space of a kernel, rbf unless another is named: the paper's kernel version",
      .any_kernel = true,
      .uses_rbf = true,
      .streams = true,
      .all_options = true,
      .conditions = all_conditions()};
}

}  // namespace fwsr
