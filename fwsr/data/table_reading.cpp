#include "fwsr/data/table_reading.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fwsr/data/text.hpp"

namespace fwsr {

namespace {

/// "; left out (why): a, b and 54 more", for every reason there is.
std::string left_out_text(const std::vector<TableReading::LeftOut>& columns) {
  std::vector<std::string> reasons;
  for (const auto& c : columns)
    if (std::find(reasons.begin(), reasons.end(), c.why) == reasons.end()) reasons.push_back(c.why);
  std::string text;
  for (const std::string& why : reasons) {
    std::vector<std::string> names;
    for (const auto& c : columns)
      if (c.why == why) names.push_back(c.column);
    text += fmt::format("; left out ({}): {}", why, enumerate(names));
  }
  return text;
}

}  // namespace

std::string name_of_separator(char separator) {
  switch (separator) {
    case '\t':
      return "tab";
    case ';':
      return "semicolon";
    case '|':
      return "vertical bar";
    default:
      return "comma";
  }
}

std::string describe(const TableReading& table) {
  std::string text =
      fmt::format("separated by {}s; {} ({})", name_of_separator(table.separator),
                  table.header ? "with a header" : "without a header", table.header_why);
  if (!table.label_column.empty()) text += fmt::format("; labels from {}", table.label_column);
  if (!table.id_column.empty())
    text += fmt::format("; ids from {}{}", table.id_column,
                        table.id_why.empty() ? "" : fmt::format(" ({})", table.id_why));
  text += left_out_text(table.left_out);
  const auto skipped = [&](Index lines, const char* kind) {
    if (lines > 0)
      text += fmt::format("; {} {} line{} skipped", lines, kind, lines == 1 ? "" : "s");
  };
  skipped(table.comment_lines, "comment");
  skipped(table.blank_lines, "blank");
  for (const std::string& doubt : table.doubts) text += "; " + doubt;
  return text;
}

}  // namespace fwsr
