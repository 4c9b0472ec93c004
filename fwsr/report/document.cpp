#include "fwsr/report/document.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/report/text.hpp"

namespace fwsr {

// Made by cmake/embed.cmake out of the files of this folder.
extern const unsigned char page_style[], page_script[];
extern const std::size_t page_style_size, page_script_size;
extern const char page_style_sha256[], page_script_sha256[];

}  // namespace fwsr

namespace fwsr::report {

namespace {

std::string_view text_of(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

/// 'sha256-...' as a Content-Security-Policy has it, from hexadecimal digits.
std::string policy_hash(std::string_view digits) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(
        static_cast<unsigned char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return fmt::format("'sha256-{}'", base64(bytes));
}

/// Links to the parts. @pre `sections` were made by section()
std::string contents(const std::string& sections) {
  std::string out = "<nav aria-label=\"Contents\"><ul>";
  constexpr std::string_view start = "<section id=\"";
  for (std::size_t at = sections.find(start); at != std::string::npos;
       at = sections.find(start, at + 1)) {
    const std::size_t id = at + start.size(), id_end = sections.find('"', id);
    const std::size_t heading = sections.find("<h2", at), text = sections.find('>', heading) + 1;
    out += fmt::format("<li><a href=\"#{}\">{}</a></li>", sections.substr(id, id_end - id),
                       sections.substr(text, sections.find("</h2>", text) - text));
  }
  return out + "</ul></nav>\n";
}

}  // namespace

std::string document(std::string_view title, const std::string& top, const std::string& sections,
                     const std::string& data) {
  const std::string policy = fmt::format(
      "default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; "
      "form-action 'none'",
      policy_hash(page_style_sha256), policy_hash(page_script_sha256));
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>",
      policy, html(title));
  out += text_of(page_style, page_style_size);
  out += "</style>\n</head>\n<body>\n";
  out += top;
  out += contents(sections);
  out += "<main>\n";
  out += sections;
  out += "</main>\n";
  out += "<script type=\"application/json\" id=\"data\">";
  out += data;
  out += "</script>\n<script>";
  out += text_of(page_script, page_script_size);
  out += "</script>\n</body>\n</html>\n";
  return out;
}

std::string section(std::string_view id, std::string_view heading, std::string_view about,
                    const std::string& content) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n"
      "{2}{3}</section>\n",
      id, html(heading),
      about.empty() ? "" : fmt::format("<p class=\"about\">{}</p>\n", html(about)), content);
}

std::string header(std::string_view title, std::string_view sentence,
                   const std::vector<Line>& lines, const About& about) {
  std::string out = fmt::format("<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<dl>\n",
                                html(title), html(sentence));
  for (const Line& line : lines)
    if (!line.text.empty())
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", html(line.name), html(line.text));
  out += "</dl>\n";
  if (!about.command.empty())
    out += fmt::format(
        "<div class=\"command\"><span id=\"command-label\">Made by</span>\n"
        "<pre id=\"command\" tabindex=\"0\" aria-labelledby=\"command-label\">{}</pre></div>\n",
        html(about.command));
  return out +
         "<noscript><p class=\"note\">Map, slider and export need scripts, which are off here; "
         "everything else is below.</p></noscript>\n</header>\n";
}

std::vector<Line> machine_lines(const About& about) {
  const Seconds& s = about.seconds;
  const double all = s.read + s.setup + s.steps + s.exchange + s.certificate;
  std::vector<Line> lines;
  if (all > 0)
    lines.push_back(
        {"time", fmt::format("{:.3g} s with {}", all, counted(about.threads, "thread"))});
  if (about.peak_bytes > 0)
    lines.push_back(
        {"memory", format_bytes(static_cast<double>(about.peak_bytes)) + " at the most"});
  if (!about.version.empty()) lines.push_back({"program", "fwsr " + about.version});
  return lines;
}

