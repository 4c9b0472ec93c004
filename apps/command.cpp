#include "apps/command.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/destination.hpp"
#include "apps/text.hpp"

namespace fwsr::app {

namespace {

constexpr std::size_t name_width = 30;
constexpr std::size_t page_width = 96;

/// CLI11's page with descriptions broken into lines.
class HelpPage : public CLI::Formatter {
 public:
  HelpPage() { label("Positionals", "Argument"); }

  std::string make_usage(const CLI::App* app, std::string) const override {
    return fmt::format("usage: {}\n", app->get_option_no_throw("DATA")
                                          ? app->get_name() + " DATA [options]"
                                      : app->get_option_no_throw("KIND")
                                          ? app->get_name() + " KIND -o FILE [options]"
                                          : app->get_name() + " [NAME]");
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    const std::string type = option->get_type_size() > 0 ? option->get_type_name() : "";
    std::string name = "  " + make_option_name(option, positional);
    for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
      name.replace(at, 1, ", ");
    if (!positional && !type.empty()) name += " " + type;
    std::string out = name;
    const auto lines = wrapped(option->get_description(), page_width - name_width);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool fits = i == 0 && name.size() + 2 <= name_width;
      if (!fits && i == 0) out += "\n";
      out += std::string(fits ? name_width - name.size() : name_width, ' ') + lines[i] + "\n";
    }
    return out;
  }
};

/// CLI11 leaves two empty lines between groups, and some at the end.
std::string help_page(const CLI::App& app) {
  std::string page = app.help();
  for (std::size_t at = 0; (at = page.find("\n\n\n")) != std::string::npos;) page.erase(at, 1);
  while (page.ends_with("\n\n")) page.pop_back();
  return page;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

[[noreturn]] void refuse_extra(const CLI::App& app) {
  const std::string extra = app.remaining().empty() ? std::string() : app.remaining().front();
  const std::string help = fmt::format("see {} --help", app.get_name());
  if (!extra.starts_with("-") || extra == "-")
    throw UsageError(fmt::format("{} is one argument too many; {}", in_quotes(extra), help));
  const std::string name = extra.substr(0, extra.find('='));
  const auto near = nearest(name, option_names(app));
  throw UsageError(fmt::format("unknown option {}; {}", in_quotes(name),
                               near ? fmt::format("did you mean {}?", *near) : help));
}

/// CLI11's sentence about a wrong number of values in our words. Its sentences begin with the name.
[[noreturn]] void refuse_mismatch(const CLI::App& app, const std::string& sentence) {
  const std::string name = sentence.substr(0, sentence.find_first_of(": "));
  if (sentence.find("received") != std::string::npos)
    throw UsageError(fmt::format("{} is given more than once; give it once", name));
  if (sentence.find("override") != std::string::npos)
    throw UsageError(fmt::format("--{} takes no value; write it alone", name));
  throw UsageError(fmt::format("{} needs a value after it; see {} --help", name, app.get_name()));
}

}  // namespace

void prepare(CLI::App& app) {
  app.formatter(std::make_shared<HelpPage>());
  app.set_help_flag();  // parse() adds it, so that it stands last
  app.option_defaults()->disable_flag_override();
}

bool parse(CLI::App& app, int argc, const char* const* argv) {
  app.set_help_flag("-h,--help", "this page")->group("Other");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_result("", [&](std::ostream& out) { out << help_page(app); });
    return false;
  } catch (const CLI::ExtrasError&) {
    refuse_extra(app);
  } catch (const CLI::ArgumentMismatch& e) {
    refuse_mismatch(app, e.what());
  } catch (const CLI::ParseError& e) {
    throw UsageError(fmt::format("{}; see {} --help", e.what(), app.get_name()));
  }
  return true;
}

void refuse_both(const CLI::App& app, const std::string& one, const std::string& other,
                 const std::string& advice) {
  const auto given = [&](const std::string& name) {
    return app.get_option_no_throw(name) && app.count(name) > 0;
  };
  if (given(one) && given(other))
    throw UsageError(fmt::format("{} and {} are both given; {}", one, other, advice));
}

}  // namespace fwsr::app
