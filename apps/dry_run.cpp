#include "apps/dry_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/class_counts.hpp"
#include "apps/command.hpp"
#include "apps/destination.hpp"
#include "apps/output.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/solver/planner.hpp"

namespace fwsr::app {

namespace {

struct ClassPlan {
  LabelCount who;
  Index wanted = 0;
  std::optional<Plan> plan;  // nothing for a class that gives none
};

/// Plans of all classes, made from sizes alone: few classes run one after the other on all threads,
/// many run side by side on one thread each.
std::vector<ClassPlan> class_plans(const SelectResult& result) {
  const std::vector<LabelCount> classes = count_labels(result.data.labels);
  const std::vector<Index> wanted = wanted_per_class(parse_class_counts(result.exemplars), classes);
  const bool side_by_side = static_cast<int>(classes.size()) >= result.threads;
  const PlanFacts all = facts_of(result.data.view(), side_by_side ? 1 : result.threads);
  std::vector<ClassPlan> plans;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    plans.push_back({classes[c], wanted[c], std::nullopt});
    if (wanted[c] == 0) continue;
    PlanFacts facts = all;
    facts.points = classes[c].points;
    if (result.options.kernel.type == KernelType::precomputed) facts.features = facts.points;
    facts.entries = all.entries / std::max<Index>(1, all.points) * facts.points;
    facts.side_by_side = side_by_side ? result.threads : 1;
    SelectOptions options = result.options;
    options.exemplars = std::min(wanted[c], facts.points);
    plans.back().plan = make_plan(facts, options);
  }
  return plans;
}

Json dry_run_json(const SelectResult& result, const std::vector<ClassPlan>& plans) {
  Json json = {{"options", asked_json(result)}, {"data", data_json(result.data)}};
  if (!result.per_class) {
    json["plan"] = plan_json(plan(result.data.view(), result.options));
  } else {
    json["per_class"] = Json::array();
    for (const ClassPlan& c : plans)
      json["per_class"].push_back({{"class", c.who.name},
                                   {"points", c.who.points},
                                   {"wanted", c.wanted},
                                   {"plan", c.plan ? plan_json(*c.plan) : Json()}});
  }
  json["threads"] = result.threads;
  json["version"] = version_number();
  return json;
}

std::string dry_run_text(const SelectResult& result, const std::vector<ClassPlan>& plans) {
  std::string text;
  if (!result.per_class) text = plan_text(plan(result.data.view(), result.options));
  for (const ClassPlan& c : plans) {
    text += fmt::format("class {}: {} of {}\n", in_quotes(c.who.name), c.wanted,
                        counted(c.who.points, "point"));
    if (c.plan) text += plan_text(*c.plan);
    text += "\n";
  }
  for (const std::string& note : result.data.notes)
    text += fmt::format("{:<12}{}\n", "note", shown(note));
  return text;
}

}  // namespace

void write_dry_run(const SelectResult& result, bool json) {
  const std::vector<ClassPlan> plans =
      result.per_class ? class_plans(result) : std::vector<ClassPlan>();
  // Made before anything is written: a plan that does not fit is an error, not half an answer.
  const std::string text = json ? "" : dry_run_text(result, plans);
  const Json all = json ? dry_run_json(result, plans) : Json();
  write_result("", [&](std::ostream& out) { json ? write_json(out, all) : void(out << text); });
}

}  // namespace fwsr::app
