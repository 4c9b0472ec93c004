#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/report/document.hpp"
#include "fwsr/report/features.hpp"
#include "fwsr/report/strips.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

std::string setting_name(const SweepSetting& s) {
  return fmt::format("alpha {}, eta {:g}", s.alpha, s.eta);
}

std::string settings_table(const SweepPage& page) {
  std::string out =
      "<div class=\"scroll\"><table class=\"sortable\"><caption>Settings; the least reconstruction "
      "error is marked by *</caption>\n<thead><tr>";
  for (const char* name : {"alpha", "eta", "exemplars", "steps", "f", "gap", "left over"})
    out += fmt::format("<th scope=\"col\">{}</th>", name);
  out += "<th scope=\"col\">ended</th></tr></thead>\n<tbody>\n";
  const auto cell = [](double value, const std::string& text) {
    return fmt::format("<td data-value=\"{:.17g}\">{}</td>", std::isfinite(value) ? value : 1e308,
                       text);
  };
  for (std::size_t i = 0; i < page.settings.size(); ++i) {
    const SweepSetting& s = page.settings[i];
    const bool best = page.best == i;
    out += fmt::format("<tr><th scope=\"row\"><a href=\"#s{}\">{}</a></th>", i, html(s.alpha));
    out += cell(s.eta, fmt::format("{:g}", s.eta));
    out += cell(static_cast<double>(s.exemplars.size()), fmt::format("{}", s.exemplars.size()));
    out += cell(static_cast<double>(s.steps), fmt::format("{}", s.steps));
    out += cell(s.f, number_text(s.f)) + cell(s.gap, number_text(s.gap));
    out += cell(s.error.value_or(1e308),
                s.error ? percent(*s.error) + (best ? " *" : "") : std::string());
    std::string ended = s.status;
    std::replace(ended.begin(), ended.end(), '_', ' ');
    out += fmt::format("<td>{}</td></tr>\n", html(ended));
  }
  return out + "</tbody>\n</table></div>\n";
}

/// Rows of alpha, columns of eta; the darker the more is left over. Each cell leads to its exemplars.
std::string heat_map(const SweepPage& page) {
  constexpr double shades = 8;
  std::vector<std::string> alphas;
  std::vector<double> etas;
  const auto place_in = [](auto& list, const auto& value) {
    const auto found = std::find(list.begin(), list.end(), value);
    if (found != list.end()) return found - list.begin();
    list.push_back(value);
    return std::ssize(list) - 1;
  };
  std::map<std::pair<Index, Index>, std::size_t> cells;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < page.settings.size(); ++i) {
    const SweepSetting& s = page.settings[i];
    cells[{place_in(alphas, s.alpha), place_in(etas, s.eta)}] = i;
    if (s.error) low = std::min(low, *s.error), high = std::max(high, *s.error);
  }
  std::string out =
      "<div class=\"scroll\"><table class=\"heat\"><caption>Left over, by alpha (down) and eta "
      "(across)</caption>\n<thead><tr><th scope=\"col\">alpha \\ eta</th>";
  for (const double eta : etas) out += fmt::format("<th scope=\"col\">{:g}</th>", eta);
  out += "</tr></thead>\n<tbody>\n";
  for (Index r = 0; r < std::ssize(alphas); ++r) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", html(alphas[at(r)]));
    for (Index c = 0; c < std::ssize(etas); ++c) {
      const auto cell = cells.find({r, c});
      if (cell == cells.end() || !page.settings[cell->second].error) {
        out += "<td>-</td>";
        continue;
      }
      const double error = *page.settings[cell->second].error;
      const double share = high > low ? (error - low) / (high - low) : 0;
      out += fmt::format("<td class=\"h{:.0f}\"><a href=\"#s{}\">{}{}</a></td>", shades * share,
                         cell->second, percent(error), page.best == cell->second ? " *" : "");
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

}  // namespace

SweepSetting described(std::string alpha, double eta, Status status,
                       const std::vector<const Selection*>& runs) {
  SweepSetting out{
      .alpha = std::move(alpha), .eta = eta, .status = name_of(status), .exemplars = {}};
  for (const Selection* run : runs) {
    const auto& certificate = run->certificate;
    const std::vector<Step>& trace = run->trace;
    out.exemplars.insert(out.exemplars.end(), run->exemplars.begin(), run->exemplars.end());
    out.steps += std::ssize(trace);
    out.f += certificate ? certificate->f : trace.empty() ? run->f_at_zero : trace.back().f;
    out.gap += certificate ? certificate->gap : trace.empty() ? 0.0 : trace.back().gap;
    if (certificate)
      out.error = std::max(out.error.value_or(0.0), certificate->reconstruction_error);
  }
  return out;
}

std::string sweep_page(const SweepPage& page) {
  check_rows(page.rows);
  const std::string title =
      fmt::format("A sweep of {} on {}", counted(std::ssize(page.settings), "setting"),
                  heading_name(page.rows.name));
  const std::string sentence = fmt::format(
      "Exemplars chosen from {} with {} for every radius (alpha) and penalty (eta) of a grid.",
      counted(page.rows.size(), "point"), counted(cols_of(page.rows.points), "feature"));
  std::vector<Strip> strips;
  for (const SweepSetting& s : page.settings)
    strips.push_back({.name = setting_name(s),
                      .rows = s.exemplars,
                      .note = s.error ? fmt::format("{} left over", percent(*s.error)) : ""});
  std::vector<Line> lines;
  if (page.best && page.settings[*page.best].error)
    lines.push_back({"best", fmt::format("{}: {} of the points left over",
                                         setting_name(page.settings[*page.best]),
                                         percent(*page.settings[*page.best].error))});
  for (Line& line : machine_lines(page.about)) lines.push_back(std::move(line));
  return with_strips(page.rows, strips, [&](const std::string& side_by_side) {
    const std::string top = header(title, sentence, lines, page.about);
    const std::string sections =
        section(
            "grid", "Left over, by setting",
            "The share of the points that the exemplars of a setting do not span: the lighter, the "
            "less, the better. A click shows its exemplars.",
            heat_map(page) + settings_table(page)) +
        section("side-by-side", "Exemplars of every setting", "In the order of choosing.",
                side_by_side);
    return document(title, top, sections, "{\"kind\":\"sweep\"}");
  });
}

}  // namespace fwsr::report
