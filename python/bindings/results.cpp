#include "python/bindings/results.hpp"

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "fwsr/methods/compare_fields.hpp"
#include "python/bindings/words.hpp"

namespace fwsr::python {

namespace {

/// The numbers of a vector as a NumPy array that owns them.
template <class T>
nb::object array(std::vector<T> values, std::vector<std::size_t> shape = {}) {
  if (shape.empty()) shape = {values.size()};
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner));
}

/// Several lists of equal length, one for each field of a step.
nb::dict columns_of(const std::vector<Step>& trace) {
  nb::dict d;
  const Step any;
  std::size_t column = 0;
  describe(any, [&](const char* name, const auto& like, const char*) {
    using Field = std::remove_cvref_t<decltype(like)>;
    std::vector<std::conditional_t<std::is_integral_v<Field>, std::int64_t, double>> values;
    values.reserve(trace.size());
    for (const Step& step : trace) {
      std::size_t field = 0;
      describe(step, [&](const char*, const auto& value, const char*) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, Field>)
          if (field == column) values.push_back(value);
        ++field;
      });
    }
    d[name] = array(std::move(values));
    ++column;
  });
  return d;
}

nb::dict to_python(Coefficients c, std::size_t exemplars) {
  const std::size_t basis = c.basis.size();
  nb::dict d;
  d["basis"] = array(std::vector<std::int64_t>(c.basis.begin(), c.basis.end()));
  d["theta"] = array(std::move(c.theta), {exemplars, basis});
  d["offset"] = c.offset.empty() ? nb::none() : array(std::move(c.offset));
  return d;
}

template <class T>
nb::dict fields_of(T&& described);

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// A value as Python has it: lists of numbers as arrays (taken out of `value` where that can be), None for what does not
/// exist, sentences in Python's words.
template <class T>
nb::object as_python(T&& value) {
  using Field = std::remove_cvref_t<T>;
  if constexpr (is_optional<Field>) {
    return value ? as_python(*value) : nb::none();
  } else if constexpr (std::is_enum_v<Field>) {
    return nb::cast(name_of(value));
  } else if constexpr (std::is_same_v<Field, std::vector<Index>>) {
    return array(std::vector<std::int64_t>(value.begin(), value.end()));
  } else if constexpr (std::is_same_v<Field, std::vector<bool>>) {
    return array(std::vector<std::uint8_t>(value.begin(), value.end()));
  } else if constexpr (std::is_same_v<Field, std::vector<double>>) {
    return array(std::move(value));
  } else if constexpr (std::is_same_v<Field, std::vector<std::string>>) {
    return nb::cast(in_python_words(value));
  } else if constexpr (std::is_same_v<Field, std::vector<Step>>) {
    return columns_of(value);
  } else if constexpr (std::is_same_v<Field, std::vector<Fact>>) {
    nb::dict facts;
    for (const Fact& fact : value) facts[fact.name.c_str()] = fact.value;
    return facts;
  } else if constexpr (std::is_same_v<Field, Coefficients>) {
    return nb::none();  // its shape is known where the exemplars are
  } else if constexpr (requires { describe(value, [](auto&&...) {}); }) {
    return fields_of(value);
  } else {
    return nb::cast(value);
  }
}

/// Everything that `describe` lists, by name.
template <class T>
nb::dict fields_of(T&& described) {
  nb::dict d;
  describe(described, [&]<class Field>(const char* name, Field&& value, const char*) {
    d[name] = as_python(std::forward<Field>(value));
  });
  return d;
}

}  // namespace

nb::dict to_python(const Plan& p) {
  nb::dict d = fields_of(p);
  d["seconds"] = estimated_seconds(p);
  return d;
}

nb::dict to_python(Selection s) {
  const std::size_t k = s.exemplars.size();
  std::vector<double> codes = std::move(s.codes);
  std::optional<Coefficients> theta = std::move(s.coefficients);
  const bool important = !s.importance.empty();
  std::vector<double> atoms;
  for (const std::vector<double>& atom : s.atoms)
    atoms.insert(atoms.end(), atom.begin(), atom.end());
  nb::dict d = fields_of(s);
  if (theta) d["coefficients"] = to_python(std::move(*theta), k);
  d["plan"] = to_python(s.plan);
  if (s.assignment.empty()) d["assignment"] = nb::none();
  if (!important) d["importance"] = nb::none();
  if (s.clusters.empty()) d["clusters"] = nb::none();
  const std::size_t rows = s.atoms.size(), length = rows > 0 ? atoms.size() / rows : 0;
  d["atoms"] = atoms.empty() ? nb::none() : array(std::move(atoms), {rows, length});
  const std::size_t coded = k > 0 ? codes.size() / k : 0;
  d["codes"] = codes.empty() ? nb::none() : array(std::move(codes), {coded, k});
  return d;
}

nb::dict to_python(ClassSelection part) {
  nb::dict d;
  d["name"] = part.name;
  d["members"] = as_python(part.members);
  d["wanted"] = part.wanted;
  d["selection"] = to_python(std::move(part.selection));
  return d;
}

nb::dict to_python(const ClassPlan& part) {
  nb::dict d;
  d["name"] = part.name;
  d["points"] = part.members.size();
  d["wanted"] = part.wanted;
  // A class that gives nothing, or all it has, needs no plan.
  d["plan"] = part.plan.points > 0 ? nb::object(to_python(part.plan)) : nb::none();
  return d;
}

nb::dict to_python(const Comparison& row) {
  nb::dict d = fields_of(row);
  d["reason"] = in_python_words(row.reason);
  nb::list trials;
  for (const Trial& trial : row.trials) {
    nb::dict t;
    t["exemplars"] = as_python(trial.exemplars);
    for (const Measure& measure : measures()) t[measure.name] = measure.of(trial);
    trials.append(t);
  }
  d["trials"] = trials;
  return d;
}

namespace {

template <class T>
nb::list sentences_of() {
  nb::list all;
  const T any{};
  describe(any, [&](const char* name, const auto&, const char* sentence) {
    all.append(nb::make_tuple(name, in_python_words(std::string(sentence))));
  });
  return all;
}

}  // namespace

nb::dict result_fields() {
  nb::dict d;
  d["Selection"] = sentences_of<Selection>();
  d["Step"] = sentences_of<Step>();
  d["Certificate"] = sentences_of<Certificate>();
  d["Refinement"] = sentences_of<Refinement>();
  d["Plan"] = sentences_of<Plan>();
  d["Seconds"] = sentences_of<Seconds>();
  d["ComparedMethod"] = sentences_of<Comparison>();
  return d;
}

nb::dict to_python(const Method& m) {
  nb::dict d;
  d["name"] = m.name;
  d["title"] = m.title;
  d["about"] = m.about;
  nb::list parameters;
  for (const Parameter& parameter : m.parameters)
    parameters.append(nb::make_tuple(
        parameter.name, std::visit([](const auto& v) { return nb::cast(v); }, parameter.value),
        parameter.about));
  d["settings"] = parameters;
  d["random"] = m.random;
  d["any_kernel"] = m.any_kernel;
  d["uses_rbf"] = m.uses_rbf;
  d["suits"] = m.suit != nullptr;
  d["codes"] = m.codes || is_solver(m);
  d["solver"] = is_solver(m);
  nb::list options;
  const SelectOptions any;
  describe(any, [&](const char* name, const auto&, const char*) {
    if (takes_option(m, name)) options.append(name);
  });
  d["options"] = options;
  d["streams"] = m.streams;
  return d;
}

}  // namespace fwsr::python
