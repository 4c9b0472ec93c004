// Answers for Python: dictionaries of arrays, numbers and text, which python/fwsr/_answers.py gives
// names to.
#pragma once

#include <vector>

#include <nanobind/nanobind.h>

#include "fwsr/methods/compare.hpp"
#include "fwsr/solver/sweep.hpp"

namespace fwsr::python {

namespace nb = nanobind;

nb::dict to_python(Selection selection);
nb::dict to_python(const Plan& plan);
nb::dict to_python(ClassSelection part);
nb::dict to_python(const ClassPlan& part);
nb::dict to_python(const Comparison& row);
/// Names and sentences of all that the answers hold, by what has them: {"Plan": [("method", "name of the method"), ...]}.
nb::dict result_fields();
/// Name, title, sentence, settings and abilities.
nb::dict to_python(const Method& method);

template <class Part>
nb::list list_of(std::vector<Part> parts) {
  nb::list all;
  for (Part& part : parts) all.append(to_python(std::move(part)));
  return all;
}

}  // namespace fwsr::python
