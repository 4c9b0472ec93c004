#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/compare_table.hpp"
#include "fwsr/report/document.hpp"
#include "fwsr/report/json_writer.hpp"
#include "fwsr/report/strips.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

/// The measures that somebody could take.
std::vector<const Measure*> measures_taken(const std::vector<Comparison>& methods) {
  std::vector<const Measure*> taken;
  for (const Measure& m : measures())
    for (const Comparison& method : methods)
      if (std::isfinite(spread_of(method, m).mean)) {
        taken.push_back(&m);
        break;
      }
  return taken;
}

/// "0.105 ± 0.01".
std::string spread_words(const Comparison& method, const Measure& measure) {
  std::string text = measured_text(spread_of(method, measure), measure);
  if (const std::size_t sign = text.find("+-"); sign != std::string::npos)
    text.replace(sign, 2, "\u00b1\u00a0");
  return text;
}

std::vector<double> means_of(const std::vector<Comparison>& methods, const Measure& measure) {
  std::vector<double> means;
  for (const Comparison& method : methods) means.push_back(spread_of(method, measure).mean);
  return means;
}

std::string measures_table(const std::vector<Comparison>& methods,
                           const std::vector<const Measure*>& taken) {
  std::string out =
      "<div class=\"scroll\"><table id=\"compared\" class=\"sortable\"><caption>Mean and standard "
      "deviation over the runs; the best of each column is marked by *</caption>\n<thead><tr><th "
      "scope=\"col\">method</th>";
  std::vector<std::vector<bool>> best;
  for (const Measure* m : taken) {
    out += fmt::format("<th scope=\"col\" data-less=\"{}\">{}</th>",
                       m->less_is_better ? "yes" : "no", html(m->title));
    best.push_back(best_of(means_of(methods, *m), *m));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < methods.size(); ++i) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", html(shortened(methods[i].name, 60)));
    if (methods[i].trials.empty())
      out += fmt::format("<td colspan=\"{}\">{}</td>", taken.size(),
                         html(shortened(methods[i].reason, 300)));
    for (std::size_t m = 0; m < taken.size() && !methods[i].trials.empty(); ++m) {
      const Spread spread = spread_of(methods[i], *taken[m]);
      out += fmt::format(
          "<td{}{}>{}{}</td>", best[m][i] ? " class=\"best\"" : "",
          std::isfinite(spread.mean) ? fmt::format(" data-value=\"{:.17g}\"", spread.mean) : "",
          html(spread_words(methods[i], *taken[m])), best[m][i] ? " *" : "");
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string words_for(const std::vector<const Measure*>& taken) {
  std::vector<std::vector<std::string>> lines;
  for (const Measure* m : taken)
    lines.push_back({html(m->title), html(m->about), m->less_is_better ? "less" : "more"});
  return table_behind(table({"measure", "what it is", "better is"}, lines, "Measures"),
                      "What the measures are");
}

std::string data_for(const ComparePage& page, const std::vector<const Measure*>& taken) {
  JsonWriter out;
  out.object().field("kind", "compare").key("measures").array();
  for (const Measure* m : taken) {
    out.object().field("title", m->title).field("about", m->about).field("less", m->less_is_better);
    out.key("means").array();
    for (const double mean : means_of(page.methods, *m)) out.value(mean, 8);
    out.end_array().key("words").array();
    for (const Comparison& method : page.methods) out.value(spread_words(method, *m));
    out.end_array().end_object();
  }
  out.end_array().key("methods").array();
  for (const Comparison& method : page.methods) out.value(shortened(method.name, 60));
  return out.end_array().end_object().text();
}

}  // namespace

std::string compare_page(const ComparePage& page) {
  const std::vector<const Measure*> taken = measures_taken(page.methods);
  const std::string title =
      fmt::format("{} compared on {}", counted(std::ssize(page.methods), "method"),
                  shortened(page.rows.name, 80));
  const std::string sentence = fmt::format(
      "{} chosen by each method from {} with {}.", counted(page.exemplars, "exemplar"),
      counted(page.rows.size(), "point"), counted(cols_of(page.rows.points), "feature"));
  std::vector<Strip> strips;
  for (const Comparison& method : page.methods)
    if (!method.trials.empty())
      strips.push_back({.name = method.name, .rows = method.trials.front().exemplars});
  return with_strips(page.rows, strips, [&](const std::string& side_by_side) {
    const std::string top = header(title, sentence, machine_lines(page.about), page.about);
    const std::string sections =
        section("measures", "Measures", "A click on the head of a column sorts by it.",
                measures_table(page.methods, taken) +
                    "<div class=\"picture\" data-view=\"bars\"></div>\n" + words_for(taken)) +
        section("side-by-side", "Exemplars side by side",
                "Of the first run of each method, in the order of choosing.", side_by_side);
    return document(title, top, sections, data_for(page, taken));
  });
}

}  // namespace fwsr::report
