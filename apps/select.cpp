// fwsr select: the exemplars of a data set, for all points or class by class.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/checkpoint.hpp"
#include "apps/checksums.hpp"
#include "apps/command.hpp"
#include "apps/conditions_arguments.hpp"
#include "apps/data_arguments.hpp"
#include "apps/destination.hpp"
#include "apps/dry_run.hpp"
#include "apps/file_fault.hpp"
#include "apps/interrupt.hpp"
#include "apps/machines.hpp"
#include "apps/method_argument.hpp"
#include "apps/old_result.hpp"
#include "apps/option_list.hpp"
#include "apps/progress.hpp"
#include "apps/report_arguments.hpp"
#include "apps/run_arguments.hpp"
#include "apps/select_report.hpp"
#include "apps/select_writers.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/solver/plan_time.hpp"

namespace fwsr::app {

namespace {

struct SelectArguments : RunArguments {
  DataArguments data;
  ConditionsArguments conditions;
  ReportArguments report;
  CheckpointArguments checkpoint;
  SelectOptions options;
  std::string method = default_method;
  bool method_named = false;  // by the user
  std::uint64_t seed = 0;
  std::optional<Request> request;  // all of these, once they were checked
  std::string codes, assignment;
  WriteStyle style;
  // By the names of the files; null: not asked for.
  const Writer<SelectResult>* write = nullptr;
  const Writer<SelectResult>* write_codes = nullptr;
  const Writer<SelectResult>* write_assignment = nullptr;
};

void add_arguments(CLI::App& app, SelectArguments& a) {
  add_exemplars_arguments(app, a);
  add_data_arguments(app, a.data);
  app.add_option(
         "--method", a.method,
         fmt::format(
             "exchange, fwsr or k-fwsr (the paper's), or another of those that fwsr methods "
             "lists, with its settings as in smrs:alpha=20:affine=no (default {})",
             a.method))
      ->type_name("NAME")
      ->group("What to choose");
  add_seed_argument(app, a.seed);
  add_conditions_arguments(app, a.conditions);
  add_select_options(app, a.options);
  const auto add_file = [&](const char* name, std::string& path, const char* help) {
    app.add_option(name, path, help)->type_name("FILE")->group("Output");
  };
  add_file("-o,--output", a.output,
           "write the result here instead of to standard output; JSON when the name ends in .json");
  app.add_flag("--json", a.json, "everything as JSON instead of the exemplars as CSV")
      ->group("Output");
  add_file("--codes", a.codes, "also write the codes, points x exemplars, as .npy");
  add_file("--assignment", a.assignment,
           "also write for every point which exemplar stands for it, as .npy or .csv: the line of "
           "the result, counting from 0, or -1");
  app.add_flag("--quote-formulas", a.style.quote_formulas,
               "csv: an apostrophe in front of ids and classes that a spreadsheet would take for "
               "formulas (= + - @); numbers stay")
      ->group("Output");
  add_report_arguments(app, a.report, true);
  add_dry_run_and_quiet(app, a);
  add_threads_argument(app, a.data);
  add_memory_argument(app, a.options);
  add_device_arguments(app, a.options);
  add_checkpoint_arguments(app, a.checkpoint);
}

/// Everything that can be refused before a file is read.
void check_arguments(const CLI::App& app, SelectArguments& a) {
  check_data_arguments(app, a.data);
  check_conditions_arguments(app, a.conditions, a.data);
  check_select_options(app);
  check_exemplars(a, a.options);
  check_device_arguments(app, a.options);
  for (const char* name : {"--output", "--codes", "--assignment"})
    if (app.count(name) > 0 && app.get_option(name)->as<std::string>().empty())
      throw UsageError(fmt::format("{} is given an empty name; name a file", name));
  if (!a.codes.empty()) a.write_codes = &writer_of_output(codes_writers(), a.codes, "--codes");
  if (!a.assignment.empty())
    a.write_assignment = &writer_of_output(assignment_writers(), a.assignment, "--assignment");
  a.write = &writer_of_result(select_writers(), a.output, a.json);
  a.json = is_json(*a.write);
  a.options.codes = a.write_codes;
  a.options.assignment = a.write_assignment || a.report.wanted();
  a.options.threads = threads_of(a.data);
  a.method_named = app.count("--method") > 0 || a.method != default_method;
  refuse_foreign_options(app, a.method);
  a.request = parse_method(a.method, a.options, a.seed);
  refuse_options_wrong_for_any_data(a.request->options);
  check_checkpoint_arguments(app, a.checkpoint, *a.request, a.per_class);
  check_destinations({{"-o", a.output.empty() ? "-" : a.output},
                      {"--codes", a.codes},
                      {"--assignment", a.assignment},
                      {"--report", a.report.path},
                      {"--checkpoint", a.checkpoint.path}},
                     {a.data.path, a.data.labels, a.conditions.candidates, a.conditions.exclude,
                      a.conditions.include, a.conditions.include_points, a.conditions.represent,
                      a.conditions.weights, a.conditions.cost, a.conditions.groups});
}

/// The codes of all classes are laid out in one matrix, which the plans of the classes do not
/// count.
void check_room_for_codes(const SelectArguments& a, Index points, Index exemplars) {
  if (!a.options.codes) return;
  const Index bytes = checked_bytes(points, exemplars);
  const Index limit = a.options.memory > 0 ? a.options.memory : available_memory() / 10 * 8;
  if (bytes > limit)
    throw MemoryError(
        fmt::format("--codes needs {} for {} x {} numbers, more than the {} allowed; ask for fewer "
                    "exemplars or leave --codes out",
                    format_bytes(static_cast<double>(bytes)), points, exemplars,
                    format_bytes(static_cast<double>(limit))));
}

SelectPlan plan_of(const SelectArguments& a, const Dataset& data) {
  SelectPlan plan;
  if (a.count.per_class)
    plan.classes = a.request->plan_per_class(data.view(), data.labels, *a.count.per_class);
  else
    plan.all = a.request->plan(data.view());
  check_room_for_report(a.report, report_memory(data, plan, {}, a.request->options), data,
                        a.request->options);
  return plan;
}

/// Reads the conditions, and the points of other data sets behind those of `data`.
MorePoints with_conditions(SelectArguments& a, ConditionsOnce& once, Dataset data) {
  Conditions conditions;
  on_data(data, [&] { conditions = once.of(a.conditions, a.data, data); });
  if (!has_more_points(a.conditions)) {
    a.request->options.conditions = std::move(conditions);
    const Index own = rows_of(data.view());
    return {.data = std::move(data), .own = own};
  }
  if (a.per_class)
    throw UsageError("points of another set have no class here; leave --per-class out");
  MorePoints more = with_more_points(a.conditions, a.data, std::move(data));
  a.request->options.conditions = for_more_points(std::move(conditions), more);
  return more;
}

/// As observer_for, but Ctrl-C in the midst of exchanges ends these alone. `finishing`: it has.
Observer watch_exchanges(ProgressBar& bar, const Dataset& data, bool& finishing) {
  return [&bar, &finishing, plain = observer_for(bar, data)](const Progress& progress) -> Reply {
    if (plain(progress)) return true;
    const bool exchanging = progress.stage == Progress::Stage::exchange;
    if (exchanging && !finishing && interrupted_at_the_keyboard()) {
      finishing = true;
      bar.clear();
      write_stderr("fwsr: interrupted: the exchanges end here; Ctrl-C once more ends at once\n");
    }
    if (!finishing) return Reply::stop;
    if (exchanging) return Reply::finish;
    return progress.stage == Progress::Stage::certificate;  // a class that has no exemplars yet: no
  };
}

/// Whether it ended with weights; of a class that was stopped, or never begun, there are none.
bool has_ended(const ClassSelection& part) {
  return part.selection.status != Status::interrupted || !part.selection.weights.empty();
}

/// The work itself; every part with the seconds it took.
void solve(const SelectArguments& a, const SelectPlan& plan, ProgressBar& bar,
           SelectResult& result) {
  const PointsView points = result.data.view();
  const Clock::time_point start = Clock::now();
  bool finishing = false;
  const Observer observer = watch_exchanges(bar, result.data, finishing);
  if (a.per_class) {
    result.parts = a.request->run_per_class(points, plan.classes, observer);
  } else {
    Selection selection = a.request->run(points, plan.all, observer);
    result.parts.push_back({.name = "",
                            .points = rows_of(points),
                            .wanted = a.count.number,
                            .selection = std::move(selection)});
  }
  bar.clear();
  result.interrupted =
      finishing && std::all_of(result.parts.begin(), result.parts.end(), has_ended);
  if (result.interrupted) finish_after_interruption();
  stop_if_interrupted();
  // Classes run side by side: the wall-clock time is shared out as their work was.
  Seconds work;
  for (const ClassSelection& part : result.parts) {
    work.setup += part.selection.seconds.setup;
    work.steps += part.selection.seconds.steps;
    work.exchange += part.selection.seconds.exchange;
    work.certificate += part.selection.seconds.certificate;
  }
  const double all = work.setup + work.steps + work.exchange + work.certificate;
  const double share = a.per_class && all > 0 ? seconds_since(start) / all : 1;
  result.seconds.setup = work.setup * share;
  result.seconds.steps = work.steps * share;
  result.seconds.exchange = work.exchange * share;
  result.seconds.certificate = work.certificate * share;
}

/// The same, written down as it goes where that was asked for.
void solve_with_checkpoint(SelectArguments& a, const SelectPlan& plan, ProgressBar& bar,
                           SelectResult& result) {
  if (a.checkpoint.path.empty()) return solve(a, plan, bar, result);
  Checkpoint checkpoint(a.checkpoint, result);
  a.request->options.recorder = &checkpoint;
  try {
    solve(a, plan, bar, result);
    checkpoint.write();
  } catch (const Interrupted&) {
    checkpoint.write();
    throw Kept(a.checkpoint.path);
  }
  a.request->options.recorder = nullptr;
}

/// Before the work begins, when it will take long.
void warn_of_long_run(const SelectArguments& a, const SelectPlan& plan, ProgressBar& bar,
                      const Dataset& data) {
  if (machines()) return;  // how long that takes there is not known
  const std::string warning = a.per_class ? warning_of_long_run(plan.classes, a.options.threads)
                                          : a.request->warning_of_long_run(data.view(), plan.all);
  if (warning.empty()) return;
  bar.clear();
  write_stderr(fmt::format("fwsr: {}\n", warning));
}

/// The page, where one was asked for; how large it is, is told before it is written.
std::string make_page(SelectArguments& a, const RowsShown& shown, ProgressBar& bar,
                      const SelectResult& result) {
  if (!a.report.wanted()) return "";
  bar.say("making " + a.report.path);
  std::string page;
  try {
    on_data(result.data, [&] {
      page = select_report(result, a.report, shown);
      refuse_if_changed(result.data);
    });
  } catch (const fwsr::Interrupted&) {
    bar.clear();
    stop_if_interrupted();
    throw;
  }
  bar.clear();
  // The page wanted to know; other outputs have it only where they were asked for it.
  a.request->options.assignment = a.write_assignment;
  if (!a.quiet) write_stderr(report_line(a.report, page.size()));
  return page;
}

void write_all(const SelectArguments& a, const std::string& page, SelectResult& result) {
  const Clock::time_point start = Clock::now();
  std::vector<Output> outputs;
  const auto add = [&](const std::string& path, const Writer<SelectResult>* writer) {
    if (writer)
      outputs.push_back(
          {path, [&, writer](std::ostream& out) { writer->write(out, result, a.style); }});
  };
  add(a.codes, a.write_codes);
  add(a.assignment, a.write_assignment);
  if (a.report.wanted())
    outputs.push_back({a.report.path, [&](std::ostream& out) { out << page; }});
  outputs.push_back({a.output, [&](std::ostream& out) {
                       result.seconds.write = seconds_since(start);
                       a.write->write(out, result, a.style);
                     }});
  write_results(outputs);
}

constexpr const char* description =
    "Choose the k points that represent a data set.\n"
    "The result is one line per exemplar, in the order of choosing:\n"
    "  rank,index[,id][,class],weight,strength[,filled][,included]\n"
    "rank and index (the row of the point) count from 0; weight says how many points it stands "
    "for.\n";
constexpr const char* update_description =
    "Choose k more exemplars for new data, beside those that an earlier fwsr select chose.\n"
    "Those of OLD are included: they are looked up in its data, listed first, and free. The others "
    "represent\nwhat they leave of the new data, or of --represent. Method, kernel and options are "
    "those "
    "of OLD, unless others are given.\n";
constexpr const char* update_examples =
    "Examples:\n"
    "  fwsr select january.npy -k 20 -o january.json\n"
    "  fwsr update january.json february.npy -k 10 -o both.json\n";
constexpr const char* examples =
    "Examples:\n"
    "  fwsr select digits -k 20 -o picks.csv\n"
    "  fwsr select embeddings.npy --labels y.txt -k 5 --per-class --kernel rbf --json\n";

}  // namespace

namespace {

/// `update`: the first argument is the result of an earlier run.
int run(int argc, const char* const* argv, bool update) {
  SelectArguments a;
  std::string old;
  CLI::App app(update ? update_description : description, update ? "fwsr update" : "fwsr select");
  prepare(app);
  if (update) {
    app.add_option("OLD", old, "the JSON result of an earlier fwsr select");
  }
  add_arguments(app, a);
  app.footer(update ? update_examples : examples);
  if (!parse(app, argc, argv)) return 0;
  if (update) {
    if (!a.conditions.include_points.empty())
      throw UsageError("fwsr update includes the points of OLD; leave --include-points out");
    if (a.per_class)
      throw UsageError(
          "fwsr update includes points of another set, which have no class here; leave "
          "--per-class out");
    if (old.empty()) throw UsageError("OLD is missing: name the JSON result of fwsr select");
    keep_choice(app, must(read_old_result(old)), a.method, a.options, a.seed);
    a.conditions.include_points = old;
  }
  check_arguments(app, a);
  check_report_arguments(app, a.report, a.data, argc, argv);
  if (Machines* const all = machines()) a.request->elsewhere = all->chooser(*a.request);

  ProgressBar bar(a.quiet);
  const Clock::time_point start = Clock::now();
  bar.say("reading " + a.data.path);
  std::optional<SelectPlan> plan;
  ConditionsOnce conditions;
  Dataset own = load_to_fit(a.data, a.request->options, [&](const Dataset& d) {
    if (has_more_points(a.conditions)) return;  // these are not streamed
    a.request->options.conditions = conditions.of(a.conditions, a.data, d);
    plan = plan_of(a, d);
  });
  const MorePoints all = with_conditions(a, conditions, std::move(own));
  const Dataset& data = all.data;
  SelectResult result{.data = data,
                      .request = *a.request,
                      .count = a.count,
                      .method_named = a.method_named,
                      .per_class = a.per_class,
                      .parts = {},
                      .seconds = {},
                      .threads = a.options.threads,
                      .conditions = a.conditions,
                      .source = a.data,
                      .own = all.own,
                      .represented = all.represented};
  const RowsShown shown = read_rows_shown(a.report, a.data, data);
  ReportMemory page_memory;
  result.seconds.read = seconds_since(start);
  on_data(data, [&] {
    const std::vector<Index> wanted = check_classes(a, data);
    if (a.per_class)
      check_room_for_codes(a, rows_of(data.view()), std::reduce(wanted.begin(), wanted.end()));
    if (!plan) plan = plan_of(a, data);
    page_memory = report_memory(data, *plan, shown, a.request->options);
    check_room_for_report(a.report, page_memory, data, a.request->options);
    if (a.dry_run) return;
    interrupt_with_care();
    if (!a.quiet) warn_of_long_run(a, *plan, bar, data);
    solve_with_checkpoint(a, *plan, bar, result);
    if (a.json) result.checksums = checksums_of(data, exemplars_of(result));
    refuse_if_changed(data);
  });
  if (a.dry_run) {
    bar.clear();
    write_dry_run(result, *plan, a.json, report_plan(a.report, page_memory, shown));
    return 0;
  }
  const std::string page = make_page(a, shown, bar, result);
  write_all(a, page, result);
  const bool colour = terminal_has_colour();
  write_stderr(a.quiet ? warnings_text(result, colour) : summary(result, colour));
  return result.interrupted ? interrupt_exit_code() : 0;
}

}  // namespace

int run_select(int argc, const char* const* argv) {
  return run(argc, argv, false);
}

int run_update(int argc, const char* const* argv) {
  return run(argc, argv, true);
}

}  // namespace fwsr::app
