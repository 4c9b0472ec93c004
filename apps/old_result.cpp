#include "apps/old_result.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/checksums.hpp"
#include "apps/command.hpp"
#include "apps/option_list.hpp"
#include "apps/point_lists.hpp"
#include "apps/text.hpp"
#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/data/join.hpp"
#include "fwsr/methods/methods.hpp"

namespace fwsr::app {

namespace {

std::string_view text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// A member of an object, null where it is not there.
Json member(const Json& json, const char* name) {
  return json.is_object() && json.contains(name) ? json[name] : Json();
}

std::string word(const Json& json, const char* name) {
  const Json found = member(json, name);
  return found.is_string() ? found.get<std::string>() : "";
}

Index whole(const Json& json, const char* name, Index otherwise) {
  const Json found = member(json, name);
  return found.is_number_integer() ? found.get<Index>() : otherwise;
}

template <class T>
std::vector<T> list(const Json& json, const char* name) {
  const Json found = member(json, name);
  std::vector<T> values;
  for (const Json& one : found.is_array() ? found : Json::array()) {
    if constexpr (std::is_same_v<T, Index>) {
      if (one.is_number_integer()) values.push_back(one.get<Index>());
    } else {
      if (one.is_string()) values.push_back(one.get<std::string>());
    }
  }
  return values;
}

/// As an option of the command line is written.
std::string option_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

constexpr const char* what_to_do =
    "make the result anew, or give the points themselves by fwsr select --include-points";

/// Exemplars that were looked up, against what was written of them.
void check_known(const OldResult& old, const Dataset& found, const std::vector<Index>& places) {
  if (old.checksums.size() != old.exemplars.size())
    throw Error(fmt::format("{}: does not say what its exemplars were: {}", old.file, what_to_do));
  const std::vector<std::string> now = checksums_of(found, index_range(0, rows_of(found.view())));
  for (std::size_t e = 0; e < places.size(); ++e) {
    const std::size_t place = at(places[e]);
    if (now[e] != old.checksums[place])
      throw Error(fmt::format(
          "{}: its exemplar {}, row {}, has other numbers in {} now than when it was chosen; the "
          "numbers or the order of the rows have changed: {}",
          old.file, place, old.exemplars[place],
          old.is_foreign(old.exemplars[place]) ? "the file that it was included from"
                                               : old.data.path,
          what_to_do));
  }
}

/// How a result's data was read, with the threads and the memory of today.
DataArguments as_then(const OldResult& old, const DataArguments& from) {
  DataArguments own = old.data;
  own.threads = from.threads;
  own.read.threads = from.read.threads;
  own.read.budget = from.read.budget;
  own.read.keep_going = from.read.keep_going;
  return own;
}

/// The points of a result's data, read as they were then.
Dataset data_of(const OldResult& old, const DataArguments& from) {
  if (old.data.path.empty())
    throw Error(fmt::format("{}: does not say how its data was read: {}", old.file, what_to_do));
  if (old.data.path == "-")
    throw Error(fmt::format("{}: its data came from standard input, which is gone: {}", old.file,
                            what_to_do));
  Dataset data = load(as_then(old, from));
  if (rows_of(data.view()) != old.own || cols_of(data.view()) != old.features)
    throw Error(fmt::format(
        "{}: its exemplars are of {} with {} points of {} features, and there are {} of {} now: {}",
        old.file, old.data.path, old.own, old.features, rows_of(data.view()), cols_of(data.view()),
        what_to_do));
  return data;
}

}  // namespace

Result<OldResult> read_old_result(const std::string& path) {
  const auto failure = [&] {
    return Failure{fmt::format("{}: is no result of fwsr select --json", path)};
  };
  const auto file = FileBytes::open(path);
  if (!file) return file.error();
  const std::string_view text = text_of(*file);
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') return failure();
  const Json json = Json::parse(text, nullptr, false);
  const Json data = member(json, "data");
  if (word(data, "name").empty()) return failure();
  const Json reading = member(data, "reading"), conditions = member(json, "conditions");
  OldResult old;
  old.file = path;
  old.name = word(data, "name");
  old.data.path = word(reading, "path");
  old.data.header = word(reading, "header");
  old.data.read.header = old.data.header == "yes"  ? Header::yes
                         : old.data.header == "no" ? Header::no
                                                   : Header::automatic;
  old.data.read.label_column = word(reading, "label_column");
  old.data.read.id_column = word(reading, "id_column");
  old.data.read.variable = word(reading, "variable");
  old.data.read.columns = list<std::string>(reading, "columns");
  old.data.read.exclude_columns = list<std::string>(reading, "exclude_columns");
  old.own = whole(conditions, "points", whole(data, "points", 0));
  old.features = whole(data, "features", 0);
  old.represented = whole(conditions, "represented", 0);
  old.include = word(member(conditions, "given"), "include");
  old.include_points = word(member(conditions, "given"), "include_points");
  old.exemplars = list<Index>(json, "exemplars");
  old.checksums = list<std::string>(data, "checksums");
  old.options = member(json, "options");
  old.plan = member(json, "plan");
  old.gamma = member(json, "gamma");
  return old;
}

Json reading_json(const DataArguments& a) {
  return {{"path", a.path},
          {"header", a.header},
          {"label_column", a.read.label_column},
          {"id_column", a.read.id_column},
          {"columns", a.read.columns},
          {"exclude_columns", a.read.exclude_columns},
          {"variable", a.read.variable}};
}

Dataset load_other(const DataArguments& from, const std::string& path) {
  DataArguments own = from;
  own.path = path;
  own.labels.clear();
  own.name.clear();
  return load(own);
}

bool lists_foreign_points(const std::string& list) {
  // Other lists may come through a pipe, and are read once.
  if (!list.ends_with(".json")) return false;
  const auto old = read_old_result(list);
  return old && std::any_of(old->exemplars.begin(), old->exemplars.end(),
                            [&](Index e) { return old->is_foreign(e); });
}

namespace {

enum class Which { all, foreign };

/// The exemplars of a result: first those that were points of other files, then those of its data.
Dataset exemplars_of(const OldResult& old, const DataArguments& from, Which which) {
  std::vector<Index> foreign, own;  // places in the list
  for (Index e = 0; e < std::ssize(old.exemplars); ++e)
    (old.is_foreign(old.exemplars[at(e)]) ? foreign : own).push_back(e);
  if (which == Which::foreign) own.clear();
  std::optional<Dataset> found;
  if (!foreign.empty()) {
    const auto earlier = included_points(old.include, old.include_points, as_then(old, from));
    std::vector<Index> there;
    for (const Index e : foreign) {
      there.push_back(old.exemplars[at(e)] - old.own - old.represented);
      if (!earlier || there.back() < 0 || there.back() >= rows_of(earlier->view()))
        throw Error(fmt::format(
            "{}: some of its exemplars came from {}, which has other points "
            "now: {}",
            old.file, old.include_points.empty() ? old.include : old.include_points, what_to_do));
    }
    found = must(some_points(*earlier, there));
    check_known(old, *found, foreign);
  }
  if (!own.empty() || !found) {
    const Dataset data = data_of(old, from);
    Dataset part = must(some_points(data, read_point_list(old.file, data)));
    check_known(old, part, own);
    found = found ? must(join(*found, part)) : std::move(part);
  }
  return std::move(*found);
}

}  // namespace

std::optional<Dataset> included_points(const std::string& include,
                                       const std::string& include_points,
                                       const DataArguments& from) {
  std::optional<Dataset> all;
  if (lists_foreign_points(include))
    all = exemplars_of(must(read_old_result(include)), from, Which::foreign);
  if (include_points.empty()) return all;
  const auto old = read_old_result(include_points);
  Dataset more = old ? exemplars_of(*old, from, Which::all) : load_other(from, include_points);
  return all ? must(join(*all, more)) : std::move(more);
}

namespace {

/// What a run has beside its choice: this is asked anew.
constexpr std::array of_the_run = {"exemplars", "per_class",   "method",      "settings",
                                   "seed",      "budget",      "until_error", "time_limit",
                                   "fill",      "certificate", "lambda",      "rho"};
/// What is done to the points, whatever the method.
constexpr std::array of_the_points = {"kernel", "gamma", "degree", "coef0", "center", "scale"};

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Options of which the command line has one where it has the other.
std::vector<std::string> same_as(const std::string& name) {
  for (const auto& pair : {std::array{"alpha", "beta"}, std::array{"eta", "eta_relative"},
                           std::array{"delta", "delta_absolute"}})
    if (among(pair, name)) return {pair[0], pair[1]};
  return {name};
}

bool is_given(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> names = same_as(name);
  return std::any_of(names.begin(), names.end(), [&](const std::string& one) {
    const std::string flag = flag_name(one);
    return app.get_option_no_throw(flag) && app.count(flag) > 0;
  });
}

}  // namespace

void keep_choice(const CLI::App& app, const OldResult& old, std::string& method,
                 SelectOptions& options, std::uint64_t& seed) {
  const bool same = app.count("--method") == 0;
  const std::string old_method = word(old.options, "method");
  if (same && !old_method.empty()) {
    method = old_method;
    const Json given = member(old.options, "settings");
    const Json settings = given.is_object() ? given : Json::object();
    for (const auto& [name, value] : settings.items())
      method += fmt::format(":{}={}", name, option_text(value));
    if (app.count("--seed") == 0)
      seed = member(old.options, "seed").is_number_unsigned()
                 ? member(old.options, "seed").get<std::uint64_t>()
                 : seed;
  }
  Json kept = old.options.is_object() ? old.options : Json::object();
  if (word(kept, "kernel") == auto_name) {
    // The kernel and the width that suited the old points; sparse ones find the linear one again.
    const std::string found = word(old.plan, "kernel");
    kept.erase("kernel");
    if (!found.empty() && found != "linear" && !is_given(app, "kernel")) {
      kept["kernel"] = found;
      if (old.gamma.is_number()) kept["gamma"] = old.gamma;
    }
  }
  if (word(kept, "kernel") == "precomputed")
    throw UsageError(fmt::format(
        "{}: is of a given kernel, which new points have none of; choose from their data",
        old.file));
  const std::string name_alone = method.substr(0, method.find(':'));
  const auto& table = methods();
  const auto known = std::find_if(table.begin(), table.end(),
                                  [&](const Method& m) { return m.name == name_alone; });
  if (known == table.end()) return;  // who looks at the method says so
  for (const auto& [name, value] : kept.items()) {
    if (value.is_null() || value == auto_name || among(of_the_run, name) || is_given(app, name) ||
        !takes_option(*known, name) || (!same && !among(of_the_points, name)))
      continue;
    if (name == "kernel" && known->uses_rbf && value == "linear") continue;
    if (among(std::array{"eta_relative", "delta_absolute"}, name)) {
      const std::string of = name.substr(0, name.find('_'));
      if (value == true) set_option(options, name, option_text(kept[of]), old.file + ": " + name);
    } else {
      set_option(options, name, option_text(value), old.file + ": " + name);
    }
  }
}

}  // namespace fwsr::app
