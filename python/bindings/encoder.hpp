// Codes, nearest exemplars and errors of points, seen or new (fwsr/solver/encode.hpp).
#pragma once

#include <nanobind/nanobind.h>

namespace fwsr::python {

void bind_encoder(nanobind::module_& m);

}  // namespace fwsr::python
