#include "apps/conditions_arguments.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/class_counts.hpp"
#include "apps/command.hpp"
#include "apps/old_result.hpp"
#include "apps/point_lists.hpp"
#include "apps/text.hpp"
#include "fwsr/base/at.hpp"
#include "fwsr/data/join.hpp"
#include "fwsr/data/read.hpp"

namespace fwsr::app {

namespace {

constexpr const char* group = "Conditions";

/// The column of DATA as numbers: the file is read once more.
std::vector<double> numbers_in_column(const DataArguments& from, const std::string& column) {
  DataArguments own = from;
  own.read.columns = {column};
  own.read.exclude_columns.clear();
  own.read.label_column.clear();
  own.read.id_column.clear();
  own.labels.clear();
  const Dataset data = load(own);
  std::vector<double> numbers;
  std::visit(
      [&](const auto& v) {
        if constexpr (requires { v(0, 0); })
          for (Index i = 0; i < v.rows; ++i) numbers.push_back(static_cast<double>(v(i, 0)));
      },
      data.view());
  return numbers;
}

Labels labels_in_column(const DataArguments& from, const std::string& column) {
  DataArguments own = from;
  own.labels.clear();
  own.read.label_column = column;
  return load(own).labels;
}

GroupCounts counts_of(const char* option, const std::string& text) {
  if (text.empty()) return {};
  const ClassCounts counts = parse_counts(text, option, 0);
  if (counts.kind == ClassCounts::Kind::each) return {.each = counts.number, .named = {}};
  return {.each = {}, .named = counts.named};
}

}  // namespace

void add_conditions_arguments(CLI::App& app, ConditionsArguments& a, bool other_sets) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->group(group);
  };
  add("--candidates", a.candidates, "FILE",
      "choose only among these points; all are represented. Rows from 0 or ids, one a line, or a "
      "result of fwsr select");
  add("--exclude", a.exclude, "FILE",
      "never choose these points; they are represented all the same");
  add("--include", a.include, "FILE",
      "these points are exemplars already: they are listed first, and -k counts the new ones");
  if (other_sets) {
    add("--include-points", a.include_points, "DATA",
        "the same for points that are not among these: another file, or the JSON result of an "
        "earlier fwsr select, whose exemplars are looked up in its data");
    add("--represent", a.represent, "DATA",
        "choose among the points of DATA those that represent this other set");
  }
  add("--weights", a.weights, "FILE", "a number for every point: what it counts, 0 or more");
  add("--weight-column", a.weight_column, "NAME", "csv: the column with the weights");
  add("--cost", a.cost, "FILE", "a number for every point: what it costs as an exemplar");
  add("--cost-column", a.cost_column, "NAME", "csv: the column with the costs");
  add("--groups", a.groups, "FILE", "the group of every point, for --at-least and --at-most");
  add("--group-column", a.group_column, "NAME", "csv: the column with the groups");
  add("--at-least", a.at_least, "N", "so many exemplars of every group, or a=2,b=1");
  add("--at-most", a.at_most, "N", "no more than so many exemplars of a group, or a=2,b=1");
}

void check_conditions_arguments(const CLI::App& app, const ConditionsArguments& a,
                                DataArguments& data) {
  refuse_both(app, "--weights", "--weight-column", "weights come from one place, give one");
  refuse_both(app, "--cost", "--cost-column", "costs come from one place, give one");
  refuse_both(app, "--groups", "--group-column", "groups come from one place, give one");
  const bool other_sets = app.get_option_no_throw("--represent") != nullptr;
  for (const char* name : {"--weights", "--weight-column"})
    if (other_sets)
      refuse_both(app, "--represent", name, "weights are of the points that are represented");
  for (const char* name : {"--represent", "--include-points"})
    if (other_sets)
      refuse_both(app, name, "--per-class", "points of another set have no class here");
  for (const char* name : {"--candidates", "--exclude", "--include", "--include-points",
                           "--represent", "--weights", "--weight-column", "--cost", "--cost-column",
                           "--groups", "--group-column", "--at-least", "--at-most"})
    if (app.get_option_no_throw(name) && app.count(name) > 0 &&
        app.get_option(name)->as<std::string>().empty())
      throw UsageError(fmt::format("{} is given an empty value; write something after it", name));
  for (const std::string* column : {&a.weight_column, &a.cost_column, &a.group_column}) {
    if (column->empty()) continue;
    if (data.path == "-")
      throw UsageError(
          "columns of weights, costs and groups are read by themselves, which standard input "
          "cannot be; put it into a file");
    if (data.read.columns.empty()) data.read.exclude_columns.push_back(*column);
  }
  (void)counts_of("--at-least", a.at_least);
  (void)counts_of("--at-most", a.at_most);
}

bool has_more_points(const ConditionsArguments& a) {
  return !a.represent.empty() || !a.include_points.empty() || lists_foreign_points(a.include);
}

