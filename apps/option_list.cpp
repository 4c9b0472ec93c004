#include "apps/option_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/text.hpp"

namespace fwsr::app {

namespace {

/// Options that give the value of another one in a unit of their own.
const std::map<std::string, double SelectOptions::*, std::less<>>& unit_options() {
  static const std::map<std::string, double SelectOptions::*, std::less<>> table = {
      {"eta_relative", &SelectOptions::eta}, {"delta_absolute", &SelectOptions::delta}};
  return table;
}

/// The heading of the help page an option stands under.
const char* group_of(std::string_view name) {
  static const std::map<std::string_view, const char*> table = {
      {"kernel", "Points and kernel"},
      {"gamma", "Points and kernel"},
      {"degree", "Points and kernel"},
      {"coef0", "Points and kernel"},
      {"center", "Points and kernel"},
      {"scale", "Points and kernel"},
      {"when_converged", "When to stop"},
      {"fill", "When to stop"},
      {"delta", "When to stop"},
      {"delta_absolute", "When to stop"},
      {"max_iterations", "When to stop"},
      {"budget", "Conditions"},
      {"until_error", "Conditions"},
      {"time_limit", "Conditions"},
      {"lambda", "How good the answer is"},
      {"rho", "How good the answer is"},
      {"certificate", "How good the answer is"},
      {"precise", "Points and kernel"},
      {"rank", "Points and kernel"}};
  const auto found = table.find(name);
  return found == table.end() ? "Algorithm" : found->second;
}

template <class T>
void read_any(const std::string& flag, const std::string& text, T& value) {
  read_value(flag, text, value);
}

template <class Enum>
requires std::is_enum_v<Enum>
void read_any(const std::string& flag, const std::string& text, Enum& value) {
  std::vector<std::string> names;
  for (const Enum candidate : values_of(value)) {
    names.push_back(name_of(candidate));
    if (text == names.back()) {
      value = candidate;
      return;
    }
  }
  const auto near = nearest(text, names);
  throw UsageError(fmt::format("{} {} is not known; write one of {}{}", flag, in_quotes(text),
                               listed(names), near ? fmt::format(" ({}?)", *near) : ""));
}

template <class T>
void read_any(const std::string& flag, const std::string& text, std::optional<T>& value) {
  T read{};
  read_any(flag, text, read);
  value = read;
}

template <class T>
const char* type_of(const T&) {
  if constexpr (std::is_enum_v<T>) return "NAME";
  if constexpr (std::is_integral_v<T>) return "N";
  return "V";
}
template <class T>
const char* type_of(const std::optional<T>&) {
  return type_of(T{});
}
const char* type_of(const NumberOrAuto&) {
  return "V";
}

/// What an option is when nobody gives one, where that depends on the method; else null.
const char* default_by_method(std::string_view name) {
  if (name == "kernel") return "default linear; k-fwsr: rbf; exchange: what suits the points";
  if (name == "gamma") return "exchange: 2 / the 90 % quantile in place of 1 / the median";
  if (name == "rank") return "default 0; exchange: of many points a factor by itself";
  if (name == "refine")
    return "default none; the method exchange: middle with the rbf kernel, else exchange";
  return nullptr;
}

/// The sentence of an option with the value it has when nobody gives one.
template <class T>
std::string with_default(const std::string& sentence, const T& value) {
  if constexpr (std::is_enum_v<T>)
    return fmt::format("{} (default {})", sentence, name_of(value));
  else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
    return fmt::format("{} (default {})", sentence, value);
  else if constexpr (std::is_same_v<T, NumberOrAuto>)
    return fmt::format("{} (default {})", sentence, text_of(value));
  else
    return sentence;
}

}  // namespace

std::string flag_name(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void read_value(const std::string& flag, const std::string& text, double& value) {
  const auto read = parse_number(text);
  if (!read)
    throw UsageError(
        fmt::format("{} {} is not a number; write one such as 0.5", flag, in_quotes(text)));
  if (!std::isfinite(*read))
    throw UsageError(fmt::format("{} {} is not finite; write a finite number", flag, text));
  value = *read;
}

void read_value(const std::string& flag, const std::string& text, Index& value) {
  const auto read = parse_whole(text);
  if (!read)
    throw UsageError(
        fmt::format("{} {} is not a whole number; write one such as 5", flag, in_quotes(text)));
  value = *read;
}

void read_value(const std::string& flag, const std::string& text, int& value) {
  Index wide = 0;
  read_value(flag, text, wide);
  constexpr Index limit = std::numeric_limits<int>::max();
  if (wide < -limit || wide > limit)
    throw UsageError(fmt::format("{} {} is too large; write a smaller number", flag, text));
  value = static_cast<int>(wide);
}

void read_value(const std::string& flag, const std::string& text, NumberOrAuto& value) {
  if (text == auto_name) {
    value.reset();
    return;
  }
  if (!parse_number(text))
    throw UsageError(fmt::format("{} {} is not a number; write one such as 0.5, or {}", flag,
                                 in_quotes(text), auto_name));
  double number = 0;
  read_value(flag, text, number);
  value = number;
}

void add_select_options(CLI::App& app, SelectOptions& options,
                        const std::vector<std::string_view>& without) {
  const bool of_methods =
      app.get_option_no_throw("--method") || app.get_option_no_throw("--methods");
  describe(options, [&](const char* name, auto& value, const char* about) {
    const char* const words = of_methods ? default_by_method(name) : nullptr;
    const std::string sentence =
        words ? fmt::format("{} ({})", about, words) : with_default(about, value);
    if (std::strcmp(name, "exemplars") == 0) return;
    if (std::find(without.begin(), without.end(), name) != without.end()) return;
    const std::string flag = flag_name(name);
    CLI::Option* option = nullptr;
    if constexpr (std::is_same_v<decltype(value), bool&>) {
      const auto unit = unit_options().find(name);
      if (unit == unit_options().end()) {
        option = app.add_flag(flag, value, sentence);
      } else {
        double& number = options.*(unit->second);
        option = app.add_option_function<std::string>(
            flag,
            [flag, &value, &number](const std::string& text) {
              read_value(flag, text, number);
              value = true;
            },
            sentence);
        option->type_name("V");
      }
    } else {
      option = app.add_option_function<std::string>(
          flag, [flag, &value](const std::string& text) { read_any(flag, text, value); }, sentence);
      option->type_name(type_of(value));
    }
    option->group(group_of(name));
  });
}

void set_option(SelectOptions& options, std::string_view name, const std::string& text,
                const std::string& shown_as) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '-', '_');
  bool found = false;
  std::vector<std::string> names;
  describe(options, [&](const char* known, auto& value, const char*) {
    if (std::strcmp(known, "exemplars") == 0) return;
    names.push_back(known);
    if (wanted != known) return;
    found = true;
    if constexpr (std::is_same_v<decltype(value), bool&>) {
      const auto unit = unit_options().find(known);
      if (unit != unit_options().end()) {
        read_value(shown_as, text, options.*(unit->second));
        value = true;
      } else if (text == "yes" || text == "no") {
        value = text == "yes";
      } else {
        throw UsageError(fmt::format("{} {} is not yes or no", shown_as, in_quotes(text)));
      }
    } else {
      read_any(shown_as, text, value);
    }
  });
  if (found) return;
  const auto near = nearest(wanted, names);
  throw UsageError(
      fmt::format("{} is no option; {}", shown_as,
                  near ? fmt::format("did you mean {}?", *near) : "see fwsr select --help"));
}

void check_select_options(const CLI::App& app) {
  refuse_both(app, "--alpha", "--beta", "both set the radius (beta = n / alpha), give one");
  refuse_both(app, "--eta", "--eta-relative", "give one");
  refuse_both(app, "--delta", "--delta-absolute", "give one");
}

}  // namespace fwsr::app
