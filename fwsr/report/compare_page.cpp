#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/compare_table.hpp"
#include "fwsr/report/document.hpp"
#include "fwsr/report/features.hpp"
#include "fwsr/report/strips.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

/// One measure of all methods; NaN where it was not taken.
struct Column {
  const Measure& measure;
  std::vector<Spread> spreads;
  std::vector<double> means;

  Column(const Measure& which, std::size_t number, const std::vector<ComparedMethod>& methods)
      : measure(which) {
    for (const ComparedMethod& method : methods) {
      spreads.push_back(number < method.spreads.size() ? method.spreads[number]
                                                       : Spread{.mean = std::nan("")});
      means.push_back(spreads.back().mean);
    }
  }
  bool taken() const {
    return std::any_of(means.begin(), means.end(), [](double m) { return std::isfinite(m); });
  }
  double most() const {
    double most = 0;
    for (const double mean : means)
      if (std::isfinite(mean)) most = std::max(most, mean);
    return most;
  }
};

std::vector<Column> columns_of(const std::vector<ComparedMethod>& methods) {
  std::vector<Column> columns;
  for (std::size_t m = 0; m < measures().size(); ++m)
    if (Column column(measures()[m], m, methods); column.taken())
      columns.push_back(std::move(column));
  return columns;
}

/// "0.105 ± 0.01".
std::string spread_words(const Spread& spread, const Measure& measure) {
  std::string text = measured_text(spread, measure);
  if (const std::size_t sign = text.find("+-"); sign != std::string::npos)
    text.replace(sign, 2, "\u00b1\u00a0");
  return text;
}

std::string cell_of(const Column& column, std::size_t method, bool best) {
  const double mean = column.means[method];
  if (!std::isfinite(mean)) return "<td>-</td>";
  const std::string words = spread_words(column.spreads[method], column.measure);
  const double most = column.most();
  return fmt::format("<td{} data-value=\"{:.17g}\">{}{}{}</td>", best ? " class=\"best\"" : "",
                     mean, html(words), best ? " *" : "", bar(most > 0 ? mean / most : 0, words));
}

std::string measures_table(const std::vector<ComparedMethod>& methods,
                           const std::vector<Column>& columns) {
  std::string out =
      "<div class=\"scroll\"><table id=\"compared\" class=\"sortable\"><caption>Mean and standard "
      "deviation over the runs; the best of each column is marked by *</caption>\n<thead><tr><th "
      "scope=\"col\">method</th>";
  std::vector<std::vector<bool>> best;
  for (const Column& column : columns) {
    out += fmt::format("<th scope=\"col\" data-less=\"{}\">{}</th>",
                       column.measure.less_is_better ? "yes" : "no", html(column.measure.title));
    best.push_back(best_of(column.means, column.measure));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < methods.size(); ++i) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", html(shortened(methods[i].name, 60)));
    if (methods[i].spreads.empty())
      out += fmt::format("<td class=\"reason\" colspan=\"{}\">{}</td>",
                         std::max<std::size_t>(1, columns.size()),
                         html(shortened(methods[i].reason, 300)));
    for (std::size_t c = 0; c < columns.size() && !methods[i].spreads.empty(); ++c)
      out += cell_of(columns[c], i, best[c][i]);
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

/// The best by each measure, and who has no answer.
std::vector<Line> lines_of(const std::vector<ComparedMethod>& methods,
                           const std::vector<Column>& columns) {
  std::string best, without;
  for (const Column& column : columns) {
    const std::vector<bool> marked = best_of(column.means, column.measure);
    const auto first = std::find(marked.begin(), marked.end(), true);
    if (first == marked.end()) continue;
    const Index others = std::count(marked.begin(), marked.end(), true) - 1;
    best +=
        fmt::format("{}{} by {}", best.empty() ? "" : "; ",
                    shortened(methods[at(first - marked.begin())].name, 40), column.measure.title);
    if (others > 0)
      best.insert(best.rfind(" by "), fmt::format(" and {}", counted(others, "other")));
  }
  Index none = 0;
  for (const ComparedMethod& method : methods)
    if (method.spreads.empty())
      without += fmt::format("{}{}", none++ > 0 ? ", " : "", shortened(method.name, 40));
  return {{"best", best}, {"no answer", shortened(without, 500)}};
}

std::string words_for(const std::vector<Column>& columns) {
  std::vector<std::vector<std::string>> lines;
  for (const Column& column : columns)
    lines.push_back({html(column.measure.title), html(column.measure.about),
                     column.measure.less_is_better ? "less" : "more"});
  return table_behind(
      table({"measure", "what it is", "better is"}, lines, "Measures", "", "what it is"),
      "What the measures are");
}

}  // namespace

ComparedMethod described(const Comparison& method) {
  ComparedMethod out{.name = method.name, .reason = method.reason};
  if (method.trials.empty()) return out;
  out.exemplars = method.trials.front().exemplars;
  for (const Measure& measure : measures()) out.spreads.push_back(spread_of(method, measure));
  return out;
}

std::string compare_page(const ComparePage& page) {
  check_rows(page.rows);
  const std::vector<Column> columns = columns_of(page.methods);
  const std::string title =
      fmt::format("{} compared on {}", counted(std::ssize(page.methods), "method"),
                  heading_name(page.rows.name));
  const std::string sentence = fmt::format(
      "{} chosen by each method from {} with {}.", counted(page.exemplars, "exemplar"),
      counted(page.rows.size(), "point"), counted(cols_of(page.rows.points), "feature"));
  std::vector<Strip> strips;
  for (const ComparedMethod& method : page.methods)
    if (!method.spreads.empty()) strips.push_back({.name = method.name, .rows = method.exemplars});
  return with_strips(page.rows, strips, [&](const std::string& side_by_side) {
    std::vector<Line> lines = lines_of(page.methods, columns);
    for (Line& line : machine_lines(page.about)) lines.push_back(std::move(line));
    const std::string top = header(title, sentence, lines, page.about);
    const std::string sections =
        section("measures", "Measures",
                "Bars are as long as the largest mean of their column. A click on the head of a "
                "column sorts by it.",
                measures_table(page.methods, columns) + words_for(columns)) +
        section("side-by-side", "Exemplars side by side",
                "Of the first run of each method, in the order of choosing.", side_by_side);
    return document(title, top, sections, "{\"kind\":\"compare\"}");
  });
}

}  // namespace fwsr::report
