#include "apps/dry_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/destination.hpp"
#include "apps/result_json.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr::app {

namespace {

/// False for a class that gives nothing, or all it has.
bool has_work(const ClassPlan& c) {
  return c.plan.points > 0;
}

Json dry_run_json(const SelectResult& result, const SelectPlan& plan) {
  Json json = {{"options", asked_json(result)}, {"data", data_json(result.data)}};
  if (!result.per_class) {
    json["plan"] = timed_plan_json(plan.all);
  } else {
    json["classes"] = Json::array();
    for (const ClassPlan& c : plan.classes)
      json["classes"].push_back({{"class", c.name},
                                 {"points", c.members.size()},
                                 {"wanted", c.wanted},
                                 {"plan", has_work(c) ? timed_plan_json(c.plan) : Json()}});
  }
  json["threads"] = result.threads;
  add_version(json);
  return json;
}

std::string dry_run_text(const SelectResult& result, const SelectPlan& plan) {
  std::string text;
  if (!result.per_class) text = plan_text(plan.all);
  for (const ClassPlan& c : plan.classes) {
    text += fmt::format("class {}: {} of {}\n", in_quotes(c.name), c.wanted,
                        counted(static_cast<Index>(c.members.size()), "point"));
    text += has_work(c) ? plan_text(c.plan) : "nothing to choose: all of it is taken, or none\n";
    text += "\n";
  }
  if (result.data.table)
    text += fmt::format("{:<12}{}\n", "table", shown(describe(*result.data.table)));
  for (const std::string& note : result.data.notes)
    text += fmt::format("{:<12}{}\n", "note", shown(note));
  return text;
}

}  // namespace

void write_dry_run(const SelectResult& result, const SelectPlan& plan, bool json,
                   const std::string& report) {
  std::string text = json ? "" : dry_run_text(result, plan);
  if (!report.empty()) text += fmt::format("{:<12}{}\n", "page", report);
  const Json all = json ? dry_run_json(result, plan) : Json();
  write_result("", [&](std::ostream& out) { json ? write_json(out, all) : void(out << text); });
}

}  // namespace fwsr::app
