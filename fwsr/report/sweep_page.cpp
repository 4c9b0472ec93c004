#include <cmath>

#include <fmt/format.h>

#include "fwsr/report/document.hpp"
#include "fwsr/report/json_writer.hpp"
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
    out += fmt::format("<td>{}</td></tr>\n", html(s.status));
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string data_for(const SweepPage& page) {
  JsonWriter out;
  out.object().field("kind", "sweep").key("settings").array();
  for (const SweepSetting& s : page.settings) {
    out.object().field("alpha", s.alpha).field("eta", s.eta).key("error");
    s.error ? out.value(*s.error, 8) : out.null();
    out.end_object();
  }
  return out.end_array().end_object().text();
}

}  // namespace

std::string sweep_page(const SweepPage& page) {
  const std::string title =
      fmt::format("A sweep of {} on {}", counted(std::ssize(page.settings), "setting"),
                  shortened(page.rows.name, 80));
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
            "The share of the points that the exemplars of a setting do not span: the less, the "
            "better.",
            "<div class=\"picture\" data-view=\"heat\"></div>\n" + settings_table(page)) +
        section("side-by-side", "Exemplars of every setting", "In the order of choosing.",
                side_by_side);
    return document(title, top, sections, data_for(page));
  });
}

}  // namespace fwsr::report
