#include "fwsr/report/shown.hpp"

#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/report/document.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr::report {

namespace {

constexpr std::size_t telling_features = 5;

/// The beginning of a text, without its blank lines.
std::string beginning_of(std::string_view text, std::size_t characters) {
  const std::size_t most = 8 * characters;
  std::string out;
  bool at_start = true;  // of a line
  for (const char c : text.substr(0, most)) {
    const bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (at_start && space) continue;
    at_start = c == '\n';
    out += c;
  }
  return shortened(out, characters);
}

std::string deviations_text(double deviations) {
  return fmt::format("{:+.1f}", deviations);
}

}  // namespace

Shown::Shown(const Rows& rows, const std::vector<Index>& some, Pictures& pictures, std::size_t room)
    : rows_(rows) {
  if (rows.images)
    images_.emplace(rows, some);
  else if (rows.texts.empty() && rows.pictures.empty())
    features_ = std::make_unique<Features>(rows);
  std::size_t bytes = 0;
  for (const Index row : some) {
    if (at(row) >= rows.pictures.size()) continue;
    const PictureSource& file = pictures.of(row);
    bytes += file.source.size();
    if (bytes > room) break;
    files_[row] = &file;
  }
}

std::string Shown::name(Index row) const {
  std::string name = fmt::format("#{}", row);
  if (at(row) < rows_.ids.size()) name += fmt::format(" {}", shortened(rows_.ids[at(row)], 60));
  return name;
}

std::string Shown::face(Index row, std::size_t characters) const {
  const std::string called = html(name(row));
  if (images_) {
    const Picture picture = images_->of(row);
    return fmt::format("<img class=\"pixels\" src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\">",
                       png_source(picture), picture.width, picture.height, called);
  }
  if (at(row) < rows_.pictures.size()) {
    const auto found = files_.find(row);
    const std::string problem = found == files_.end()
                                    ? rows_.pictures[at(row)] + ": the page has no room for it"
                                    : found->second->problem;
    return problem.empty()
               ? fmt::format("<img src=\"{}\" alt=\"{}\">", html(found->second->source), called)
               : fmt::format("<p class=\"text\">{}</p>", html(shortened(problem, 300)));
  }
  if (at(row) < rows_.texts.size())
    return fmt::format("<p class=\"text\">{}</p>",
                       html(beginning_of(rows_.texts[at(row)], characters)));
  if (!features_) return "";
  std::string lines;
  for (const Telling& t : features_->of(row, telling_features))
    lines += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>",
                         html(shortened(rows_.column(t.feature), 30)), number_text(t.value),
                         deviations_text(t.deviations));
  return fmt::format(
      "<table class=\"telling\"><caption>most telling features</caption><thead><tr><th "
      "scope=\"col\">feature</th><th scope=\"col\">value</th><th scope=\"col\"><abbr "
      "title=\"standard deviations from the mean of the feature\">sd</abbr></th></tr></thead>"
      "<tbody>{}</tbody></table>",
      lines);
}

void Shown::add_face(JsonWriter& out, Index row, std::size_t characters) const {
  if (images_) return;
  if (at(row) < rows_.pictures.size()) {
    if (const auto found = files_.find(row);
        found != files_.end() && found->second->problem.empty())
      out.field("picture", found->second->source);
  } else if (at(row) < rows_.texts.size()) {
    out.field("text", beginning_of(rows_.texts[at(row)], characters));
  } else if (features_) {
    out.key("features").array();
    for (const Telling& t : features_->of(row, 3))
      out.value(fmt::format("{} {} ({} sd)", shortened(rows_.column(t.feature), 30),
                            number_text(t.value), deviations_text(t.deviations)));
    out.end_array();
  }
}

void add_sheets(JsonWriter& out, const Shown& shown, const std::vector<Index>& rows,
                std::size_t most) {
  if (!shown.images()) return;
  out.key("images").object();
  out.field("height", shown.images()->height()).field("width", shown.images()->width());
  out.field("across", sheet_across).key("sheets").array();
  for (const Sheet& sheet : make_sheets(*shown.images(), rows, most)) {
    out.object().key("rows").array();
    for (const Index row : sheet.rows) out.value(row);
    out.end_array().field("source", "data:image/png;base64," + base64(sheet.png)).end_object();
  }
  out.end_array().end_object();
}

}  // namespace fwsr::report
