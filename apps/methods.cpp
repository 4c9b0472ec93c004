// fwsr methods: what select --method and compare --methods understand.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/destination.hpp"
#include "apps/method_argument.hpp"
#include "apps/result_json.hpp"
#include "apps/text.hpp"
#include "fwsr/methods/methods.hpp"

namespace fwsr::app {

namespace {

std::string traits_of(const Method& m) {
  std::vector<std::string> traits;
  if (m.random)
    traits.push_back("draws at random" +
                     (m.random_if.empty() ? "" : fmt::format(" with {}", m.random_if)));
  if (m.suit)
    traits.push_back("kernel and width that suit the points unless others are named");
  else if (m.uses_rbf)
    traits.push_back("rbf kernel unless another is named");
  else if (m.any_kernel)
    traits.push_back("any kernel");
  if (m.factors) traits.push_back("a factor of it with --rank");
  if (m.streams) traits.push_back("data may be larger than memory");
  return listed(traits);
}

/// The conditions it chooses under.
std::string conditions_of(const Method& m) {
  std::vector<std::string> names;
  for (const Condition c : m.conditions) names.emplace_back(name_of(c));
  return names.empty() ? "" : fmt::format("under conditions: {}", listed(names));
}

void add_wrapped(std::string& text, const std::string& indent, const std::string& about) {
  for (const std::string& line : wrapped(about, 96 - indent.size())) text += indent + line + "\n";
}

std::string method_text(const Method& m) {
  std::string text = fmt::format("{}: {}\n", m.name, m.title);
  add_wrapped(text, "    ", m.about);
  for (const std::string& line : {traits_of(m), conditions_of(m)})
    if (!line.empty()) add_wrapped(text, "    ", line);
  for (const Parameter& parameter : m.parameters) {
    Method only{.name = m.name, .title = {}, .about = {}, .parameters = {parameter}};
    add_wrapped(text, "      ", fmt::format("{}: {}", settings_text(only), parameter.about));
  }
  if (m.all_options) add_wrapped(text, "      ", "its settings are the options of fwsr select");
  return text;
}

}  // namespace

int run_methods(int argc, const char* const* argv) {
  std::string name;
  CLI::App app(
      "The methods that fwsr select --method and fwsr compare --methods understand, with\n"
      "their settings and what these are when nobody says.\n",
      "fwsr methods");
  prepare(app);
  app.add_option("NAME", name, "only this one")->type_name("")->group("What to show");
  app.footer("Examples:\n  fwsr methods\n  fwsr methods smrs\n");
  if (!parse(app, argc, argv)) return 0;
  std::string text;
  if (!name.empty()) {
    text = method_text(*parse_method(name, {}, 0).method);
  } else {
    for (const Method& m : methods()) text += method_text(m) + "\n";
    text.pop_back();
  }
  write_result("", [&](std::ostream& out) { out << text; });
  return 0;
}

}  // namespace fwsr::app
