#include "apps/compare_result.hpp"

#include <cmath>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/method_argument.hpp"
#include "apps/text.hpp"
#include "fwsr/data/write.hpp"
#include "fwsr/methods/compare_table.hpp"
#include "fwsr/methods/settings.hpp"

namespace fwsr::app {

namespace {

/// "1797 points of 64 features, as they are; k = 20".
std::string header_of(const CompareResult& result) {
  const PointsView points = result.data.view();
  const SelectOptions& o = result.options;
  std::string how;
  if (o.scale != Scale::none) how += fmt::format(", scale {}", name_of(o.scale));
  if (o.center && *o.center != Center::none) how += fmt::format(", center {}", name_of(*o.center));
  return fmt::format("{} of {}{}; k = {}{}\n", counted(rows_of(points), "point"),
                     counted(cols_of(points), "feature"), how.empty() ? ", as they are" : how,
                     shown(result.count.text), result.per_class ? " of each class" : "");
}

}  // namespace

std::string compare_table(const CompareResult& result) {
  std::vector<TableLine> lines;
  for (const Comparison& row : result.rows) {
    TableLine line{.name = shown(row.name) + (row.device == "cpu" ? "" : " (" + row.device + ")"),
                   .outcome = row.outcome};
    for (const Measure& m : measures()) line.spreads.push_back(spread_of(row, m));
    lines.push_back(std::move(line));
  }
  return header_of(result) + comparison_table(lines);
}

namespace {

void write_compare_csv(std::ostream& out, const CompareResult& result, const WriteStyle&) {
  out << "method,outcome,exemplars,runs";
  for (const Measure& m : measures()) out << ',' << m.name << ',' << m.name << "_deviation";
  out << ",picks\n";
  const auto field = [](double v) { return std::isfinite(v) ? fmt::format(",{}", v) : ","; };
  for (const Comparison& row : result.rows) {
    out << csv_field(row.name)
        << fmt::format(",{},{},{}", name_of(row.outcome),
                       row.trials.empty() ? 0 : row.trials.front().exemplars.size(),
                       row.trials.size());
    for (const Measure& m : measures()) {
      const Spread spread = spread_of(row, m);
      out << field(spread.mean) << field(spread.deviation);
    }
    out << ',';
    if (!row.trials.empty()) out << fmt::format("{}", fmt::join(row.trials.front().exemplars, " "));
    out << '\n';
  }
}

Json compare_json(const CompareResult& result) {
  Json json = {{"data", data_json(result.data)}};
  json["options"] = {
      {"exemplars", json_of(result.count)},
      {"per_class", result.per_class},
      {"repeats", result.compare.repeats},
      {"time_limit", result.compare.time_limit ? Json(*result.compare.time_limit) : Json()}};
  const Json asked = json_of(result.options);
  for (const auto& [name, value] : asked.items())
    if (is_compare_option(name)) json["options"][name] = value;
  json["methods"] = Json::array();
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const Comparison& row = result.rows[i];
    const Request& request = *result.contestants[i].request;
    Json one = json_of(row);
    if (row.reason.empty()) one["reason"] = nullptr;
    one["method"] = request.method->name;
    one["settings"] = settings_json(request);
    one["seed"] = request.seed;
    one["measures"] = Json::object();
    for (const Measure& m : measures()) {
      const Spread spread = spread_of(row, m);
      one["measures"][m.name] = {{"mean", json_of(spread.mean)},
                                 {"deviation", json_of(spread.deviation)}};
    }
    one["runs"] = Json::array();
    for (const Trial& t : row.trials) {
      Json run = {{"exemplars", t.exemplars}};
      for (const Measure& m : measures()) run[m.name] = json_of(m.of(t));
      one["runs"].push_back(std::move(run));
    }
    json["methods"].push_back(std::move(one));
  }
  json["threads"] = result.threads;
  add_version(json);
  return json;
}

void write_compare_json(std::ostream& out, const CompareResult& result, const WriteStyle&) {
  write_json(out, compare_json(result));
}

}  // namespace

const Writers<CompareResult>& compare_writers() {
  static const Writers<CompareResult> table = {{{".csv", "CSV"}, write_compare_csv},
                                               {{".json", "JSON"}, write_compare_json}};
  return table;
}

std::string compare_notes(const CompareResult& result, bool colour) {
  const char* word = colour ? "\033[33mwarning\033[0m" : "warning";
  std::string text;
  for (const Comparison& row : result.rows) {
    if (row.outcome != Comparison::Outcome::done)
      text += fmt::format("fwsr: {} has no answer: {}\n", shown(row.name), shown(row.reason));
    for (const std::string& warning : row.warnings)
      text += fmt::format("fwsr: {}: {}: {}\n", word, shown(row.name), shown(warning));
  }
  return text;
}

}  // namespace fwsr::app
