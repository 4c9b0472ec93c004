// fwsr compare: several methods on the same data, one table of how good they are and what they took.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/compare_report.hpp"
#include "apps/compare_result.hpp"
#include "apps/data_arguments.hpp"
#include "apps/destination.hpp"
#include "apps/file_fault.hpp"
#include "apps/interrupt.hpp"
#include "apps/method_argument.hpp"
#include "apps/option_list.hpp"
#include "apps/progress.hpp"
#include "apps/run_arguments.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/methods/compare.hpp"
#include "fwsr/methods/settings.hpp"

namespace fwsr::app {

namespace {

constexpr Index most_repeats = 100'000;

struct CompareArguments : RunArguments {
  DataArguments data;
  ReportArguments report;
  SelectOptions options;
  std::string methods = default_methods;
  std::uint64_t seed = 0;
  CompareOptions compare;
  const Writer<CompareResult>* write = nullptr;
};

void add_arguments(CLI::App& app, CompareArguments& a) {
  add_exemplars_arguments(app, a);
  app.add_option(
         "--methods", a.methods,
         fmt::format("which, with their settings, as in fwsr:alpha=5,smrs:alpha=20,random; all is "
                     "every method that fwsr methods lists (default {})",
                     default_methods))
      ->type_name("A,B,...")
      ->group("What to choose");
  add_seed_argument(app, a.seed);
  app.add_option_function<std::string>(
         "--repeats",
         [&a](const std::string& text) {
           read_value("--repeats", text, a.compare.repeats);
           if (a.compare.repeats < 1 || a.compare.repeats > most_repeats)
             throw UsageError(fmt::format("--repeats must be from 1 to {}", most_repeats));
         },
         "runs of every method that draws at random, with seeds one after the other; the table "
         "shows mean and standard deviation (default 20)")
      ->type_name("N")
      ->group("What to choose");
  app.add_option_function<std::string>(
         "--time-limit",
         [&a](const std::string& text) {
           double seconds = 0;
           read_value("--time-limit", text, seconds);
           if (!(seconds > 0))
             throw UsageError("--time-limit must be a positive number of seconds");
           a.compare.time_limit = seconds;
         },
         "seconds that one run may take: methods that would take longer are not run, or stopped, "
         "and listed as such")
      ->type_name("SECONDS")
      ->group("What to choose");
  add_data_arguments(app, a.data);
  std::vector<std::string_view> without;
  const SelectOptions any;
  describe(any, [&](const char* name, const auto&, const char*) {
    if (!is_compare_option(name)) without.push_back(name);
  });
  add_select_options(app, a.options, without);
  app.add_option("-o,--output", a.output,
                 "write one line per method here: CSV, or JSON when the name ends in .json; - is "
                 "standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--json", a.json, "everything as JSON, every pick included")->group("Output");
  add_report_arguments(app, a.report, false);
  app.add_flag("--quiet", a.quiet, "no progress bar; warnings and errors are still told")
      ->group("Output");
  add_threads_argument(app, a.data);
  add_memory_argument(app, a.options, false);
  add_device_arguments(app, a.options);
}

struct Named {
  std::string name;
  bool by_name = true;  // and not by "all"
};

/// The names between commas; "all" stands for every method.
std::vector<Named> names_in(const std::string& list) {
  std::vector<Named> names;
  std::string_view rest = list;
  while (true) {
    const std::size_t end = rest.find(',');
    std::string name(rest.substr(0, end));
    std::erase(name, ' ');
    if (name.empty())
      throw UsageError(
          fmt::format("--methods {}: a name is missing; write fwsr,random", in_quotes(list)));
    if (name == "all")
      for (const Method& m : methods()) names.push_back({m.name, false});
    else
      names.push_back({name, true});
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::vector<Named> once;
  for (const Named& one : names)
    if (std::none_of(once.begin(), once.end(), [&](const Named& o) { return o.name == one.name; }))
      once.push_back(one);
  return once;
}

/// The kernel is for methods that work in the space of one; all others see the points themselves,
/// unless a kernel matrix is all there is.
SelectOptions options_of(const CompareArguments& a, const Method& method) {
  SelectOptions options = a.options;
  options.lambda = options.rho = {};  // for the judge
  if (!method.uses_rbf && options.kernel.type != KernelType::precomputed) options.kernel = {};
  return options;
}

std::vector<Contestant> contestants_of(const CompareArguments& a) {
  std::vector<Contestant> all;
  for (const Named& named : names_in(a.methods)) {
    const std::string& name = named.name;
    const Method* const method = [&]() -> const Method* {
      for (const Method& m : methods())
        if (name == m.name || name.starts_with(m.name + ":")) return &m;
      return nullptr;
    }();
    // A name that is none is refused there, with the one that was meant.
    const SelectOptions options = method ? options_of(a, *method) : a.options;
    if (method && options.kernel.type == KernelType::precomputed && !method->any_kernel &&
        !named.by_name)
      continue;  // came with "all"
    all.push_back({.name = name, .request = parse_method(name, options, a.seed)});
  }
  return all;
}

std::vector<Contestant> check_arguments(const CLI::App& app, CompareArguments& a) {
  check_data_arguments(app, a.data);
  check_device_arguments(app, a.options);
  check_exemplars(a, a.options);
  if (!a.options.center)
    a.options.center = Center::none;  // the same points for all, and for the measures
  if (app.count("--kernel") > 0 && a.options.kernel.type == KernelType::linear)
    throw UsageError(
        "--kernel is for the methods that work in the space of one; name another than linear, or "
        "leave it out for rbf");
  if (app.count("--output") > 0 && a.output.empty())
    throw UsageError("--output is given an empty name; name a file");
  a.write = &writer_of_result(compare_writers(), a.output, a.json);
  a.json = is_json(*a.write);
  a.options.threads = threads_of(a.data);
  a.compare.per_class = a.count.per_class;
  std::vector<Contestant> all = contestants_of(a);
  for (const Contestant& c : all) refuse_options_wrong_for_any_data(c.request->options);
  check_destinations({{"-o", a.output.empty() ? "-" : a.output}, {"--report", a.report.path}},
                     {a.data.path, a.data.labels});
  return all;
}

void check_against_data(const CompareArguments& a, const Dataset& data) {
  SelectOptions options = a.options;
  check_classes(a, data);
  if (a.per_class) options.exemplars = 1;
  refuse_unsuitable(options, data.view());
}

/// Every measure with its sentence, which goes on below itself.
std::string measures_text() {
  std::string text;
  for (const Measure& m : measures()) {
    std::string name = m.title;
    for (const std::string& line : wrapped(m.about, 78)) {
      text += fmt::format("  {:<13}{}\n", name, line);
      name.clear();
    }
  }
  return text;
}

std::string description() {
  return "Choose k points by several methods and put them side by side: how well the points stand "
         "for\n"
         "the data by every measure, how long it took and how much memory.\n"
         "* marks the best of each column, and what equals it to rounding. Measures:\n" +
         measures_text() +
         "Measures that are 0 to rounding (rec. error below 1e-15, MMD below 1e-7) are shown as "
         "0.\n"
         "All methods see the same points, as they are unless --center or --scale says otherwise.\n"
         "--kernel is that of k-fwsr and of the other methods that work in the space of one; all "
         "others\n"
         "see the points themselves (unless a kernel matrix is all there is).\n";
}
constexpr const char* examples =
    "Examples:\n"
    "  fwsr compare digits -k 20\n"
    "  fwsr compare embeddings.npy -k 50 --methods all --time-limit 60 -o table.csv\n"
    "  fwsr compare set.csv --label-column kind -k 5 --per-class --methods fwsr,kmedoids,random\n";

}  // namespace

int run_compare(int argc, const char* const* argv) {
  CompareArguments a;
  CLI::App app(description(), "fwsr compare");
  prepare(app);
  add_arguments(app, a);
  app.footer(examples);
  if (!parse(app, argc, argv)) return 0;
  const std::vector<Contestant> contestants = check_arguments(app, a);
  check_report_arguments(app, a.report, a.data, argc, argv);

  ProgressBar bar(a.quiet);
  bar.say("reading " + a.data.path);
  a.data.read.budget = MemoryBudget(a.options.memory);
  const Dataset data = load(a.data);
  const RowsShown shown = read_rows_shown(a.report, a.data, data);
  CompareResult result{.data = data,
                       .options = a.options,
                       .count = a.count,
                       .per_class = a.per_class,
                       .compare = a.compare,
                       .contestants = contestants,
                       .rows = {},
                       .threads = a.options.threads};
  try {
    on_data(data, [&] {
      check_against_data(a, data);
      interrupt_with_care();
      result.rows =
          compare(data.view(), data.labels, contestants, a.options, a.compare,
                  [&](const CompareProgress& p) {
                    bar.show_phase(fmt::format("{} ({} of {})", contestants[p.method].name,
                                               p.method + 1, contestants.size()),
                                   p.run);
                    refuse_if_changed(data);
                    return !interrupted();
                  });
      refuse_if_changed(data);
    });
  } catch (const fwsr::Interrupted&) {
    bar.clear();
    stop_if_interrupted();
    throw;
  }
  bar.clear();
  stop_if_interrupted();
  const bool table = a.output.empty() && !a.json;
  write_with_report(a.report, a.quiet, data,
                    [&] { return compare_report(result, a.report, shown); },
                    {a.output, [&](std::ostream& out) {
                       table ? void(out << compare_table(result)) : a.write->write(out, result, {});
                     }});
  if (!table && !a.quiet) write_stderr(compare_table(result));
  if (!a.quiet) write_stderr(table_text(data));
  write_stderr(compare_notes(result, terminal_has_colour()));
  return 0;
}

}  // namespace fwsr::app
