#include "fwsr/report/strips.hpp"

#include <map>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/report/document.hpp"
#include "fwsr/report/shown.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

/// `faces`: of rows that were shown before.
std::string markup_of(const Rows& rows, const Shown& shown, const std::vector<Strip>& strips,
                      std::size_t most, std::size_t characters) {
  std::map<Index, std::string> faces;
  std::map<std::vector<Index>, std::size_t> known;
  std::string out;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const Strip& strip = strips[s];
    out += fmt::format(
        "<h3 id=\"s{}\">{}</h3>\n{}", s, html(shortened(strip.name, 80)),
        strip.note.empty() ? "" : fmt::format("<p class=\"about\">{}</p>\n", html(strip.note)));
    const auto [same, is_new] = known.emplace(strip.rows, s);
    if (!is_new && !strip.rows.empty()) {
      out += fmt::format("<p class=\"note\">The same exemplars as <a href=\"#s{}\">{}</a>.</p>\n",
                         same->second, html(shortened(strips[same->second].name, 80)));
      continue;
    }
    out += "<ul class=\"strip\">\n";
    for (std::size_t t = 0; t < strip.rows.size() && t < most; ++t) {
      const Index row = strip.rows[t];
      std::string& face = faces[row];
      if (face.empty()) face = shown.face(row, characters);
      const std::string label = rows.has_classes() && at(row) < rows.labels->size()
                                    ? fmt::format(" <span class=\"class\">{}</span>",
                                                  html(class_name((*rows.labels)[at(row)], 30)))
                                    : "";
      out += fmt::format("<li>{}{}{}</li>\n", face, html(shown.name(row)), label);
    }
    out += "</ul>\n";
    if (strip.rows.size() > most)
      out += fmt::format("<p class=\"note\">and {} more</p>\n", strip.rows.size() - most);
  }
  return out;
}

}  // namespace

std::string with_strips(const Rows& rows, const std::vector<Strip>& strips,
                        const std::function<std::string(const std::string& strips)>& page) {
  std::vector<Index> all;
  for (const Strip& strip : strips) all.insert(all.end(), strip.rows.begin(), strip.rows.end());
  Pictures pictures(rows);
  const Shown shown(rows, all, pictures, most_bytes_of_pictures);
  const std::size_t limit = rows.has_images() ? most_bytes_with_images : most_bytes;
  std::string out;
  for (const std::size_t most : std::vector<std::size_t>{200, 60, 20, 5, 0}) {
    out = page(markup_of(rows, shown, strips, most, most >= 60 ? 300 : 120));
    if (out.size() <= limit) break;
  }
  return out;
}

}  // namespace fwsr::report