MorePoints with_more_points(const ConditionsArguments& a, const DataArguments& from, Dataset data) {
  MorePoints more{.data = std::move(data)};
  more.own = rows_of(more.data.view());
  const auto add = [&](const Dataset& other) {
    more.data = must(join(more.data, other));
    return rows_of(other.view());
  };
  std::error_code code;
  const bool itself =
      a.represent == from.path || std::filesystem::equivalent(a.represent, from.path, code);
  if (!a.represent.empty() && !itself) more.represented = add(load_other(from, a.represent));
  if (const auto there = included_points(a.include, a.include_points, from))
    more.included = add(*there);
  return more;
}

Conditions for_more_points(Conditions c, const MorePoints& more) {
  const auto own = at(more.own), behind = at(more.represented + more.included);
  if (c.candidates.empty()) c.candidates.assign(own, true);
  c.candidates.resize(own + behind, false);
  if (c.weights.empty()) c.weights.assign(own, more.represented > 0 ? 0.0 : 1.0);
  c.weights.resize(own + at(more.represented), 1.0);
  c.weights.resize(own + behind, 0.0);
  if (!c.costs.empty()) c.costs.resize(own + behind, 1.0);
  for (std::size_t i = 0; i < behind && !c.groups.empty(); ++i) c.groups.add(c.groups[0]);
  for (Index i = 0; i < more.included; ++i) c.included.push_back(more.own + more.represented + i);
  return c;
}

namespace {

/// As they are wanted of a file of their own.
void check_numbers(const std::string& path, const std::optional<std::string>& problem) {
  if (problem) throw Error(fmt::format("{}: {}", path, *problem));
}

/// A point that is there already cannot be one that must not be chosen, and is there once.
void check_included(const ConditionsArguments& a, const std::vector<Index>& included,
                    const std::vector<Index>& excluded, Index n) {
  std::vector<Index> seen(at(n), -1);
  for (Index e = 0; e < std::ssize(included); ++e) {
    Index& first = seen[at(included[at(e)])];
    if (first >= 0)
      throw Error(fmt::format("{}: entry {} is row {}, as entry {} is; list it once", a.include,
                              e + 1, included[at(e)], first + 1));
    first = e;
  }
  for (const Index i : excluded)
    if (seen[at(i)] >= 0)
      throw Error(fmt::format(
          "{}: row {} is to be excluded, and {} includes it; leave it out of one of them",
          a.exclude, i, a.include));
}

Conditions read_all(const ConditionsArguments& a, const DataArguments& from, const Dataset& data) {
  Conditions c;
  const Index n = rows_of(data.view());
  if (!a.candidates.empty()) {
    c.candidates.assign(at(n), false);
    for (const Index i : read_point_list(a.candidates, data)) c.candidates[at(i)] = true;
  }
  std::vector<Index> excluded;
  if (!a.exclude.empty()) {
    excluded = read_point_list(a.exclude, data);
    if (c.candidates.empty()) c.candidates.assign(at(n), true);
    for (const Index i : excluded) c.candidates[at(i)] = false;
  }
  if (!a.include.empty()) c.included = read_point_list(a.include, data);
  check_included(a, c.included, excluded, n);
  if (!a.weights.empty()) {
    c.weights = read_numbers(a.weights, "weight", data);
    check_numbers(a.weights, find_problem_with_weights(c.weights));
  }
  if (!a.weight_column.empty()) c.weights = numbers_in_column(from, a.weight_column);
  if (!a.cost.empty()) {
    c.costs = read_numbers(a.cost, "cost", data);
    check_numbers(a.cost, find_problem_with_costs(c.costs));
  }
  if (!a.cost_column.empty()) c.costs = numbers_in_column(from, a.cost_column);
  if (!a.groups.empty()) c.groups = read_words(a.groups, "group");
  if (!a.group_column.empty()) c.groups = labels_in_column(from, a.group_column);
  if (!a.groups.empty() && static_cast<Index>(c.groups.size()) != n)
    throw Error(fmt::format("{}: holds {} but {} holds {}; give one group per point", a.groups,
                            counted(static_cast<Index>(c.groups.size()), "group"), data.name,
                            counted(n, "point")));
  c.at_least = counts_of("--at-least", a.at_least);
  c.at_most = counts_of("--at-most", a.at_most);
  return c;
}

}  // namespace

Conditions read_conditions(const ConditionsArguments& a, const DataArguments& from,
                           const Dataset& data) {
  try {
    return read_all(a, from, data);
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& e) {
    throw OtherFileError(e.what());
  }
}

const Conditions& ConditionsOnce::of(const ConditionsArguments& a, const DataArguments& from,
                                     const Dataset& data) {
  if (problem_) std::rethrow_exception(problem_);
  try {
    if (!found_) found_ = read_conditions(a, from, data);
  } catch (...) {
    problem_ = std::current_exception();
    throw;
  }
  return *found_;
}

}  // namespace fwsr::app
