#include "fwsr/base/finite.hpp"

#include "fwsr/base/result.hpp"

namespace fwsr {

void throw_not_finite() {
  throw Error(
      "what is computed from the points is not finite: they changed while they were read, or span "
      "too many "
      "orders of magnitude for floating-point numbers; leave them alone until the work is done, or "
      "rescale "
      "the features");
}

}  // namespace fwsr
