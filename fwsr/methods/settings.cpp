#include "fwsr/methods/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"

namespace fwsr {

namespace {

template <class T>
bool read_all(const std::string& text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

/// The text as a value of the parameter's type, or a sentence about what is wrong with it.
struct ReadValue {
  const Parameter& parameter;
  const std::string& text;

  Value operator()(double) const {
    double v = 0;
    if (!read_all(text, v) || !std::isfinite(v)) refuse("a number");
    return in_range(v, v);
  }
  Value operator()(Index) const {
    Index v = 0;
    if (!read_all(text, v)) refuse("a whole number");
    return in_range(v, static_cast<double>(v));
  }
  Value operator()(bool) const {
    if (text != "yes" && text != "no") refuse("yes or no");
    return text == "yes";
  }
  Value operator()(const std::string&) const {
    if (std::find(parameter.words.begin(), parameter.words.end(), text) == parameter.words.end())
      refuse(fmt::format("one of {}", fmt::join(parameter.words, ", ")));
    return text;
  }

 private:
  [[noreturn]] void refuse(const std::string& wanted) const {
    throw Error(fmt::format("{} = '{}' is not {}", parameter.name, text, wanted));
  }
  template <class T>
  Value in_range(T v, double as_number) const {
    if (parameter.or_zero && as_number == 0) return v;
    if (parameter.or_zero && !(as_number >= parameter.least && as_number <= parameter.most))
      throw Error(fmt::format("{} must be 0 or between {} and {}, got {}", parameter.name,
                              parameter.least, parameter.most, text));
    if (as_number < parameter.least)
      throw Error(
          fmt::format("{} must be at least {}, got {}", parameter.name, parameter.least, text));
    if (as_number > parameter.most)
      throw Error(
          fmt::format("{} must be at most {}, got {}", parameter.name, parameter.most, text));
    return v;
  }
};

std::string parameter_names(const Method& method) {
  std::string names;
  for (const Parameter& parameter : method.parameters)
    names += (names.empty() ? "" : ", ") + parameter.name;
  return names;
}

}  // namespace

Settings settings_of(const Method& method, const std::map<std::string, std::string>& given) {
  std::map<std::string, Value, std::less<>> values;
  for (const Parameter& parameter : method.parameters) values[parameter.name] = parameter.value;
  for (const auto& [name, text] : given) {
    const auto parameter = std::find_if(method.parameters.begin(), method.parameters.end(),
                                        [&, &n = name](const Parameter& k) { return k.name == n; });
    if (parameter == method.parameters.end())
      throw Error(fmt::format("{} has no setting '{}'; {}", method.name, name,
                              method.parameters.empty()
                                  ? "it has none at all"
                                  : fmt::format("it has {}", parameter_names(method))));
    values[name] = std::visit(ReadValue{*parameter, text}, parameter->value);
  }
  return Settings(std::move(values));
}

bool has_word(const Settings& settings, std::string_view name, std::string_view word) {
  const auto found = settings.all().find(name);
  if (found == settings.all().end()) return false;
  const auto* const value = std::get_if<std::string>(&found->second);
  return value && *value == word;
}

bool draws_at_random(const Method& method, const Settings& settings) {
  if (!method.random || method.random_if.empty()) return method.random;
  const std::string_view condition = method.random_if;
  const std::size_t equals = condition.find('=');
  return has_word(settings, condition.substr(0, equals), condition.substr(equals + 1));
}

bool takes_dissimilarities(const Settings& settings) {
  return has_word(settings, "metric", "precomputed");
}

bool is_solver(const Method& method) {
  return method.choose == nullptr;
}

bool takes_option(const Method& method, std::string_view option) {
  if (option == "rank" && method.factors) return true;
  for (const Condition c : method.conditions)
    if (option == name_of(c)) return true;
  return method.all_options || std::find(std::begin(common_options), std::end(common_options),
                                         option) != std::end(common_options);
}

namespace {

/// A matrix of dissimilarities has no points: what is done to points cannot be done to it.
void refuse_beside_dissimilarities(const SelectOptions& o) {
  const char* const refused =
      o.center.value_or(Center::none) != Center::none || o.scale != Scale::none
          ? "center and scale are"
      : o.kernel.type != KernelType::linear ? "kernel is"
      : o.fill                              ? "fill is"
      : o.refine != Refine::none            ? "refine is"
      : o.lambda || o.rho                   ? "lambda and rho are"
                                            : nullptr;
  if (refused)
    throw Error(
        fmt::format("{} for points, and metric = precomputed says that the data is a matrix of "
                    "dissimilarities; leave that out",
                    refused));
}

/// What was set and is not an option of the method.
void refuse_foreign(const Method& method, const SelectOptions& o) {
  const SelectOptions untouched;
  std::vector<std::string> foreign;
  describe(o, [&](const char* name, const auto& value, const char*) {
    if (takes_option(method, name)) return;
    describe(untouched, [&](const char* other, const auto& fallback, const char*) {
      if constexpr (std::is_same_v<decltype(value), decltype(fallback)>)
        if (std::string_view(name) == other && !(value == fallback)) foreign.push_back(name);
    });
  });
  if (!foreign.empty())
    throw Error(fmt::format("{} is an option of fwsr, not of {}{}", foreign.front(), method.name,
                            is_solver(method)
                                ? "; leave it out, or choose by fwsr or k-fwsr, which have it"
                            : method.parameters.empty()
                                ? ""
                                : fmt::format(", whose settings are {}", parameter_names(method))));
}

}  // namespace

SelectOptions options_for(const Method& method, const Settings& settings, SelectOptions o) {
  if (method.uses_rbf && !method.suit && o.kernel.type == KernelType::linear)
    o.kernel.type = KernelType::rbf;
  if (method.all_options) return o;
  refuse_foreign(method, o);
  if (method.complete) method.complete(o);
  if (is_solver(method)) return o;
  if (!o.center) o.center = Center::none;
  if (takes_dissimilarities(settings)) refuse_beside_dissimilarities(o);
  if (!method.any_kernel && o.kernel.type != KernelType::linear)
    throw Error(fmt::format("{} works on the points themselves, not in the space of the {} kernel",
                            method.name, name_of(o.kernel.type)));
  if (o.codes && !method.codes)
    throw Error(
        fmt::format("{} has no codes: it chooses points without representing the others by "
                    "them; leave codes out",
                    method.name));
  return o;
}

}  // namespace fwsr
