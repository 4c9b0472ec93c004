// SMRS: the rows of the sparsest codes by which the points represent each other (Elhamifar, Sapiro,
// Vidal, "See all by looking at a few: sparse modeling for finding representative objects", CVPR 2012).
//
//   min_X  lambda sum_i ||x_i||_2 + 1/2 ||A - A X||_F^2    s.t.  1^T X = 1^T  (affine = yes)
//
// The exemplars are the k rows x_i of largest norm, which is their strength; the codes are these rows.
// lambda = largest_lambda / alpha. The constraint is there by default, as in the article; alpha = 20 is
// in the middle of what its authors advise, and gives more than k non-zero rows more often than their 5.
#include "fwsr/methods/row_choice.hpp"

namespace fwsr {

Method smrs_method() {
  return {.name = "smrs",
          .title = "sparse modelling of representatives",
          .about =
              "codes by which the points represent each other, with few non-zero rows "
              "(Elhamifar, Sapiro, Vidal 2012)",
          .parameters = row_sparse_parameters(),
          .codes = true,
          .cost = [](const Sizes& s, const Settings&) { return row_sparse_cost(s, true); },
          .choose = choose_row_sparse};
}

}  // namespace fwsr
