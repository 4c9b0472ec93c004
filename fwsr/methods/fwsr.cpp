// FWSR, the method of the paper: the solver of fwsr/solver on the points themselves.
#include "fwsr/methods/taken_conditions.hpp"

namespace fwsr {

Method fwsr_method() {
  return {.name = "fwsr",
          .title = "greedy Frank-Wolfe",
          .about =
              "a sparse self-representation of the points, one exemplar a step: the paper's method",
          .any_kernel = true,
          .streams = true,
          .all_options = true,
          .conditions = all_conditions()};
}

}  // namespace fwsr
