#include "python/bindings/options.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fwsr/base/result.hpp"
#include "fwsr/methods/settings.hpp"
#include "python/bindings/record.hpp"
#include "python/bindings/words.hpp"

namespace fwsr::python {

namespace {

[[noreturn]] void refuse(const char* name, const char* wanted, nb::handle value) {
  throw nb::type_error(fmt::format("{} must be {}, got {} ({})", name, wanted,
                                   nb::repr(value).c_str(), nb::type_name(value.type()).c_str())
                           .c_str());
}

/// A number that Python can make of `value`, or nothing.
std::optional<double> number(nb::handle value) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || PyBool_Check(value.ptr()))
    return std::nullopt;
  const double read = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return read;
}

void read(const char* name, nb::handle value, double& out) {
  const auto read = number(value);
  if (!read) refuse(name, "a number", value);
  out = *read;
}

void read(const char* name, nb::handle value, Index& out) {
  if (PyBool_Check(value.ptr())) refuse(name, "a whole number", value);
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) {
    PyErr_Clear();
    refuse(name, "a whole number", value);
  }
  out = PyLong_AsSsize_t(whole.ptr());
  if (!PyErr_Occurred()) return;
  PyErr_Clear();
  throw Error(fmt::format("{} = {} is too large", name, nb::repr(value).c_str()));
}

void read(const char* name, nb::handle value, int& out) {
  Index wide = 0;
  read(name, value, wide);
  constexpr Index most = std::numeric_limits<int>::max();
  if (wide < -most || wide > most) throw Error(fmt::format("{} = {} is too large", name, wide));
  out = static_cast<int>(wide);
}

void read(const char* name, nb::handle value, bool& out) {
  const auto answer = truth(value);
  if (!answer) refuse(name, "True or False", value);
  out = *answer;
}

/// A name; numbers are written out, for q = 1, 2 or infinity.
template <class Enum>
requires std::is_enum_v<Enum>
void read(const char* name, nb::handle value, Enum& out) {
  std::string text, names;
  if (PyUnicode_Check(value.ptr()))
    text = nb::cast<std::string>(value);
  else if (const auto as_number = number(value))
    text = fmt::format("{}", *as_number);
  for (const Enum candidate : values_of(out)) {
    if (text == name_of(candidate)) {
      out = candidate;
      return;
    }
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name_of(candidate));
  }
  const std::string message =
      fmt::format("{} must be one of {}, got {}", name, names, nb::repr(value).c_str());
  if (text.empty()) throw nb::type_error(message.c_str());
  throw Error(message);
}

template <class T>
void read(const char* name, nb::handle value, std::optional<T>& out) {
  out.reset();
  if (value.is_none()) return;
  T inner{};
  read(name, value, inner);
  out = inner;
}

void read(const char* name, nb::handle value, DeviceChoice& out) {
  if (!PyUnicode_Check(value.ptr())) refuse(name, "'cpu', 'cuda', 'cuda:1' or 'auto'", value);
  const auto named = device_named(nb::cast<std::string>(value));
  if (!named) throw Error(named.error().message);
  out = *named;
}

void read(const char* name, nb::handle value, NumberOrAuto& out) {
  out.reset();
  if (PyUnicode_Check(value.ptr()) && nb::cast<std::string>(value) == auto_name) return;
  const auto read = number(value);
  if (!read) refuse(name, "a number or 'auto'", value);
  out = *read;
}

using python::as_python;

template <class T>
nb::object as_python(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return nb::cast(std::string(name_of(value)));
  else
    return nb::cast(value);
}
template <class T>
nb::object as_python(const std::optional<T>& value) {
  return value ? as_python(*value) : nb::none();
}

template <class T>
std::vector<T> list(nb::handle value) {
  const auto array =
      nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(value);
  return {array.data(), array.data() + array.shape(0)};
}

void read(nb::handle value, GroupCounts& out) {
  if (nb::isinstance<nb::dict>(value))
    out.named = nb::cast<std::map<std::string, Index>>(value);
  else
    out.each = nb::cast<Index>(value);
}

