// Points that live in several places (fwsr/solver/transport.hpp), as Python carries questions between them.
#pragma once

#include <nanobind/nanobind.h>

namespace fwsr::python {

void bind_shards(nanobind::module_& m);

}  // namespace fwsr::python
