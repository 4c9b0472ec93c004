// Text from people and files: numbers read strictly, names that were nearly right, and strings made
// safe to show on a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/quoted.hpp"

namespace fwsr::app {

/// As `shown`, but for line breaks and tabs: a page for a terminal.
std::string shown_on_terminal(std::string_view page);
/// A message for people: as `shown`, and what is too long for anybody to read left out of its middle.
std::string shown_briefly(std::string_view text);

/// All of `text` as a number (also "inf", "nan", "1e-3"), or nothing.
std::optional<double> parse_number(std::string_view text);
/// All of `text` as a whole number, or nothing.
std::optional<Index> parse_whole(std::string_view text);

/// The name most like `word`, when one is near enough to have been meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names);

/// "a, b and c"; only the first `most` of a long list, then "and 12 more".
std::string listed(const std::vector<std::string>& items, std::size_t most = 20);

/// "1 point", "2 points".
std::string counted(Index number, std::string_view thing);

/// "0.12 s", "3.4 s", "2 min 5 s".
std::string format_seconds(double seconds);

/// `text` broken at spaces into lines of at most `width` characters.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace fwsr::app
