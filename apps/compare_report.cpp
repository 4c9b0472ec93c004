#include "apps/compare_report.hpp"

#include "apps/command.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/report/page.hpp"

namespace fwsr::app {

namespace {

report::About about(const ReportArguments& a, const Seconds& seconds, int threads) {
  return {.command = a.command,
          .seconds = seconds,
          .peak_bytes = peak_memory(),
          .threads = threads,
          .version = version_number()};
}

}  // namespace

std::string compare_report(const CompareResult& result, const ReportArguments& a,
                           const RowsShown& shown) {
  report::ComparePage page{.rows = rows_of_page(result.data, shown)};
  page.about = about(a, {}, result.threads);
  for (const Comparison& row : result.rows)
    for (const Trial& trial : row.trials)
      page.exemplars = std::max(page.exemplars, std::ssize(trial.exemplars));
  page.methods = result.rows;
  return report::compare_page(page);
}

std::string sweep_report(const SweepResult& result, const ReportArguments& a,
                         const RowsShown& shown) {
  report::SweepPage page{.rows = rows_of_page(result.data, shown)};
  page.about = about(a, result.seconds, result.threads);
  const std::vector<SweepRow> rows = rows_of_sweep(result);
  page.best = best_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    report::SweepSetting setting{.alpha = text_of(rows[i].alpha),
                                 .eta = rows[i].eta,
                                 .status = name_of(rows[i].status),
                                 .steps = rows[i].steps,
                                 .exemplars = {},
                                 .error = rows[i].error,
                                 .f = rows[i].f,
                                 .gap = rows[i].gap,
                                 .f_at_zero = rows[i].f_at_zero};
    for (const Pick& pick : picks_of(result.settings[i])) setting.exemplars.push_back(pick.index);
    page.settings.push_back(std::move(setting));
  }
  return report::sweep_page(page);
}

}  // namespace fwsr::app
