// Values as JSON: numbers, words, lists, and whatever `describe` lists.
#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "fwsr/methods/compare_fields.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/result_fields.hpp"

namespace fwsr::app {

using Json = nlohmann::ordered_json;

/// Null where a number is not finite: JSON has no infinity.
inline Json json_of(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}
/// The number, or the word.
inline Json json_of(const NumberOrAuto& value) {
  return value ? Json(*value) : Json(auto_name);
}

// All that json_of can be asked for, so that each can hold any other.
template <class T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::optional<T>& value);
template <class T>
Json json_of(const std::vector<T>& values);
Json json_of(const std::vector<Fact>& facts);

/// Puts every field that it is told of into an object.
struct AddFields {
  Json& json;

  template <class T>
  void operator()(const char* name, const T& value, const char*) const {
    json[name] = json_of(value);
  }
};

/// Puts every list that it is told of into an object, where there is one.
struct AddFound {
  Json& json;

  template <class T>
  void operator()(const char* name, const std::vector<T>& values, const char*) const {
    if (!values.empty()) json[name] = json_of(values);
  }
};

template <class T>
concept Described = requires(const T& value, AddFields add) {
  describe(value, add);
};

/// An enumeration as its word, null for none; what is described as an object.
template <class T>
Json json_of(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    const std::string name = name_of(value);
    return name.empty() ? Json() : Json(name);
  } else if constexpr (Described<T>) {
    Json json = Json::object();
    describe(value, AddFields{json});
    return json;
  } else {
    return Json(value);
  }
}
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}
template <class T>
Json json_of(const std::vector<T>& values) {
  Json all = Json::array();
  for (const auto& value : values) all.push_back(json_of(T(value)));
  return all;
}
/// By name.
inline Json json_of(const std::vector<Fact>& facts) {
  Json json = Json::object();
  for (const Fact& fact : facts) json[fact.name] = json_of(fact.value);
  return json;
}

}  // namespace fwsr::app