std::string bar(double fraction, std::string_view label, std::string_view style) {
  const double width = 100 * std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  return fmt::format(
      "<svg class=\"{}\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\"><rect class=\"rail\" width=\"100\" height=\"6\"/><rect class=\"fill\" "
      "width=\"{:.2f}\" height=\"6\"/></svg>",
      style, html(label), width);
}

std::string mix_bar(const std::vector<Index>& counts, const std::vector<std::string>& names) {
  Index all = 0;
  for (const Index c : counts) all += c;
  if (all == 0) return "";
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0) order.push_back(c);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  constexpr std::size_t named = 3;
  std::string words, parts;
  double left = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    const double share = static_cast<double>(counts[order[p]]) / static_cast<double>(all);
    if (p < named)
      words += fmt::format("{}{}:\u00a0{}", p ? ", " : "", class_name(names[order[p]], 30),
                           percent(share));
    if (share > 0.002)  // less could not be seen
      parts += fmt::format("<rect class=\"c{}\" x=\"{:.2f}\" width=\"{:.2f}\" height=\"6\"/>",
                           order[p] % 21, left, 100 * share);
    left += 100 * share;
  }
  if (order.size() > named) words += fmt::format(" and {} more", order.size() - named);
  return fmt::format(
      "<svg class=\"bar mix\" viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\">{1}</svg><p class=\"mixed\">classes of its points: {0}</p>",
      html(words), parts);
}

std::string table(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows, std::string_view caption,
                  std::string_view id, std::string_view words) {
  std::string out = "<div class=\"scroll\"><table";
  if (!id.empty()) out += fmt::format(" id=\"{}\"", id);
  out += fmt::format(">\n<caption>{}</caption>\n<thead><tr>", html(caption));
  for (const std::string& name : columns)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", name == words ? " class=\"word\"" : "",
                       html(name));
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    out += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c == 0 ? fmt::format("<th scope=\"row\">{}</th>", row[c])
                    : fmt::format("<td{}>{}</td>", columns[c] == words ? " class=\"word\"" : "",
                                  row[c]);
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string table_behind(const std::string& table, std::string_view words) {
  return fmt::format("<details class=\"behind\"><summary>{}</summary>\n{}</details>\n", html(words),
                     table);
}

std::string heading_name(std::string_view name) {
  if (name.starts_with('/') && !name.ends_with('/')) name.remove_prefix(name.rfind('/') + 1);
  return shortened(name, 80);
}

std::string percent(double fraction) {
  const double exact = 100 * fraction;
  if (!std::isfinite(exact)) return "?";
  const double p = std::abs(exact - 100) < 1e-6 ? 100 : std::abs(exact) < 1e-9 ? 0 : exact;
  // The space is one at which no line is broken.
  if (p > 0 && p < 0.01) return fmt::format("{:.1g}\u00a0%", p);
  if (p > 99 && p < 100) return fmt::format("{:.2f}\u00a0%", std::min(p, 99.99));
  return fmt::format("{:.{}f}\u00a0%", p, p < 1 && p > 0 ? 2 : p == 0 || p == 100 ? 0 : 1);
}

std::string class_name(std::string_view name, std::size_t most) {
  return name.empty() ? "(no name)" : shortened(name, most);
}

std::string count_text(Index number) {
  const std::string digits = fmt::format("{}", number);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t behind = digits.size() - i;
    if (i > 0 && behind % 3 == 0 && digits[i - 1] != '-') out += ',';
    out += digits[i];
  }
  return out;
}

std::string number_text(double number) {
  return std::isfinite(number) ? fmt::format("{:.4g}", number) : "";
}

std::string distance_text(double distance) {
  return distance >= 0.001 && distance < 1000 ? fmt::format("{:.3f}", distance)
                                              : number_text(distance);
}

std::string counted(Index number, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(number), thing, number == 1 ? "" : "s");
}

}  // namespace fwsr::report
