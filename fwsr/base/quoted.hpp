// Text from files in messages and on terminals.
#pragma once

#include <string>
#include <string_view>

namespace fwsr {

/// `text` with control characters, broken UTF-8 and marks that turn the direction of writing shown
/// as \n, \x1b, \u202e: text from a file must not drive the terminal.
std::string shown(std::string_view text);
/// As `shown`, cut to `width` characters, in single quotes.
std::string in_quotes(std::string_view text, std::size_t width = 60);

}  // namespace fwsr
