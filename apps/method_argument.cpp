#include "apps/method_argument.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/option_list.hpp"
#include "apps/text.hpp"
#include "fwsr/methods/settings.hpp"

namespace fwsr::app {

namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

const Method& known_method(const std::string& name) {
  std::vector<std::string> names;
  for (const Method& m : methods()) {
    if (m.name == name) return m;
    names.push_back(m.name);
  }
  const auto near = nearest(name, names);
  throw UsageError(fmt::format("there is no method {}; {}", in_quotes(name),
                               near ? fmt::format("did you mean {}?", *near)
                                    : fmt::format("the methods are {}", listed(names, 40))));
}

Json value_json(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

/// A word for an option that the method has its own for.
void refuse_what_it_would_ignore(const Method& method, std::string_view option,
                                 std::string_view word) {
  if (method.uses_rbf && option == "kernel" && word == "linear")
    throw UsageError(fmt::format(
        "{} is for kernels other than linear; name another, or leave --kernel out for {}",
        method.name,
        method.suit ? "the one that suits the points (--method fwsr --refine exchange is the same "
                      "with the linear kernel)"
                    : "rbf"));
  if (method.complete && option == "refine" && word == "none")
    throw UsageError(fmt::format(
        "{} exchanges exemplars; --method fwsr and --method k-fwsr leave them as they were chosen",
        method.name));
}

std::string value_text(const Value& value) {
  if (const bool* const yes = std::get_if<bool>(&value)) return *yes ? "yes" : "no";
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

}  // namespace

Request parse_method(const std::string& text, const SelectOptions& options, std::uint64_t seed) {
  const std::vector<std::string> parts = split(text, ':');
  const Method& method = known_method(parts.front());
  MethodChoice choice{.name = method.name, .settings = {}, .seed = seed};
  SelectOptions own = options;
  const std::string example = !method.parameters.empty() ? method.parameters.front().name + "=..."
                              : method.suit              ? "ridge=0.5"
                                                         : "alpha=5";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--method {}: {} is no setting; write {}:{}", in_quotes(text),
                                   in_quotes(parts[i]), method.name, example));
    const std::string name = parts[i].substr(0, equals), value = parts[i].substr(equals + 1);
    if (is_solver(method)) {
      refuse_what_it_would_ignore(method, name, value);
      set_option(own, name, value, fmt::format("{}:{}", method.name, name));
    } else if (!choice.settings.emplace(name, value).second) {
      throw UsageError(fmt::format("{}: {} is given twice; give it once", method.name, name));
    }
  }
  try {
    return Request(own, choice);
  } catch (const Error& e) {
    throw UsageError(fmt::format("--method {}: {}", in_quotes(text), e.what()));
  }
}

void refuse_foreign_options(const CLI::App& app, const std::string& text) {
  const std::string wanted = split(text, ':').front();
  const Method& method = known_method(wanted);
  for (const char* option : {"kernel", "refine"})
    if (const std::string flag = flag_name(option); app.count(flag) > 0)
      refuse_what_it_would_ignore(method, option, app.get_option(flag)->as<std::string>());
  if (is_solver(method)) {
    for (const std::string& setting : split(text, ':')) {
      const std::string flag = flag_name(setting.substr(0, setting.find('=')));
      if (setting != method.name && app.get_option_no_throw(flag) && app.count(flag) > 0)
        throw UsageError(
            fmt::format("{} is given twice, by itself and in --method {}; give it once", flag,
                        in_quotes(text)));
    }
  }
  const SelectOptions any;
  describe(any, [&](const char* name, const auto&, const char*) {
    const std::string flag = flag_name(name);
    if (takes_option(method, name) || !app.get_option_no_throw(flag) || app.count(flag) == 0)
      return;
    const std::string own = settings_text(method);
    throw UsageError(fmt::format(
        "{} is an option of {}fwsr and k-fwsr, not of {}{}; {}", flag,
        takes_option(find_method(default_method), name) ? "exchange, " : "", method.name,
        method.name == default_method ? ", which is the default" : "",
        is_solver(method) ? fmt::format("leave it out, or add --method fwsr or --method k-fwsr")
        : own.empty()     ? "leave it out"
                          : fmt::format("its settings are {} (write {}:{}=...)", own, method.name,
                                        method.parameters.front().name)));
  });
}

Json settings_json(const Request& request) {
  if (is_solver(*request.method)) return nullptr;
  Json json = Json::object();
  for (const Parameter& parameter : request.method->parameters)
    json[parameter.name] = value_json(request.settings.all().find(parameter.name)->second);
  return json;
}

std::string settings_text(const Method& method) {
  std::string text;
  for (const Parameter& parameter : method.parameters)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", parameter.name,
                        value_text(parameter.value));
  return text;
}

}  // namespace fwsr::app
