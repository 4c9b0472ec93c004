// A selection in sentences.
#include <cmath>

#include <fmt/format.h>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/report/select_parts.hpp"
#include "fwsr/report/text.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr::report {

namespace {

/// Of the first run that had something to choose.
const Run& telling_run(const SelectPage& page) {
  for (const Run& run : page.runs)
    if (run.selection->plan.points > 0) return run;
  return page.runs.front();
}

Index exemplars_of(const SelectPage& page) {
  Index all = 0;
  for (const Run& run : page.runs) all += std::ssize(run.selection->exemplars);
  return all;
}

/// "the centred points", "the points in the space of the rbf kernel".
std::string space_of(const SelectPage& page) {
  const Run& run = telling_run(page);
  SelectOptions o = run.options;
  if (run.selection->plan.points > 0) o.kernel.type = run.selection->plan.kernel;
  const KernelFormula& kernel = formula_of(o.kernel.type);
  if (kernel.of == KernelOf::matrix) return "the points in the space of the kernel given";
  if (!kernel.linear) return fmt::format("the points in the space of the {} kernel", kernel.name);
  return fmt::format("the {}points{}", effective_center(o) == Center::none ? "" : "centred ",
                     kernel.normalize ? ", all of norm 1," : "");
}

std::string status_words(Status status) {
  switch (status) {
    case Status::exemplars_reached:
      return "as many exemplars as were asked for";
    case Status::converged:
      return "converged: the gap closed first";
    case Status::exhausted:
      return "exhausted: nothing was left to represent";
    case Status::iteration_limit:
      return "the limit of steps was reached";
    case Status::interrupted:
      return "interrupted";
    case Status::budget_spent:
      return "the budget was spent";
    case Status::error_reached:
      return "the error asked for was reached";
    case Status::time_limit:
      return "the time was up";
    case Status::candidates_exhausted:
      return "every candidate was chosen";
  }
  return "";
}

Status status_of(const SelectPage& page) {
  for (const Run& run : page.runs)
    if (run.selection->status != Status::exemplars_reached) return run.selection->status;
  return Status::exemplars_reached;
}

/// What share the exemplars span; of classes the least.
std::string span_words(const SelectPage& page) {
  double worst = -1;
  std::string where;
  for (std::size_t r = 0; r < page.runs.size(); ++r) {
    const auto& certificate = page.runs[r].selection->certificate;
    if (!certificate || !(certificate->reconstruction_error > worst)) continue;
    worst = certificate->reconstruction_error;
    if (page.runs.size() > 1) where = page.classes[r];
  }
  const Index k = exemplars_of(page);
  if (worst < 0 || k == 0) return "";
  if (page.runs.size() > 1)
    return fmt::format("the {} of each class span at least {} of its points (least of class {})",
                       counted(k, "exemplar"), percent(1 - worst), shortened(where, 40));
  return fmt::format("the {} {} {} of {}", counted(k, "exemplar"), k == 1 ? "spans" : "span",
                     percent(1 - worst), space_of(page));
}

/// How far from the best the choice can be.
std::string best_words(const SelectPage& page) {
  if (page.runs.size() != 1) return "";
  const Selection& s = *page.runs.front().selection;
  if (s.refinement)
    return s.refinement->local_optimum
               ? "no exchange of one exemplar for another point represents the points better"
               : "more rounds of exchange may represent the points better";
  const auto& c = s.certificate;
  if (!c || !std::isfinite(c->f) || !(c->f_at_zero > 0)) return "";
  if (!c->trusted) return "rounding leaves no digits to say how near to the best the codes are";
  if (!std::isfinite(c->gap)) return "";
  if (c->gap >= c->f_at_zero)
    return fmt::format(
        "not known: the gap is still {:.3g}, more than f(0) = {:.4g}, as it is after few steps "
        "with a "
        "large radius",
        c->gap, c->f_at_zero);
  return fmt::format(
      "the codes are within {} of the best convex solution of this radius (gap {:.3g} of "
      "f(0) = {:.4g})",
      percent(std::max(0.0, c->gap) / c->f_at_zero), c->gap, c->f_at_zero);
}

}  // namespace

std::string title_of(const SelectPage& page) {
  return fmt::format("{} of {}", counted(exemplars_of(page), "exemplar"),
                     heading_name(page.rows.name));
}

std::string what_was_run(const SelectPage& page) {
  const Run& run = telling_run(page);
  const Plan& plan = run.selection->plan;
  const std::string classes =
      page.runs.size() > 1 ? fmt::format(", class by class ({} classes)", page.runs.size()) : "";
  return fmt::format("{} chosen from {} with {} by {}, to represent {}{}.",
                     counted(exemplars_of(page), "exemplar"), counted(page.rows.size(), "point"),
                     counted(cols_of(page.rows.points), "feature"), plan.method,
                     run.dissimilarities ? "them by the dissimilarities given" : space_of(page),
                     classes);
}

std::vector<Line> lines_of(const SelectPage& page) {
  std::vector<Line> lines = {{"how good", span_words(page)},
                             {"how near to the best", best_words(page)},
                             {"ended", status_words(status_of(page))}};
  for (Line& line : machine_lines(page.about)) lines.push_back(std::move(line));
  for (std::size_t w = 0; w < page.warnings.size() && w < 20; ++w)
    lines.push_back({"warning", shortened(page.warnings[w], 500)});
  return lines;
}

}  // namespace fwsr::report