/// As python/fwsr/_conditions.py makes them.
Conditions read_conditions(const nb::dict& given) {
  Conditions c;
  if (given.contains("candidates"))
    for (const std::uint8_t mark : list<std::uint8_t>(given["candidates"]))
      c.candidates.push_back(mark != 0);
  if (given.contains("included"))
    for (const std::int64_t i : list<std::int64_t>(given["included"]))
      c.included.push_back(static_cast<Index>(i));
  if (given.contains("weights")) c.weights = list<double>(given["weights"]);
  if (given.contains("costs")) c.costs = list<double>(given["costs"]);
  if (given.contains("groups")) {
    std::vector<Labels::Code> codes;
    for (const std::int64_t code : list<std::int64_t>(given["groups"]))
      codes.push_back(static_cast<Labels::Code>(code));
    c.groups = Labels(codes, nb::cast<std::vector<std::string>>(given["group_names"]));
  }
  if (given.contains("at_least")) read(given["at_least"], c.at_least);
  if (given.contains("at_most")) read(given["at_most"], c.at_most);
  return c;
}

/// The options that `describe` leaves out, as they change nothing about the answer.
template <class Visit>
void describe_rest(SelectOptions& o, Visit&& visit) {
  visit("codes", o.codes);
  visit("assignment", o.assignment);
  visit("threads", o.threads);
  visit("memory", o.memory);
  visit("device", o.device);
  visit("device_memory", o.device_memory);
}

}  // namespace

std::vector<NumberOrAuto> read_list(const char* name, const nb::list& given) {
  std::vector<NumberOrAuto> values;
  for (const nb::handle one : given) read(name, one, values.emplace_back());
  return values;
}

nb::object as_python(const NumberOrAuto& value) {
  return value ? nb::cast(*value) : nb::cast(auto_name);
}

std::optional<bool> truth(nb::handle value) {
  const std::string type = nb::repr(value.type()).c_str();
  if (PyBool_Check(value.ptr()) || type == "<class 'numpy.bool'>" ||
      type == "<class 'numpy.bool_'>")
    return PyObject_IsTrue(value.ptr()) == 1;
  return std::nullopt;
}

SelectOptions read_options(const nb::dict& given) {
  SelectOptions options;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "conditions") {
      options.conditions = read_conditions(nb::cast<nb::dict>(value));
      continue;
    }
    if (name == "recorder") {  // whoever made the dictionary keeps it
      options.recorder = nb::cast<Record*>(value);
      continue;
    }
    bool found = false;
    const auto set = [&](const char* known, auto& option, auto&&...) {
      if (name != known) return;
      found = true;
      read(keyword_of(known).c_str(), value, option);
    };
    describe(options, set);
    describe_rest(options, set);
    if (!found) throw nb::type_error(fmt::format("there is no option '{}'", name).c_str());
  }
  return options;
}

nb::list option_list() {
  nb::list all;
  const SelectOptions untouched;
  describe(untouched, [&](const char* name, const auto& value, const char* sentence) {
    all.append(nb::make_tuple(name, as_python(value), sentence));
  });
  return all;
}

nb::list compare_options() {
  nb::list all;
  const SelectOptions any;
  describe(any, [&](const char* name, const auto&, const char*) {
    if (is_compare_option(name)) all.append(name);
  });
  return all;
}

MethodChoice read_choice(const std::string& method, const nb::dict& settings, std::uint64_t seed) {
  MethodChoice choice{.name = method};
  choice.seed = seed;
  for (const auto& [name, text] : settings)
    choice.settings[nb::cast<std::string>(name)] = nb::cast<std::string>(text);
  return choice;
}

Classes read_classes(const nb::object& codes, const std::vector<std::string>& names,
                     const nb::object& counts, Index points) {
  Classes classes;
  if (codes.is_none()) return classes;
  const auto places =
      nb::cast<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(codes);
  if (static_cast<Index>(places.shape(0)) != points)
    throw Error(fmt::format("there are {} points, but {} labels", points, places.shape(0)));
  std::vector<Labels::Code> own;
  own.reserve(places.shape(0));
  for (std::size_t i = 0; i < places.shape(0); ++i) {
    const std::int64_t place = places.data()[i];
    if (place < 0 || place >= static_cast<Index>(names.size()))
      throw Error(fmt::format("point {} is of class {}, of {}", i, place, names.size()));
    own.push_back(static_cast<Labels::Code>(place));
  }
  classes.labels = Labels(own, names);
  if (counts.is_none()) return classes;
  const auto kind = nb::cast<std::string>(counts[0]);
  ClassCounts wanted;
  if (kind == "named") {
    wanted.kind = ClassCounts::Kind::named;
    wanted.named = nb::cast<std::map<std::string, Index>>(counts[1]);
  } else {
    wanted.kind = kind == "each" ? ClassCounts::Kind::each : ClassCounts::Kind::proportional;
    wanted.number = nb::cast<Index>(counts[1]);
  }
  classes.counts = wanted;
  return classes;
}

}  // namespace fwsr::python
