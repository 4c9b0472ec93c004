// fwsr inspect: what a data set is like, and what select would do with it.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/class_counts.hpp"
#include "apps/command.hpp"
#include "apps/data_arguments.hpp"
#include "apps/destination.hpp"
#include "apps/file_fault.hpp"
#include "apps/result_json.hpp"
#include "apps/statistics.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/methods/methods.hpp"

namespace fwsr::app {

namespace {

struct InspectArguments {
  DataArguments data;
  std::string exemplars;
  std::optional<ExemplarCount> count;  // what -k means, where it is given
  bool json = false;
};

/// What select would do by default: a plan, or the sentence with which it would refuse.
struct Outlook {
  std::optional<Plan> plan;
  std::string refusal;
  Index exemplars = 0;
};

Outlook look_ahead(const InspectArguments& a, const Dataset& data, const Statistics& s) {
  SelectOptions options;
  options.threads = threads_of(a.data);
  options.exemplars = a.count ? a.count->number : std::min<Index>(10, s.points);
  if (s.first_not_finite) return {std::nullopt, "some numbers are not finite", 0};
  try {
    return {plan(data.view(), options, {.name = default_method}), "", options.exemplars};
  } catch (const Error& e) {
    return {std::nullopt, e.what(), 0};
  }
}

Json inspect_json(const Dataset& data, const Statistics& s, const Outlook& outlook) {
  Json json = {{"data", data_json(data)}, {"sparse", is_sparse(data.view())},
               {"entries", s.entries},    {"bytes", s.bytes},
               {"zeros", s.zeros},        {"min", json_of(s.min)},
               {"max", json_of(s.max)},   {"mean", json_of(s.mean)},
               {"nan", s.not_a_number},   {"infinite", s.infinite}};
  if (s.first_not_finite)
    json["first_not_finite"] = {{"point", s.first_not_finite->point},
                                {"feature", s.first_not_finite->feature}};
  json["constant_features"] = s.constant_features;
  json["zero_points"] = s.zero_points;
  json["duplicates"] = s.duplicates;
  if (s.first_duplicate)
    json["first_duplicate"] = {{"point", s.first_duplicate->point},
                               {"equals", s.first_duplicate->equals}};
  json["norms"] = {{"min", json_of(s.norm_min)},
                   {"median", json_of(s.norm_median)},
                   {"max", json_of(s.norm_max)},
                   {"heavy_tailed", s.heavy_tailed}};
  if (!data.labels.empty()) {
    json["classes"] = Json::array();
    for (const LabelCount& c : count_labels(data.labels))
      json["classes"].push_back({{"class", c.name}, {"points", c.points}});
  }
  json["plan"] = outlook.plan ? timed_plan_json(*outlook.plan) : Json();
  if (!outlook.plan) json["refused"] = outlook.refusal;
  add_version(json);
  return json;
}

std::string line(std::string_view name, const std::string& text) {
  return fmt::format("{:<12}{}\n", name, text);
}

std::string position_text(const Dataset& data, const Position& p) {
  std::string text = fmt::format("point {}", p.point);
  if (!data.lines.empty())
    text += fmt::format(" (line {})", data.lines[static_cast<std::size_t>(p.point)]);
  text += fmt::format(", feature {}", p.feature);
  if (!data.columns.empty())
    text += fmt::format(" ({})", in_quotes(data.columns[static_cast<std::size_t>(p.feature)]));
  return text;
}

/// What is odd about the points, one line each; nothing when all is well.
std::string oddities_text(const Dataset& data, const Statistics& s) {
  std::string text;
  if (s.first_not_finite)
    text += line("not finite",
                 fmt::format("{} NaN and {} infinite, the first at {}; select refuses "
                             "such data",
                             s.not_a_number, s.infinite, position_text(data, *s.first_not_finite)));
  if (!s.constant_features.empty()) {
    std::vector<std::string> names;
    for (const Index j : s.constant_features)
      names.push_back(data.columns.empty() ? fmt::format("{}", j)
                                           : in_quotes(data.columns[static_cast<std::size_t>(j)]));
    text +=
        line("constant", fmt::format("{}: {}", counted(static_cast<Index>(names.size()), "feature"),
                                     listed(names, 8)));
  }
  if (s.zero_points > 0)
    text += line("zero", fmt::format("{} with nothing but zeros", counted(s.zero_points, "point")));
  if (s.first_duplicate)
    text += line("duplicates", fmt::format("{} equal to an earlier one, the first is point {} = "
                                           "point {}",
                                           counted(s.duplicates, "point"), s.first_duplicate->point,
                                           s.first_duplicate->equals));
  if (s.heavy_tailed)
    text +=
        line("hint",
             "a few points are far larger than most, and the linear kernel would choose them: with "
             "sparse points try --scale unit or --kernel rbf, with --method fwsr --scale unit");
  return text;
}

std::string inspect_text(const Dataset& data, const Statistics& s, const Outlook& outlook) {
  std::string text =
      line("data", fmt::format("{} ({}, {})", shown(data.name), data.format, shown(data.type)));
  text += line("shape", fmt::format("{} of {}, {}", counted(s.points, "point"),
                                    counted(s.features, "feature"),
                                    format_bytes(static_cast<double>(s.bytes))));
  text += line("zeros",
               fmt::format("{:.1f} % of the numbers{}", 100 * s.zeros,
                           is_sparse(data.view()) ? fmt::format("; {} stored (sparse)", s.entries)
                                                  : std::string()));
  if (s.min)
    text += line("range", fmt::format("{:.6g} to {:.6g}, mean {:.6g}", *s.min, *s.max, *s.mean));
  if (s.norm_min)
    text += line("norms", fmt::format("{:.6g} to {:.6g}, median {:.6g}", *s.norm_min, *s.norm_max,
                                      *s.norm_median));
  text += oddities_text(data, s);
  if (!data.labels.empty()) {
    std::vector<std::string> names;
    for (const LabelCount& c : count_labels(data.labels))
      names.push_back(fmt::format("{} ({})", in_quotes(c.name, 30), c.points));
    text += line("classes", fmt::format("{}: {}", names.size(), listed(names)));
  }
  if (data.table) text += line("table", shown(describe(*data.table)));
  for (const std::string& note : data.notes) text += line("note", shown(note));
  if (!outlook.plan) return text + line("select", "would refuse: " + shown(outlook.refusal));
  return text +
         fmt::format("\nWhat fwsr select would do by default with -k {}:\n", outlook.exemplars) +
         plan_text(*outlook.plan);
}

constexpr const char* examples =
    "Examples:\n"
    "  fwsr inspect measurements.csv --label-column species\n"
    "  fwsr inspect embeddings.npy -k 100 --json\n";

}  // namespace

int run_inspect(int argc, const char* const* argv) {
  InspectArguments a;
  CLI::App app("Look at a data set before choosing from it. Points and features count from 0.\n",
               "fwsr inspect");
  prepare(app);
  add_data_arguments(app, a.data);
  app.add_option("-k,--exemplars", a.exemplars, "plan for this many exemplars (default 10)")
      ->type_name("N")
      ->group("Output");
  app.add_flag("--json", a.json, "the same as JSON")->group("Output");
  add_threads_argument(app, a.data);
  app.footer(examples);
  if (!parse(app, argc, argv)) return 0;
  check_data_arguments(app, a.data);
  if (!a.exemplars.empty()) a.count = parse_exemplars(a.exemplars, false);

  const Dataset data = load(a.data);
  const Statistics s = examine(data.view(), threads_of(a.data));
  const Outlook outlook = look_ahead(a, data, s);
  refuse_if_changed(data);
  write_result("", [&](std::ostream& out) {
    if (a.json) return write_json(out, inspect_json(data, s, outlook));
    out << inspect_text(data, s, outlook);
  });
  return 0;
}

}  // namespace fwsr::app
