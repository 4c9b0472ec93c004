// fwsr sweep: a selection for every setting of a grid, and a table of how good each one is.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/command.hpp"
#include "apps/compare_report.hpp"
#include "apps/conditions_arguments.hpp"
#include "apps/data_arguments.hpp"
#include "apps/destination.hpp"
#include "apps/file_fault.hpp"
#include "apps/interrupt.hpp"
#include "apps/machines.hpp"
#include "apps/option_list.hpp"
#include "apps/progress.hpp"
#include "apps/run_arguments.hpp"
#include "apps/summary.hpp"
#include "apps/sweep_result.hpp"
#include "apps/text.hpp"
#include "fwsr/solver/plan_time.hpp"

namespace fwsr::app {

namespace {

struct SweepArguments : RunArguments {
  DataArguments data;
  ConditionsArguments conditions;
  ReportArguments report;
  SelectOptions options;
  std::vector<NumberOrAuto> alphas;
  std::vector<double> etas;
  std::deque<Request> requests;  // of every setting, once all was checked
  const Writer<SweepResult>* write = nullptr;
};

/// "0.5,1,2" as numbers, or also auto.
template <class Number>
std::vector<Number> parse_list(const std::string& flag, const std::string& text) {
  std::vector<Number> values;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find(',');
    const std::string item(rest.substr(0, end));
    if (item.empty())
      throw UsageError(
          fmt::format("{} {}: a number is missing; write 0.5,1,2", flag, in_quotes(text)));
    Number value = 0;
    read_value(flag, item, value);
    if (const NumberOrAuto number = value; number && *number < 0)
      throw UsageError(fmt::format("{} {} is negative; write 0 or a positive number", flag, item));
    if (std::find(values.begin(), values.end(), value) != values.end())
      throw UsageError(fmt::format("{}: {} is listed twice; list it once", flag, item));
    values.push_back(value);
    if (end == std::string_view::npos) return values;
    rest.remove_prefix(end + 1);
  }
}

void add_arguments(CLI::App& app, SweepArguments& a) {
  add_exemplars_arguments(app, a);
  const auto add_list = [&]<class Number>(const char* flag, const char* help,
                                          std::vector<Number>& list, bool relative = false) {
    app.add_option_function<std::string>(
           flag,
           [&a, flag, &list, relative](const std::string& text) {
             list = parse_list<Number>(flag, text);
             a.options.eta_relative = a.options.eta_relative || relative;
           },
           help)
        ->type_name("V,V,...")
        ->group("What to choose");
  };
  add_list("--alphas",
           "the radii to try, as alpha: beta = n / alpha; 0 is the matching-pursuit limit, auto "
           "the radius 10 k (default auto)",
           a.alphas);
  add_list("--etas", "the penalties to try for codes whose sum is not 1 (default 0)", a.etas);
  add_list("--etas-relative",
           "the same in units of the root-mean-square norm of the centred points", a.etas, true);
  add_data_arguments(app, a.data);
  add_conditions_arguments(app, a.conditions, false);
  add_select_options(app, a.options, {"alpha", "beta", "eta", "eta_relative"});
  app.add_option("-o,--output", a.output,
                 "write one line per setting here, with its picks: CSV, or JSON when the name ends "
                 "in .json; - is standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--json", a.json, "everything as JSON, every selection included")->group("Output");
  add_report_arguments(app, a.report, false);
  add_dry_run_and_quiet(app, a);
  add_threads_argument(app, a.data);
  add_memory_argument(app, a.options);
  add_device_arguments(app, a.options);
}

/// Every setting as a request, in the order of the library.
std::deque<Request> requests_of(const SweepArguments& a) {
  std::vector<NumberOrAuto> alphas = a.alphas;
  std::vector<double> etas = a.etas;
  if (alphas.empty()) alphas.emplace_back();
  if (etas.empty()) etas.push_back(0);
  if (static_cast<Index>(alphas.size() * etas.size()) > most_settings)
    throw UsageError(fmt::format("{} alphas x {} etas are more than {} settings; list fewer",
                                 alphas.size(), etas.size(), most_settings));
  std::deque<Request> all;
  for (const NumberOrAuto& alpha : alphas)
    for (const double eta : etas) {
      all.emplace_back(a.options);
      all.back().options.alpha = alpha;
      all.back().options.eta = eta;
    }
  return all;
}

/// Everything that can be refused before a file is read.
void check_arguments(const CLI::App& app, SweepArguments& a) {
  check_data_arguments(app, a.data);
  check_conditions_arguments(app, a.conditions, a.data);
  check_select_options(app);
  refuse_both(app, "--etas", "--etas-relative", "give one");
  check_exemplars(a, a.options);
  check_device_arguments(app, a.options);
  if (app.count("--output") > 0 && a.output.empty())
    throw UsageError("--output is given an empty name; name a file");
  a.write = &writer_of_result(sweep_writers(), a.output, a.json);
  a.json = is_json(*a.write);
  a.options.threads = threads_of(a.data);
  a.requests = requests_of(a);
  for (const Request& request : a.requests) refuse_options_wrong_for_any_data(request.options);
  check_destinations({{"-o", a.output.empty() ? "-" : a.output}, {"--report", a.report.path}},
                     {a.data.path, a.data.labels});
}

SweepPlans plan_of(const SweepArguments& a, const Dataset& data) {
  if (Machines* const all = machines()) {
    if (a.count.per_class)
      throw UsageError("fwsr-mpi sweeps over all points alone; leave --per-class out");
    return {.all = all->plan_sweep(data.view(), a.options, a.alphas, a.etas), .classes = {}};
  }
  if (!a.count.per_class)
    return {.all = plan_sweep(data.view(), a.options, a.alphas, a.etas), .classes = {}};
  return {.all = {},
          .classes = plan_sweep_per_class(data.view(), data.labels, *a.count.per_class, a.options,
                                          a.alphas, a.etas)};
}

void write_dry_run(const SweepArguments& a, const SweepPlans& plan, const SweepResult& result) {
  std::string text;
  Json json = {{"options", sweep_asked_json(result)}, {"data", data_json(result.data)}};
  if (a.per_class) {
    json["classes"] = Json::array();
    for (const ClassSweepPlan& c : plan.classes) {
      const ClassPlan& own = c.of_class;
      const bool work = c.sweep.settings > 0;
      json["classes"].push_back({{"class", own.name},
                                 {"points", own.members.size()},
                                 {"wanted", own.wanted},
                                 {"plan", work ? sweep_plan_json(c.sweep) : Json()}});
      text += fmt::format("class {}: {} of {}\n", in_quotes(own.name), own.wanted,
                          counted(static_cast<Index>(own.members.size()), "point"));
      text +=
          (work ? sweep_plan_text(c.sweep) : "nothing to choose: all of it is taken, or none\n") +
          std::string("\n");
    }
  } else {
    json["plan"] = sweep_plan_json(plan.all);
    text = sweep_plan_text(plan.all);
  }
  if (result.data.table)
    text += fmt::format("{:<12}{}\n", "table", shown(describe(*result.data.table)));
  for (const std::string& note : result.data.notes)
    text += fmt::format("{:<12}{}\n", "note", shown(note));
  json["threads"] = result.threads;
  add_version(json);
  write_result("", [&](std::ostream& out) { a.json ? write_json(out, json) : void(out << text); });
}

/// The work itself.
void solve(const SweepArguments& a, const SweepPlans& plan, ProgressBar& bar, SweepResult& result) {
  const PointsView points = result.data.view();
  const Clock::time_point start = Clock::now();
  std::vector<std::vector<ClassSelection>> parts;
  if (a.per_class) {
    for (ClassSweepEntry& e :
         sweep_as_planned(points, a.options, plan.classes, observer_for(bar, result.data)))
      parts.push_back(std::move(e.classes));
  } else {
    const Observer observer = observer_for(bar, result.data);
    Machines* const all = machines();
    for (SweepEntry& e : all ? all->sweep(points, a.options, plan.all, observer)
                             : sweep_as_planned(points, a.options, plan.all, observer)) {
      parts.emplace_back();
      parts.back().push_back({.name = "",
                              .points = rows_of(points),
                              .wanted = a.options.exemplars,
                              .selection = std::move(e.selection)});
    }
  }
  bar.clear();
  stop_if_interrupted();
  Seconds work;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const ClassSelection& part : parts[i]) {
      work.setup += part.selection.seconds.setup;
      work.steps += part.selection.seconds.steps;
      work.exchange += part.selection.seconds.exchange;
      work.certificate += part.selection.seconds.certificate;
    }
    result.settings.push_back({.data = result.data,
                               .request = result.requests[i],
                               .count = a.count,
                               .per_class = a.per_class,
                               .parts = std::move(parts[i]),
                               .seconds = {},
                               .threads = result.threads});
  }
  // Classes run side by side: the wall-clock time is shared out as their work was.
  const double all = work.setup + work.steps + work.exchange + work.certificate;
  const double share = a.per_class && all > 0 ? seconds_since(start) / all : 1;
  result.seconds.setup = work.setup * share;
  result.seconds.steps = work.steps * share;
  result.seconds.exchange = work.exchange * share;
  result.seconds.certificate = work.certificate * share;
}

