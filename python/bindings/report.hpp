// The page of a selection, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace fwsr::python {

void bind_report(nanobind::module_& m);

}  // namespace fwsr::python
