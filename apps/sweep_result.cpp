#include "apps/sweep_result.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/summary.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/solver/plan_time.hpp"

namespace fwsr::app {

namespace {

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

SweepRow row_of(const SelectResult& setting) {
  SweepRow row{.alpha = setting.request.options.alpha,
               .eta = setting.request.options.eta,
               .status = status_of(setting),
               .error = {}};
  for (const ClassSelection& part : setting.parts) {
    const Selection& s = part.selection;
    row.exemplars += static_cast<Index>(s.exemplars.size());
    row.steps += static_cast<Index>(s.trace.size());
    row.f_at_zero += s.f_at_zero;
    row.f += s.certificate ? s.certificate->f : s.trace.empty() ? s.f_at_zero : s.trace.back().f;
    row.gap += s.certificate ? s.certificate->gap : s.trace.empty() ? 0.0 : s.trace.back().gap;
    if (s.certificate)
      row.error = std::max(row.error.value_or(0.0), s.certificate->reconstruction_error);
    row.seconds += s.seconds.setup + s.seconds.steps + s.seconds.certificate;
  }
  return row;
}

}  // namespace

std::vector<SweepRow> rows_of_sweep(const SweepResult& result) {
  std::vector<SweepRow> rows;
  for (const SelectResult& setting : result.settings) rows.push_back(row_of(setting));
  return rows;
}

std::optional<std::size_t> best_of(const std::vector<SweepRow>& rows) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].error && (!best || *rows[i].error < *rows[*best].error)) best = i;
  return best;
}

std::string sweep_table(const SweepResult& result) {
  const std::vector<SweepRow> rows = rows_of_sweep(result);
  const auto best = best_of(rows);
  const char* layout = "{:1} {:>10} {:>10}  {:<17} {:>9} {:>7} {:>10} {:>10} {:>10}\n";
  std::string text = fmt::format(fmt::runtime(layout), "", "alpha",
                                 result.options.eta_relative ? "eta (rel.)" : "eta", "status",
                                 "exemplars", "steps", "f/f(0)", "gap/f(0)", "error");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& r = rows[i];
    text +=
        fmt::format(fmt::runtime(layout), best && *best == i ? "*" : "", text_of(r.alpha),
                    fmt::format("{}", r.eta), name_of(r.status), r.exemplars, r.steps,
                    fmt::format("{:.4g}", share(r.f, r.f_at_zero)),
                    std::isfinite(r.gap) ? fmt::format("{:.3g}", share(r.gap, r.f_at_zero)) : "-",
                    r.error ? fmt::format("{:.4g}", *r.error) : "-");
  }
  const Seconds& s = result.seconds;
  text += fmt::format("{} in {}", counted(static_cast<Index>(rows.size()), "setting"),
                      format_seconds(s.read + s.setup + s.steps + s.certificate));
  if (best)
    text += fmt::format("; * has the smallest {}reconstruction error",
                        result.per_class ? "largest " : "");
  return text + "\n";
}

namespace {

/// A value as a field of a table; empty where it does not exist.
template <class T>
std::string field_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return name_of(value);
  else if constexpr (std::is_same_v<T, NumberOrAuto>)
    return text_of(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::isfinite(value) ? fmt::format("{}", value) : "";
  else
    return fmt::format("{}", value);
}
template <class T>
std::string field_of(const std::optional<T>& value) {
  return value ? field_of(*value) : "";
}

void write_sweep_csv(std::ostream& out, const SweepResult& result, const WriteStyle&) {
  const std::vector<SweepRow> rows = rows_of_sweep(result);
  const auto best = best_of(rows);
  const SweepRow any;
  describe(any, [&](const char* name, const auto&, const char*) { out << name << ','; });
  out << "best,seconds,picks\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    describe(rows[i],
             [&](const char*, const auto& value, const char*) { out << field_of(value) << ','; });
    out << fmt::format("{},{:.6f},", best && *best == i ? "yes" : "no", rows[i].seconds);
    const char* between = "";
    for (const Pick& pick : picks_of(result.settings[i])) {
      out << between << pick.index;
      between = " ";
    }
    out << '\n';
  }
}

}  // namespace

Json sweep_asked_json(const SweepResult& result) {
  Json json = json_of(result.options);
  for (const char* key : {"alpha", "beta", "eta"}) json.erase(key);
  json["exemplars"] = json_of(result.count);
  json["alphas"] = Json::array();
  for (const NumberOrAuto& alpha : result.alphas) json["alphas"].push_back(json_of(alpha));
  json["etas"] = result.etas;
  json["per_class"] = result.per_class;
  return json;
}

namespace {

Json sweep_json(const SweepResult& result) {
  const std::vector<SweepRow> rows = rows_of_sweep(result);
  const auto best = best_of(rows);
  Json json = {{"options", sweep_asked_json(result)}, {"data", data_json(result.data)}};
  json["best"] = best ? Json(*best) : Json();
  json["settings"] = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SweepRow& r = rows[i];
    const SelectResult& setting = result.settings[i];
    // A run has an eta and a list of exemplars itself.
    Json one = {{"setting", {{"alpha", json_of(r.alpha)}, {"eta", r.eta}}}};
    describe(r, AddFields{one});
    for (const char* key : {"alpha", "eta"}) one.erase(key);
    if (!result.per_class) one["plan"] = json_of(setting.parts.front().selection.plan);
    add_selection(one, setting);
    one["seconds"] = r.seconds;
    json["settings"].push_back(std::move(one));
  }
  json["seconds"] = {{"read", result.seconds.read}};
  describe(result.seconds, AddFields{json["seconds"]});
  json["threads"] = result.threads;
  json["peak_memory_bytes"] = peak_memory();
  add_version(json);
  return json;
}

void write_sweep_json(std::ostream& out, const SweepResult& result, const WriteStyle&) {
  write_json(out, sweep_json(result));
}

}  // namespace

const Writers<SweepResult>& sweep_writers() {
  static const Writers<SweepResult> table = {{{".csv", "CSV"}, write_sweep_csv},
                                             {{".json", "JSON"}, write_sweep_json}};
  return table;
}

std::string sweep_warnings(const SweepResult& result, bool colour) {
  std::vector<std::pair<std::string, Index>> said;  // in the order of first saying
  for (const SelectResult& setting : result.settings)
    for (const std::string& warning : warnings_of(setting)) {
      const auto known = std::find_if(said.begin(), said.end(),
                                      [&](const auto& pair) { return pair.first == warning; });
      if (known == said.end())
        said.emplace_back(warning, 1);
      else
        ++known->second;
    }
  const char* word = colour ? "\033[33mwarning\033[0m" : "warning";
  std::string text;
  for (const auto& [warning, times] : said)
    text += fmt::format("fwsr: {}: {}: {}\n", word, counted(times, "setting"), shown(warning));
  return text;
}

std::string sweep_plan_text(const SweepPlan& plan) {
  Plan all = plan.each;
  all.memory_bytes = plan.memory_bytes;
  return fmt::format(
             "{:<12}{}{}\n{:<12}about {} for all settings\n{:<12}{}\n", "settings", plan.settings,
             plan.at_once < plan.settings ? fmt::format(", {} at a time", plan.at_once) : "", "all",
             words_for_seconds(estimated_seconds(plan)), "shared", plan.shared) +
         plan_text(all);
}

Json sweep_plan_json(const SweepPlan& plan) {
  Json json = json_of(plan);
  json["seconds"] = estimated_seconds(plan);
  json["each"] = timed_plan_json(plan.each);
  return json;
}

}  // namespace fwsr::app
