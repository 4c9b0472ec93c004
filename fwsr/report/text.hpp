// Text from anywhere made safe for a page: whatever the bytes are, they are shown and never become markup or script.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fwsr::report {

/// The same with every byte that is no UTF-8, and every control character but line break and tab, as U+FFFD. Marks that
/// turn the direction of writing are among these: a name must not change how the words around it are read.
std::string clean(std::string_view text);

/// For the content of an element or an attribute in double quotes, cleaned.
std::string html(std::string_view text);

/// A string of JSON with its quotes, cleaned, that may stand inside a script element: < > & and the line separators of
/// Unicode are written as \u003c.
std::string json(std::string_view text);

/// At most so many characters, and an ellipsis where some were cut off. Cleaned.
std::string shortened(std::string_view text, std::size_t most);

/// One word of a command line of sh, in quotes where it needs them.
std::string shell_word(std::string_view text);

std::string base64(std::span<const unsigned char> bytes);

/// The characters of a cleaned text.
std::size_t length_of(std::string_view cleaned);

}  // namespace fwsr::report
