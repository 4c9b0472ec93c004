#include "apps/method_argument.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/option_list.hpp"
#include "apps/text.hpp"

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

std::string value_text(const Value& value) {
  if (const bool* const yes = std::get_if<bool>(&value)) return *yes ? "yes" : "no";
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

}  // namespace

MethodArgument parse_method(const std::string& text, const SelectOptions& options,
                            std::uint64_t seed) {
  const std::vector<std::string> parts = split(text, ':');
  MethodArgument result{.text = text, .choice = {.name = parts.front()}, .options = options};
  result.choice.seed = seed;
  const Method& method = known_method(parts.front());
  const std::string example = method.knobs.empty() ? "alpha=5" : method.knobs.front().name + "=...";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--method {}: {} is no setting; write {}:{}", in_quotes(text),
                                   in_quotes(parts[i]), method.name, example));
    const std::string name = parts[i].substr(0, equals), value = parts[i].substr(equals + 1);
    if (!method.choose)
      set_option(result.options, name, value, fmt::format("{}:{}", method.name, name));
    else if (!result.choice.settings.emplace(name, value).second)
      throw UsageError(fmt::format("{}: {} is given twice; give it once", method.name, name));
  }
  try {
    result.options =
        options_for(method, settings_of(method, result.choice.settings), result.options);
  } catch (const Error& e) {
    throw UsageError(fmt::format("--method {}: {}", in_quotes(text), e.what()));
  }
  return result;
}

void refuse_foreign_options(const CLI::App& app, const std::string& text) {
  const std::string wanted = split(text, ':').front();
  const Method& method = known_method(wanted);
  if (method.uses_rbf && app.count("--kernel") > 0 &&
      app.get_option("--kernel")->as<std::string>() == "linear")
    throw UsageError(
        fmt::format("{} is for kernels other than linear; name another, or leave "
                    "--kernel out for rbf",
                    method.name));
  if (!method.choose) {
    for (const std::string& setting : split(text, ':')) {
      const std::string flag = flag_name(setting.substr(0, setting.find('=')));
      if (setting != method.name && app.get_option_no_throw(flag) && app.count(flag) > 0)
        throw UsageError(
            fmt::format("{} is given twice, by itself and in --method {}; give it once", flag,
                        in_quotes(text)));
    }
    return;
  }
  const SelectOptions any;
  describe(any, [&](const char* name, const auto&, const char*) {
    const std::string flag = flag_name(name);
    if (is_common_option(name) || !app.get_option_no_throw(flag) || app.count(flag) == 0) return;
    const std::string own = settings_text(method);
    throw UsageError(
        fmt::format("{} is an option of fwsr and k-fwsr, not of {}; {}", flag, method.name,
                    own.empty() ? "leave it out"
                                : fmt::format("its settings are {} (write {}:{}=...)", own,
                                              method.name, method.knobs.front().name)));
  });
}

Json settings_json(const MethodChoice& choice) {
  const Method& method = find_method(choice.name);
  if (!method.choose) return nullptr;
  Json json = Json::object();
  const Settings settings = settings_of(method, choice.settings);
  for (const Knob& knob : method.knobs)
    json[knob.name] = value_json(settings.all().find(knob.name)->second);
  return json;
}

std::string settings_text(const Method& method) {
  std::string text;
  for (const Knob& knob : method.knobs)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", knob.name, value_text(knob.value));
  return text;
}

}  // namespace fwsr::app
