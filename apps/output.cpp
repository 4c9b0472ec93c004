#include "apps/output.hpp"

#include <cmath>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/method_argument.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/data/write.hpp"

namespace fwsr::app {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// A number, or null where it is infinite: JSON has no infinity.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json trace_json(const std::vector<Step>& trace) {
  Json all = Json::array();
  for (const Step& s : trace)
    all.push_back({{"pick", s.pick},
                   {"f", s.f},
                   {"gap", finite(s.gap)},
                   {"gamma", s.gamma},
                   {"beta", finite(s.beta)},
                   {"rows", s.rows}});
  return all;
}

Json certificate_json(const std::optional<Certificate>& c) {
  if (!c) return nullptr;
  // A method that solves another problem has no f, and what goes with it.
  const bool solved = !std::isnan(c->f);
  Json json = {{"f", finite(c->f)},
               {"f_at_zero", c->f_at_zero},
               {"gap", finite(c->gap)},
               {"beta", finite(c->beta)},
               {"radius_used", finite(c->radius_used)},
               {"feasible", solved ? Json(c->feasible) : Json()},
               {"f_error", solved ? finite(c->f_error) : Json()},
               {"gap_error", solved && std::isfinite(c->gap) ? finite(c->gap_error) : Json()},
               {"trusted", solved ? Json(c->trusted) : Json()},
               {"reconstruction_error", c->reconstruction_error}};
  if (c->boolean_objective) json["boolean_objective"] = *c->boolean_objective;
  return json;
}

/// How one run went: the keys after the picks.
void add_run(Json& json, const Selection& s) {
  json["status"] = name_of(s.status);
  json["f_at_zero"] = s.f_at_zero;
  json["beta"] = finite(s.beta);
  json["eta"] = s.eta;
  json["eta_relative"] = s.eta_relative;
  json["gamma"] = s.gamma > 0 ? Json(s.gamma) : Json();
  json["kernel_rank"] = s.kernel_rank > 0 ? Json(s.kernel_rank) : Json();
  json["kernel_error"] = s.kernel_error ? Json(*s.kernel_error) : Json();
  json["trace"] = trace_json(s.trace);
  json["facts"] = Json::object();
  for (const Fact& fact : s.facts) json["facts"][fact.name] = finite(fact.value);
  json["certificate"] = certificate_json(s.certificate);
}

Json class_json(const ClassSelection& part) {
  const Selection& s = part.selection;
  Json json = {{"class", part.name},        {"points", part.points},    {"wanted", part.wanted},
               {"plan", plan_json(s.plan)}, {"exemplars", s.exemplars}, {"weights", s.weights},
               {"strength", s.strength}};
  add_run(json, s);
  json["warnings"] = s.warnings;
  json["seconds"] = {{"setup", s.seconds.setup},
                     {"steps", s.seconds.steps},
                     {"certificate", s.seconds.certificate}};
  return json;
}

Json picks_json(const SelectResult& result, const std::vector<Pick>& picks) {
  const bool filled = shows_filled(result);
  Json all = Json::array();
  for (const Pick& pick : picks) {
    Json json = {{"index", pick.index}};
    if (!result.data.ids.empty()) json["id"] = result.data.ids[at(pick.index)];
    if (!result.data.labels.empty()) json["class"] = result.data.labels[at(pick.index)];
    json["rank"] = pick.rank;
    json["weight"] = pick.weight;
    json["strength"] = pick.strength;
    if (filled) json["filled"] = pick.filled;
    all.push_back(std::move(json));
  }
  return all;
}

/// The picks as parallel lists.
void add_lists(Json& json, const SelectResult& result, const std::vector<Pick>& picks) {
  const bool filled = shows_filled(result);
  for (const char* key : {"exemplars", "weights", "strength"}) json[key] = Json::array();
  if (filled) json["filled"] = Json::array();
  if (!result.data.ids.empty()) json["ids"] = Json::array();
  if (!result.data.labels.empty()) json["classes"] = Json::array();
  for (const Pick& pick : picks) {
    json["exemplars"].push_back(pick.index);
    json["weights"].push_back(pick.weight);
    json["strength"].push_back(pick.strength);
    if (filled) json["filled"].push_back(pick.filled);
    if (!result.data.ids.empty()) json["ids"].push_back(result.data.ids[at(pick.index)]);
    if (!result.data.labels.empty()) json["classes"].push_back(result.data.labels[at(pick.index)]);
  }
}

}  // namespace

Json asked_json(const SelectResult& result) {
  Json json = options_json(result.options);
  if (find_method(result.choice.name).choose)
    for (auto option = json.begin(); option != json.end();)
      is_common_option(option.key()) ? void(++option) : void(option = json.erase(option));
  const auto number = parse_whole(result.exemplars);
  json["exemplars"] = number ? Json(*number) : Json(result.exemplars);
  json["per_class"] = result.per_class;
  json["method"] = result.choice.name;
  json["settings"] = settings_json(result.choice);
  json["seed"] = result.choice.seed;
  return json;
}

