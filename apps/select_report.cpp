#include "apps/select_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "apps/command.hpp"
#include "apps/interrupt.hpp"
#include "apps/text.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/report/text.hpp"
#include "fwsr/solver/planner.hpp"

namespace fwsr::app {

namespace {

/// The words of a command without these options and what follows them.
std::vector<std::string> without(const std::vector<std::string>& words,
                                 const std::vector<std::string>& options) {
  std::vector<std::string> kept;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::string& word = words[w];
    const auto is_one = [&](const std::string& option) {
      return word == option || word.starts_with(option + "=") ||
             (option.size() == 2 && word.starts_with(option));  // -k20
    };
    if (std::none_of(options.begin(), options.end(), is_one)) {
      kept.push_back(report::shell_word(word));
    } else if (std::find(options.begin(), options.end(), word) != options.end()) {
      ++w;
    }
  }
  return kept;
}

/// For "again, with these locked": the number of exemplars of classes is of each, and stays.
std::vector<std::string> words_to_choose_again(const SelectResult& result,
                                               const ReportArguments& a) {
  std::vector<std::string> left_out = {"--include", "--exclude", "-o", "--output"};
  if (!result.per_class) left_out.insert(left_out.end(), {"-k", "--exemplars"});
  return without(a.words, left_out);
}

}  // namespace

std::string select_report(const SelectResult& result, const ReportArguments& a,
                          const RowsShown& shown) {
  report::SelectPage page{.rows = rows_of_page(result.data, shown)};
  page.about = {.command = a.command,
                .again = words_to_choose_again(result, a),
                .excluded = result.conditions.exclude.empty()
                                ? ""
                                : report::shell_word(result.conditions.exclude),
                .seconds = result.seconds,
                .peak_bytes = peak_memory(),
                .threads = result.threads,
                .version = version_number()};
  for (const ClassSelection& part : result.parts) {
    page.runs.push_back(report::run_of(result.request, part.selection, part.members));
    page.classes.push_back(part.name);
  }
  page.weights = result.request.options.conditions.weights;
  page.axes = shown.axes;
  page.warnings = warnings_of(result);
  return report::select_page(page, result.threads, [] { return !interrupted(); });
}

ReportMemory report_memory(const Dataset& data, const SelectPlan& plan, const RowsShown& shown,
                           const SelectOptions& options) {
  const PlanFacts facts = facts_of(data.view(), options.threads);
  Index exemplars = options.exemplars + std::ssize(options.conditions.included);
  for (const ClassPlan& part : plan.classes) exemplars += part.wanted;
  ReportMemory memory;
  memory.held = facts.data_bytes * (facts.streamed ? facts.threads : 1) +
                static_cast<Index>(sizeof(Index)) * facts.points;
  for (const auto* words : {&shown.texts, &shown.pictures})
    for (const std::string& one : *words)
      memory.held += static_cast<Index>(sizeof(std::string) + one.capacity());
  memory.making =
      report::select_page_bytes(facts.points, facts.features, exemplars,
                                shown.images || !shown.pictures.empty(), options.threads);
  return memory;
}

void check_room_for_report(const ReportArguments& a, const ReportMemory& memory,
                           const Dataset& data, const SelectOptions& options) {
  if (!a.wanted()) return;
  const double limit = memory_limit(facts_of(data.view(), options.threads).data_bytes, options);
  const auto needed = static_cast<double>(memory.held) + static_cast<double>(memory.making);
  if (needed > limit)
    throw MemoryError(fmt::format(
        "--report {}: making the page needs {}, the data included, but only {} may be used; allow "
        "more memory, or leave --report out",
        shown(a.path), format_bytes(needed), format_bytes(limit)));
}

std::string report_plan(const ReportArguments& a, const ReportMemory& memory,
                        const RowsShown& shown_rows) {
  if (!a.wanted()) return "";
  const bool images = shown_rows.images || !shown_rows.pictures.empty();
  const auto most =
      static_cast<double>(images ? report::most_bytes_with_images : report::most_bytes);
  return fmt::format("{}, at most {}; making it takes at most {} and the data", shown(a.path),
                     format_bytes(most), format_bytes(static_cast<double>(memory.making)));
}

}  // namespace fwsr::app
