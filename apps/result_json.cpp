#include "apps/result_json.hpp"

#include <cmath>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/method_argument.hpp"
#include "apps/old_result.hpp"
#include "apps/text.hpp"
#include "fwsr/base/at.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/methods/settings.hpp"

namespace fwsr::app {

namespace {

Json class_json(const ClassSelection& part, bool filled, bool included) {
  const Selection& s = part.selection;
  Json json = {{"class", part.name}, {"points", part.points}, {"wanted", part.wanted}};
  json["plan"] = json_of(s.plan);
  describe_chosen(s, AddFields{json});
  if (!filled) json.erase("filled");
  if (!included) json.erase("included");
  describe_outcome(s, AddFields{json});
  describe_found(s, AddFound{json});
  json["warnings"] = s.warnings;
  json["seconds"] = json_of(s.seconds);
  return json;
}

Json picks_json(const SelectResult& result, const std::vector<Pick>& picks) {
  const bool filled = shows_filled(result), included = shows_included(result);
  Json all = Json::array();
  for (const Pick& pick : picks) {
    Json json = {{"index", pick.index}};
    if (!result.data.ids.empty()) json["id"] = result.data.ids[at(pick.index)];
    if (!result.data.labels.empty()) json["class"] = result.data.labels[at(pick.index)];
    json["rank"] = pick.rank;
    json["weight"] = pick.weight;
    json["strength"] = pick.strength;
    if (filled) json["filled"] = pick.filled;
    if (included) json["included"] = pick.included;
    all.push_back(std::move(json));
  }
  return all;
}

/// The picks of all parts as parallel lists.
void add_lists(Json& json, const SelectResult& result, const std::vector<Pick>& picks) {
  Selection all;
  for (const Pick& pick : picks) {
    all.exemplars.push_back(pick.index);
    all.weights.push_back(pick.weight);
    all.strength.push_back(pick.strength);
    all.filled.push_back(pick.filled);
    all.included.push_back(pick.included);
  }
  describe_chosen(all, AddFields{json});
  if (!shows_filled(result)) json.erase("filled");
  if (!shows_included(result)) json.erase("included");
  const auto add_names = [&](const char* key, const auto& names) {
    if (names.empty()) return;
    json[key] = Json::array();
    for (const Pick& pick : picks) json[key].push_back(names[at(pick.index)]);
  };
  add_names("ids", result.data.ids);
  add_names("labels", result.data.labels);
}

}  // namespace

Json asked_json(const SelectResult& result) {
  Json json = json_of(result.request.options);
  const Method& method = *result.request.method;
  for (auto option = json.begin(); option != json.end();)
    takes_option(method, option.key()) ? void(++option) : void(option = json.erase(option));
  if (method.suit && result.request.options.kernel.type == KernelType::linear)
    json["kernel"] = auto_name;  // the plan says which
  if (result.request.options.refine_suits) json["refine"] = auto_name;
  json["exemplars"] = json_of(result.count);
  json["per_class"] = result.per_class;
  json["method"] = method.name;
  json["settings"] = settings_json(result.request);
  json["seed"] = result.request.seed;
  return json;
}

namespace {

/// What was asked of the choice, in files and counts; null: nothing.
Json conditions_json(const SelectResult& result) {
  Json given = Json::object();
  describe_given(result.conditions,
                 [&](const char* name, const std::string& text) { given[name] = text; });
  if (given.empty()) return {};
  const Conditions& c = result.request.options.conditions;
  const Index all = rows_of(result.data.view());
  return {{"given", given},
          {"points", result.own},
          {"represented", result.represented},
          {"included", c.included.size()},
          {"candidates", candidate_count(c, all)},
          {"weight", weight_of_all(c, all)},
          {"groups", c.groups.empty() ? 0 : c.groups.names().size()}};
}

/// How a table of text was understood; null for other formats.
Json table_json(const std::optional<TableReading>& table) {
  if (!table) return {};
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json left_out = Json::array();
  for (const TableReading::LeftOut& c : table->left_out)
    left_out.push_back({{"column", c.column}, {"why", c.why}});
  return {{"separator", std::string(1, table->separator)},
          {"header", table->header},
          {"header_why", table->header_why},
          {"label_column", or_null(table->label_column)},
          {"id_column", or_null(table->id_column)},
          {"id_why", or_null(table->id_why)},
          {"left_out", left_out},
          {"comment_lines", table->comment_lines},
          {"blank_lines", table->blank_lines}};
}

}  // namespace

Json data_json(const Dataset& data) {
  const PointsView points = data.view();
  return {{"name", data.name},           {"format", data.format},
          {"type", data.type},           {"points", rows_of(points)},
          {"features", cols_of(points)}, {"table", table_json(data.table)},
          {"notes", data.notes}};
}

Json timed_plan_json(const Plan& plan) {
  Json json = json_of(plan);
  const Seconds parts = estimated(plan);
  json["seconds"] = {{"all", estimated_seconds(plan)}};
  describe(parts, AddFields{json["seconds"]});
  return json;
}

void add_selection(Json& json, const SelectResult& result) {
  const std::vector<Pick> picks = picks_of(result);
  add_lists(json, result, picks);
  json["picks"] = picks_json(result, picks);
  if (result.per_class) {
    json["status"] = name_of(status_of(result));
    json["classes"] = Json::array();
    for (const ClassSelection& part : result.parts)
      json["classes"].push_back(class_json(part, shows_filled(result), shows_included(result)));
  } else {
    describe_outcome(result.parts.front().selection, AddFields{json});
    describe_found(result.parts.front().selection, AddFound{json});
  }
  if (result.request.options.assignment) json["assignment"] = assignment_of(result);
  json["warnings"] = warnings_of(result);
}

Json result_json(const SelectResult& result) {
  Json json = Json::object();
  json["options"] = asked_json(result);
  json["data"] = data_json(result.data);
  json["data"]["reading"] = reading_json(result.source);
  json["data"]["checksums"] = result.checksums;
  json["conditions"] = conditions_json(result);
  if (!result.per_class) json["plan"] = json_of(result.parts.front().selection.plan);
  add_selection(json, result);
  json["seconds"] = {{"read", result.seconds.read}};
  describe(result.seconds, AddFields{json["seconds"]});
  json["seconds"]["write"] = result.seconds.write;
  json["threads"] = result.threads;
  json["peak_memory_bytes"] = peak_memory();
  add_version(json);
  return json;
}

void add_version(Json& json) {
  json["schema"] = result_schema;
  json["version"] = version_number();
}

void write_json(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace fwsr::app
