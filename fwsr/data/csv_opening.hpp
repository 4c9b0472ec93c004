// How separated text begins: comments, the separator, the first records. Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/data/text.hpp"

namespace fwsr {

/// Where a record starts.
struct Place {
  std::size_t at = 0;     // from the start of the text
  std::int64_t line = 1;  // from 1
};

struct Opening {
  Index comment_lines = 0;        // above the first record: they start with #
  Index blank_lines_above = 0;    // the first record
  Index blank_lines_between = 0;  // it and the second
  Place first_place, second_place;
  char separator = ',';
  std::vector<std::string> first;  // the fields of the first record; empty: there is none
  /// Some records after the first, of as many fields.
  std::vector<std::vector<std::string_view>> next;
  /// The fields of the comment right above the first record, when they are as many, and words: NumPy writes
  /// the names of columns so. Else empty.
  std::vector<std::string> names_above;
  std::optional<Trouble> trouble;  // of the first record

  Index fields() const { return std::ssize(first); }
  /// In a table of one column a blank line may be a point that got lost.
  bool skips_blank_lines() const { return fields() > 1; }
};

Opening read_opening(std::string_view text);

/// The separator of `text`: that of tab, semicolon, comma and vertical bar, in this order, which occurs
/// equally often in the first two records; else the most frequent one of the first record; else a comma.
/// Semicolon before comma, because a file with semicolons may have decimal commas; the bar last, because
/// fields of a table may hold lists of words with bars between them.
char choose_separator(std::string_view text);

}  // namespace fwsr
