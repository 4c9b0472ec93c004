#include "fwsr/base/quoted.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace fwsr {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

/// The UTF-8 character at the start of `text`. @pre text is not empty
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {code, bytes};
}

bool turns_direction(std::uint32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
         code == 0x200E || code == 0x200F || code == 0x2028 || code == 0x2029;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (code == '\n' || code == '\t' || code == '\r') {
      out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
      out += fmt::format("\\x{:02x}", code);
    } else if (turns_direction(code)) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

std::string in_quotes(std::string_view text, std::size_t width) {
  std::size_t end = 0, characters = 0;
  while (end < text.size() && characters < width) {
    end += std::max<std::size_t>(first_character(text.substr(end)).bytes, 1);
    ++characters;
  }
  return fmt::format("'{}{}'", shown(text.substr(0, end)), end < text.size() ? "..." : "");
}

}  // namespace fwsr
