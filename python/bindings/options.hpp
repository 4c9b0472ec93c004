// Options, methods and classes as Python gives them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/methods.hpp"
#include "python/bindings/points.hpp"

namespace fwsr::python {

namespace nb = nanobind;

/// True or False, Python's or NumPy's; nothing for all else.
std::optional<bool> truth(nb::handle value);

/// Every entry of `given` by the names of `describe`, and codes, assignment, threads and memory.
/// Raises TypeError for a value of the wrong type or a name that is none.
SelectOptions read_options(const nb::dict& given);

/// Numbers or "auto", as FWSR's alpha may be; `name` begins every message.
std::vector<NumberOrAuto> read_list(const char* name, const nb::list& given);
nb::object as_python(const NumberOrAuto& value);

/// name, value when nobody gives one, sentence: for every option.
nb::list option_list();

/// Those that are for a whole comparison, by name.
nb::list compare_options();

/// A method with its settings as text, as fwsr::MethodChoice has them.
MethodChoice read_choice(const std::string& method, const nb::dict& settings, std::uint64_t seed);

/// The classes of the points and how many exemplars each is to give.
struct Classes {
  Labels labels;
  std::optional<ClassCounts> counts;  // unset: labels are for the measures only
};

/// `codes` holds for each point the place of its class in `names`; `counts` is None, or a tuple of
/// "each" or "proportional" and a number, or of "named" and a dictionary.
Classes read_classes(const nb::object& codes, const std::vector<std::string>& names,
                     const nb::object& counts, Index points);

}  // namespace fwsr::python
