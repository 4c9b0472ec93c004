#include "fwsr/report/text.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace fwsr::report {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// The character that `text` begins with and how many bytes it has; 0 bytes: it is no UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

bool may_be_shown(std::uint32_t code) {
  if (code == '\n' || code == '\t') return true;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  if (code == 0x061c || code == 0x200e || code == 0x200f) return false;  // direction of writing
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return false;
  return code != 0xfffe && code != 0xffff;
}

/// Calls use(bytes) for every character of the cleaned text.
template <class Use>
void for_characters(std::string_view text, Use&& use) {
  while (!text.empty()) {
    const Character c = first_of(text);
    const std::size_t bytes = c.bytes == 0 ? 1 : c.bytes;
    use(c.bytes > 0 && may_be_shown(c.code) ? text.substr(0, bytes) : replacement);
    text.remove_prefix(bytes);
  }
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  for_characters(text, [&](std::string_view c) { out += c; });
  return out;
}

std::string html(std::string_view text) {
  std::string out;
  for_characters(text, [&](std::string_view c) {
    switch (c.front()) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '`':
        out += "&#96;";
        break;
      default:
        out += c;
    }
  });
  return out;
}

std::string json(std::string_view text) {
  std::string out = "\"";
  for_characters(text, [&](std::string_view c) {
    const auto lead = static_cast<unsigned char>(c.front());
    if (c == "\"" || c == "\\")
      out += '\\', out += c;
    else if (lead < 0x20 || c == "<" || c == ">" || c == "&")
      out += fmt::format("\\u{:04x}", lead);
    else if (c == "\xe2\x80\xa8" || c == "\xe2\x80\xa9")  // end a line in some scripts
      out += c.back() == '\xa8' ? "\\u2028" : "\\u2029";
    else
      out += c;
  });
  return out + '"';
}

std::string shortened(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t count = 0;
  // What is cut off is not looked at: some texts are books.
  const std::string_view start = text.substr(0, 4 * most + 4);
  bool cut = false;
  for_characters(start, [&](std::string_view c) {
    if (count < most)
      out += c;
    else
      cut = true;
    ++count;
  });
  return cut || start.size() < text.size() ? out + "\xe2\x80\xa6" : out;
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=:,./@%") == std::string_view::npos;
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) c == '\'' ? void(out += "'\\''") : void(out += c);
  return out + "'";
}

std::string base64(std::span<const unsigned char> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < there ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      out += j <= there ? letters[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

std::size_t length_of(std::string_view cleaned) {
  std::size_t count = 0;
  for (const char c : cleaned) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

}  // namespace fwsr::report
