// Kernel SMRS: the program of smrs.cpp for points in the space of a kernel,
//
//   min_X  lambda sum_i ||x_i||_2 + 1/2 tr((I - X)^T K (I - X))    s.t.  1^T X = 1^T  (affine = yes),
//
// which needs K only (Dornaika, Kamal Aldine, Cases, "Kernel sparse modeling for prototype selection",
// Knowledge-Based Systems 2016; built from the program itself).
#include "fwsr/methods/row_choice.hpp"

namespace fwsr {

Method kernel_smrs_method() {
  return {.name = "kernel-smrs",
          .title = "sparse modelling of representatives in the space of a kernel",
          .about =
              "smrs with any kernel, rbf unless told otherwise (Dornaika, Kamal Aldine, Cases "
              "2016)",
          .parameters = row_sparse_parameters(),
          .any_kernel = true,
          .uses_rbf = true,
          .codes = true,
          .cost = [](const Sizes& s, const Settings&) { return row_sparse_cost(s, false); },
          .choose = choose_row_sparse};
}

}  // namespace fwsr