namespace {

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

Json plan_json(const Plan& plan) {
  return {{"method", plan.method},
          {"form", plan.form == FormKind::none ? Json() : Json(name_of(plan.form))},
          {"kernel_by", plan.kernel_by == KernelBy::none ? Json() : Json(name_of(plan.kernel_by))},
          {"why", plan.why},
          {"points", plan.points},
          {"features", plan.features},
          {"passes", plan.passes},
          {"memory_bytes", plan.memory_bytes},
          {"data_bytes", plan.data_bytes},
          {"memory_per_thread", plan.memory_per_thread},
          {"setup_flops", plan.setup_flops},
          {"step_flops", plan.step_flops},
          {"notes", plan.notes},
          {"threads", plan.threads}};
}

Json timed_plan_json(const Plan& plan) {
  const Seconds s = estimated(plan);
  Json json = plan_json(plan);
  json["seconds"] = {{"all", estimated_seconds(plan)},
                     {"setup", s.setup},
                     {"steps", s.steps},
                     {"certificate", s.certificate}};
  return json;
}

void add_selection(Json& json, const SelectResult& result) {
  const std::vector<Pick> picks = picks_of(result);
  add_lists(json, result, picks);
  json["picks"] = picks_json(result, picks);
  if (result.per_class) {
    json["status"] = name_of(status_of(result));
    json["per_class"] = Json::array();
    for (const ClassSelection& part : result.parts) json["per_class"].push_back(class_json(part));
  } else {
    add_run(json, result.parts.front().selection);
  }
  if (result.options.assignment) json["assignment"] = assignment_of(result);
  json["warnings"] = warnings_of(result);
}

Json result_json(const SelectResult& result) {
  Json json = Json::object();
  json["options"] = asked_json(result);
  json["data"] = data_json(result.data);
  if (!result.per_class) json["plan"] = plan_json(result.parts.front().selection.plan);
  add_selection(json, result);
  const Seconds& s = result.seconds;
  json["seconds"] = {{"read", s.read},
                     {"setup", s.setup},
                     {"steps", s.steps},
                     {"certificate", s.certificate},
                     {"write", s.write}};
  json["threads"] = result.threads;
  json["peak_memory_bytes"] = peak_memory();
  json["version"] = version_number();
  return json;
}

void write_json(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_csv(std::ostream& out, const SelectResult& result, bool defuse) {
  const bool ids = !result.data.ids.empty(), classes = !result.data.labels.empty();
  const bool filled = shows_filled(result);
  out << "rank,index" << (ids ? ",id" : "") << (classes ? ",class" : "") << ",weight,strength"
      << (filled ? ",filled" : "") << '\n';
  for (const Pick& pick : picks_of(result)) {
    out << fmt::format("{},{}", pick.rank, pick.index);
    if (ids) out << ',' << csv_field(result.data.ids[at(pick.index)], defuse);
    if (classes) out << ',' << csv_field(result.data.labels[at(pick.index)], defuse);
    out << fmt::format(",{},{}", pick.weight, pick.strength);
    if (filled) out << ',' << (pick.filled ? "yes" : "no");
    out << '\n';
  }
}

void write_codes(std::ostream& out, const SelectResult& result) {
  const Index points = rows_of(result.data.view());
  const auto columns = static_cast<Index>(picks_of(result).size());
  const std::vector<double> laid_out =
      result.per_class ? class_codes_of(result) : std::vector<double>();
  const std::vector<double>& codes =
      result.per_class ? laid_out : result.parts.front().selection.codes;
  write_npy(out, MatrixView<const double>{codes.data(), points, columns, columns});
}

namespace {

void write_assignment_csv(std::ostream& out, const SelectResult& result, bool defuse) {
  const std::vector<Pick> picks = picks_of(result);
  const bool ids = !result.data.ids.empty();
  const std::vector<Index> assignment = assignment_of(result);
  out << "index" << (ids ? ",id" : "") << ",position,exemplar\n";
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    out << i;
    if (ids) out << ',' << csv_field(result.data.ids[i], defuse);
    const Index position = assignment[i];
    out << ',' << position << ',' << (position < 0 ? -1 : picks[at(position)].index) << '\n';
  }
}

}  // namespace

void write_assignment(std::ostream& out, const SelectResult& result, bool csv, bool defuse) {
  if (csv) return write_assignment_csv(out, result, defuse);
  const std::vector<Index> all = assignment_of(result);
  const std::vector<std::int64_t> numbers(all.begin(), all.end());
  write_npy(out, std::span<const std::int64_t>(numbers));
}

}  // namespace fwsr::app