/// Before the work begins, when it will take long.
void warn_of_long_run(const SweepPlan& plan, ProgressBar& bar) {
  if (machines()) return;  // how long that takes there is not known
  const std::string warning = warning_of_long_run(plan);
  if (warning.empty()) return;
  bar.clear();
  write_stderr(fmt::format("fwsr: {}\n", warning));
}

constexpr const char* description =
    "Choose the k points that represent a data set, for every setting of a grid of radii and\n"
    "penalties at once, and set the answers side by side. Much is shared: a grid costs far less\n"
    "than as many runs of fwsr select, and gives the same picks.\n"
    "The result is a table with one line per setting; * marks the smallest reconstruction error.\n";
constexpr const char* examples =
    "Examples:\n"
    "  fwsr sweep digits -k 20 --alphas auto,0.5,2,10 --etas-relative 0,0.3,1\n"
    "  fwsr sweep embeddings.npy -k 50 --alphas 0,1,5 -o sweep.json\n";

}  // namespace

int run_sweep(int argc, const char* const* argv) {
  SweepArguments a;
  CLI::App app(description, "fwsr sweep");
  prepare(app);
  add_arguments(app, a);
  app.footer(examples);
  if (!parse(app, argc, argv)) return 0;
  check_arguments(app, a);
  check_report_arguments(app, a.report, a.data, argc, argv);

  ProgressBar bar(a.quiet);
  const Clock::time_point start = Clock::now();
  bar.say("reading " + a.data.path);
  std::optional<SweepPlans> plan;
  ConditionsOnce conditions;
  const auto set_conditions = [&](const Dataset& d) {
    a.options.conditions = conditions.of(a.conditions, a.data, d);
    for (Request& request : a.requests) request.options.conditions = a.options.conditions;
  };
  const Dataset data = load_to_fit(a.data, a.options, [&](const Dataset& d) {
    set_conditions(d);
    plan = plan_of(a, d);
  });
  on_data(data, [&] { set_conditions(data); });
  const RowsShown shown = read_rows_shown(a.report, a.data, data);
  SweepResult result{.data = data,
                     .options = a.options,
                     .count = a.count,
                     .per_class = a.per_class,
                     .alphas = a.alphas,
                     .etas = a.etas,
                     .requests = std::move(a.requests),
                     .settings = {},
                     .seconds = {},
                     .threads = a.options.threads};
  result.seconds.read = seconds_since(start);
  on_data(data, [&] {
    check_classes(a, data);
    if (!plan) plan = plan_of(a, data);
    if (a.dry_run) return;
    interrupt_with_care();
    if (!a.quiet && !a.per_class) warn_of_long_run(plan->all, bar);
    solve(a, *plan, bar, result);
    refuse_if_changed(data);
  });
  if (a.dry_run) {
    bar.clear();
    write_dry_run(a, *plan, result);
    return 0;
  }
  const bool table = a.output.empty() && !a.json;
  write_with_report(a.report, a.quiet, data, [&] { return sweep_report(result, a.report, shown); },
                    {a.output, [&](std::ostream& out) {
                       table ? void(out << sweep_table(result)) : a.write->write(out, result, {});
                     }});
  if (!table && !a.quiet) write_stderr(sweep_table(result));
  if (!a.quiet) write_stderr(table_text(data));
  write_stderr(sweep_warnings(result, terminal_has_colour()));
  return 0;
}

}  // namespace fwsr::app
