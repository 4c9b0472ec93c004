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
  for (const Comparison& row : result.rows) {
    page.methods.push_back(report::described(row));
    for (const Trial& trial : row.trials)
      page.exemplars = std::max(page.exemplars, std::ssize(trial.exemplars));
  }
  return report::compare_page(page);
}

std::string sweep_report(const SweepResult& result, const ReportArguments& a,
                         const RowsShown& shown) {
  report::SweepPage page{.rows = rows_of_page(result.data, shown)};
  page.about = about(a, result.seconds, result.threads);
  const std::vector<SweepRow> rows = rows_of_sweep(result);
  page.best = best_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<const Selection*> runs;
    for (const ClassSelection& part : result.settings[i].parts) runs.push_back(&part.selection);
    page.settings.push_back(
        report::described(text_of(rows[i].alpha), rows[i].eta, rows[i].status, runs));
  }
  return report::sweep_page(page);
}

}  // namespace fwsr::app
