#include "apps/summary.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "apps/interrupt.hpp"
#include "apps/progress.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/write_file.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/solver/plan_time.hpp"

namespace fwsr::app {

void write_stderr(std::string_view text) {
  const Clock::time_point start = Clock::now();
  try {
    write_bytes(STDERR_FILENO, text, [&] { return !interrupted() || seconds_since(start) < 0.5; });
  } catch (const Interrupted&) {  // nobody reads, and nobody waits any longer
  }
}

namespace {

std::string form_text(const Plan& plan) {
  if (plan.form == FormKind::none) return fmt::format("{}: {}", plan.method, shown(plan.why));
  return fmt::format(
      "{} form{}: {}", name_of(plan.form),
      plan.kernel_by == KernelBy::none ? "" : fmt::format(", kernel {}", name_of(plan.kernel_by)),
      shown(plan.why));
}

/// Of the first class that has something to choose.
const Plan& plan_of(const SelectResult& result) {
  for (const ClassSelection& part : result.parts)
    if (part.selection.plan.points > 0) return part.selection.plan;
  return result.parts.front().selection.plan;
}

/// Which method it was, and how to get the paper's, where nobody named one.
std::string default_text(const SelectResult& result) {
  const Plan& plan = plan_of(result);
  if (result.method_named || plan.points == 0) return "";
  return fmt::format(
      "by {}, the default: fwsr with the {} kernel, then exchange{}; --method fwsr and --method "
      "k-fwsr are the paper's",
      plan.method, name_of(plan.kernel),
      plan.refine == Refine::middle ? ", then to the middle" : "");
}

/// "the centred points", "the points in the space of the rbf kernel".
std::string what_is_spanned(const SelectResult& result) {
  SelectOptions o = result.request.options;
  o.kernel.type = plan_of(result).kernel;
  const KernelFormula& kernel = formula_of(o.kernel.type);
  if (kernel.of == KernelOf::matrix) return "the points in the space of the kernel given";
  if (!kernel.linear) return fmt::format("the points in the space of the {} kernel", kernel.name);
  const bool own = !is_solver(*result.request.method);  // these do not centre
  const bool centred =
      (own ? o.center.value_or(Center::none) : effective_center(o)) != Center::none;
  return fmt::format("the {}points{}", centred ? "centred " : "",
                     kernel.normalize ? ", all of norm 1," : "");
}

/// How well the chosen points stand for the others, where that was computed.
std::string quality_text(const SelectResult& result) {
  double worst = -1;
  for (const ClassSelection& part : result.parts)
    if (part.selection.certificate && part.selection.certificate->reconstruction_error > worst)
      worst = part.selection.certificate->reconstruction_error;
  if (worst < 0 || picks_of(result).empty()) return "";
  return fmt::format(
      "{}reconstruction error {:.4g}: the fraction of {} that the exemplars do not span",
      result.parts.size() > 1 ? "largest " : "", worst, what_is_spanned(result));
}

/// What exchange did, where it was asked for.
std::string exchange_text(const SelectResult& result) {
  Refinement all{.local_optimum = true};
  bool any = false;
  for (const ClassSelection& part : result.parts)
    if (const auto& r = part.selection.refinement) {
      any = true;
      all.exchanges += r->exchanges;
      all.rounds = std::max(all.rounds, r->rounds);
      all.before += r->before;
      all.after_exchange += r->after_exchange;
      all.local_optimum = all.local_optimum && r->local_optimum;
    }
  if (!any) return "";
  return fmt::format(
      "{} in {}: ridge error {:.4g}, from {:.4g}; {}", counted(all.exchanges, "exchange"),
      counted(all.rounds, "visit"), all.after_exchange, all.before,
      all.local_optimum ? "no other exchange of one exemplar helps" : "more rounds may help");
}

/// How exemplars moved to the middle of their points, where that was asked for.
std::string middle_text(const SelectResult& result) {
  Refinement all;
  for (const ClassSelection& part : result.parts)
    if (const auto& r = part.selection.refinement) {
      all.moves += r->moves;
      all.middle_rounds = std::max(all.middle_rounds, r->middle_rounds);
      all.after += r->after;
    }
  if (all.middle_rounds == 0) return "";
  return fmt::format("{} in {} to the middle of what an exemplar stands for: ridge error {:.4g}",
                     counted(all.moves, "move"), counted(all.middle_rounds, "round"), all.after);
}

/// What auto came to, where it was left to the library.
std::string auto_text(const SelectResult& result) {
  const SelectOptions& o = result.request.options;
  if (!is_solver(*result.request.method) || o.alpha || o.beta) return "";
  const Selection *least = nullptr, *most = nullptr;
  for (const ClassSelection& part : result.parts) {
    const Selection& s = part.selection;
    if (s.trace.empty() || s.refinement) continue;  // gives all it has, or nothing; other codes
    if (!least || s.beta < least->beta) least = &s;
    if (!most || s.beta > most->beta) most = &s;
  }
  if (!least) return "";
  const std::string beta = least->beta < most->beta
                               ? fmt::format("{:g} to {:g}", least->beta, most->beta)
                               : fmt::format("{:g}", least->beta);
  return fmt::format("alpha {}: beta {}, eta {:g}", auto_name, beta, most->eta);
}

/// What the factor in place of the kernel leaves out, where there is one.
std::string factor_text(const SelectResult& result) {
  const Selection* worst = nullptr;
  for (const ClassSelection& part : result.parts)
    if (part.selection.kernel_error &&
        (!worst || *part.selection.kernel_error > *worst->kernel_error))
      worst = &part.selection;
  if (!worst) return "";
  return fmt::format(
      "{}kernel error {:.4g}: the fraction of its trace outside the factor of rank {}",
      result.parts.size() > 1 ? "largest " : "", *worst->kernel_error, worst->kernel_rank);
}

/// What another method found out on its way; of many classes, nothing.
std::string facts_text(const SelectResult& result) {
  std::string text;
  if (result.parts.size() > 1) return text;
  for (const Fact& fact : result.parts.front().selection.facts)
    text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", fact.name, fact.value);
  return text;
}

}  // namespace

std::string summary(const SelectResult& result, bool colour) {
  const Seconds& s = result.seconds;
  const Index points = rows_of(result.data.view());
  std::string text = fmt::format(
      "fwsr: chose {} of {}{} in {} ({})\n", picks_of(result).size(), counted(points, "point"),
      result.per_class ? fmt::format(" in {} classes", result.parts.size()) : "",
      format_seconds(s.read + s.setup + s.steps + s.exchange + s.certificate + s.write),
      name_of(status_of(result)));
  if (result.data.table)
    text += fmt::format("      table {}\n", shown(describe(*result.data.table)));
  for (const ClassSelection& part : result.parts) {
    if (part.selection.plan.points == 0) continue;  // a class that gives all it has, or nothing
    if (result.per_class) text += fmt::format("      class {}: ", in_quotes(part.name));
    text += fmt::format("{}{}\n", result.per_class ? "" : "      ", form_text(part.selection.plan));
    break;
  }
  for (const std::string& line :
       {default_text(result), auto_text(result), factor_text(result), facts_text(result),
        exchange_text(result), middle_text(result), quality_text(result)})
    if (!line.empty()) text += fmt::format("      {}\n", line);
  return text + warnings_text(result, colour);
}

std::string table_text(const Dataset& data) {
  return data.table ? fmt::format("fwsr: table {}\n", shown(describe(*data.table))) : "";
}

std::string warnings_text(const SelectResult& result, bool colour) {
  const char* word = colour ? "\033[33mwarning\033[0m" : "warning";
  std::string text;
  for (const std::string& warning : warnings_of(result))
    text += fmt::format("fwsr: {}: {}\n", word, shown(warning));
  return text;
}

/// "about 12 s with 2 threads: 3 s to set up, 8.1 s for the steps, 0.9 s for weights and certificate".
std::string time_text(const Plan& plan) {
  const Seconds s = estimated(plan);
  std::string text = fmt::format("about {} with {}", words_for_seconds(estimated_seconds(plan)),
                                 counted(plan.threads, "thread"));
  if (plan.form == FormKind::none) return text;
  return text + fmt::format(": {} to set up, {} for the steps, {}{} for weights and certificate",
                            words_for_seconds(s.setup), words_for_seconds(s.steps),
                            s.exchange > 0 ? words_for_seconds(s.exchange) + " to exchange, " : "",
                            words_for_seconds(s.certificate));
}

std::string plan_text(const Plan& plan) {
  const auto bytes = [](Index n) { return format_bytes(static_cast<double>(n)); };
  const auto line = [](const char* name, const std::string& text) {
    return fmt::format("{:<12}{}\n", name, text);
  };
  std::string text = line(plan.form == FormKind::none ? "method" : "form", form_text(plan));
  const bool on_card = plan.device != "cpu";
  text += on_card ? line("device", fmt::format("{}, {} of its memory at the most", plan.device,
                                               bytes(plan.device_bytes)))
                  : line("time", time_text(plan));
  text += line("data", fmt::format("{} of {}", counted(plan.points, "point"),
                                   counted(plan.features, "feature")));
  if (plan.form == FormKind::none) {
    text += line("work", fmt::format("{:.2g} operations", plan.setup_flops));
    text += line("memory", fmt::format("{} for the data, {} beside it", bytes(plan.data_bytes),
                                       bytes(plan.memory_bytes)));
  } else {
    text += line("passes", fmt::format("about {} over the data", plan.passes));
    text += line("work", fmt::format("{:.2g} operations to set up, {:.2g} each step",
                                     plan.setup_flops, plan.step_flops));
    text +=
        line("memory", fmt::format("{} for the data, {} beside it, of which {} for each of {}",
                                   bytes(plan.data_bytes), bytes(plan.memory_bytes),
                                   bytes(plan.memory_per_thread), counted(plan.threads, "thread")));
  }
  for (const std::string& note : plan.notes) text += line("note", shown(note));
  return text;
}

}  // namespace fwsr::app
