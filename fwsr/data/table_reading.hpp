// How a table of text was understood: what was told, and what was guessed and why.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

struct TableReading {
  /// A column that is neither feature nor label nor id.
  struct LeftOut {
    std::string column;
    std::string why;  // "excluded", "empty on every line", ...
  };

  char separator = ',';
  bool header = false;      // names stand above the points
  std::string header_why;   // "its first line holds words"
  std::string id_column{};  // name, or "column 3"; empty: none
  std::string id_why{};     // empty when it was asked for
  std::string label_column{};
  std::vector<LeftOut> left_out{};
  std::vector<std::string> doubts{};  // sentences about features that may be none
  Index comment_lines = 0;            // above the points
  Index blank_lines = 0;              // anywhere but at the end

  bool operator==(const TableReading&) const = default;
};
inline bool operator==(const TableReading::LeftOut& a, const TableReading::LeftOut& b) {
  return a.column == b.column && a.why == b.why;
}

/// "comma", "tab", "semicolon" or "vertical bar".
std::string name_of_separator(char separator);

/// All of it in one line: "separated by commas; header: its first line holds words; ...".
std::string describe(const TableReading& table);

}  // namespace fwsr
