// The data set that comes with the library.
#pragma once

#include "fwsr/base/result.hpp"
#include "fwsr/data/dataset.hpp"

namespace fwsr {

/// 1797 handwritten digits of 8 x 8 pixels, values 0 to 16, with their labels 0 to 9.
/// data/README.md says where they come from.
Result<Dataset> read_digits();

}  // namespace fwsr
