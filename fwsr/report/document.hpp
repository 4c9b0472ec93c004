// The frame of every page, and the parts that pages share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fwsr/report/page.hpp"

namespace fwsr::report {

/// All of a page: head with the rules of what may be loaded (nothing), style, what stands on top, links to the sections,
/// these, data and script.
/// @pre top and sections are markup, data JSON as JsonWriter makes it
std::string document(std::string_view title, const std::string& top, const std::string& sections,
                     const std::string& data);

/// A part of a page with a heading.
std::string section(std::string_view id, std::string_view heading, std::string_view about,
                    const std::string& content);

/// Above everything: the title, one sentence, names and what they are, and the command.
struct Line {
  std::string name, text;
};
std::string header(std::string_view title, std::string_view sentence,
                   const std::vector<Line>& lines, const About& about);

/// What belongs to every run: seconds, memory, threads.
std::vector<Line> machine_lines(const About& about);

/// A bar from 0 to 1, and parts of one that are laid end to end, in the colours of classes.
std::string bar(double fraction, std::string_view label, std::string_view style = "bar");
std::string mix_bar(const std::vector<Index>& counts, const std::vector<std::string>& names);

/// Cells are markup; names of columns text. The first column is the head of its row; that of this name has words, which
/// begin where those of the line above do.
std::string table(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows, std::string_view caption,
                  std::string_view id = "", std::string_view words = "class");
/// A table that is there for who wants it.
std::string table_behind(const std::string& table, std::string_view words);

/// The name of the data for a heading: of a path from the root its last part, as the command has all of it.
std::string heading_name(std::string_view name);
/// "84.3 %", of a fraction; all digits near the ends: "99.98 %".
std::string percent(double fraction);
/// "12,345".
std::string count_text(Index number);
std::string number_text(double number);
/// Three digits behind the point, so that those of a column can be compared.
std::string distance_text(double distance);
/// At most so many characters; of an empty name "(no name)".
std::string class_name(std::string_view name, std::size_t most);
/// "point", "points".
std::string counted(Index number, std::string_view thing);

}  // namespace fwsr::report
