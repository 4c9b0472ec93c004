#include "fwsr/data/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/files.hpp"
#include "fwsr/base/let_go.hpp"

namespace fwsr {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// True when the number in `text`, which is beyond the range of a double, is below it.
/// @pre text is a decimal number other than 0
bool is_tiny(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, e);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t leading = digits.find_first_of("123456789");
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto [end, code] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (code == std::errc::result_out_of_range) return power.starts_with('-');
  }
  // Both positions are less than the size of a file, so that only the exponent can be huge.
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(leading);
  return exponent < -magnitude;
}

bool is_missing(std::string_view text) {
  constexpr std::string_view words[] = {"", "NA", "N/A", "null", "NULL", "none", "None", "?"};
  return std::find(std::begin(words), std::end(words), text) != std::end(words);
}

bool is_decimal_comma(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  return comma != std::string_view::npos && is_whole_number(text.substr(0, comma)) &&
         is_whole_number(text.substr(comma + 1, text.find_first_of("eE") - comma - 1));
}

/// 1,000 or 1,234,567: groups of three digits after the first, which does not begin with 0.
bool is_thousands(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  text = text.substr(0, text.find('.'));
  std::size_t comma = text.find(',');
  if (comma == 0 || comma > 3 || text.front() == '0' || !is_whole_number(text.substr(0, comma)))
    return false;
  for (; comma < text.size(); comma += 4)
    if (text[comma] != ',' || text.size() < comma + 4 ||
        !is_whole_number(text.substr(comma + 1, 3)))
      return false;
  return true;
}

FieldKind kind_of_other(std::string_view text) {
  if (is_missing(text)) return FieldKind::missing;
  if (is_thousands(text)) return FieldKind::thousands;
  if (is_decimal_comma(text)) return FieldKind::decimal_comma;
  const std::size_t blank = text.find_first_of(" \t");
  if (blank != std::string_view::npos) {
    const std::string_view rest = trim(text.substr(blank));
    const bool two =
        parse_number(text.substr(0, blank)).kind == FieldKind::number &&
        parse_number(rest.substr(0, rest.find_first_of(" \t"))).kind == FieldKind::number;
    if (two) return FieldKind::several;
  }
  return FieldKind::words;
}

}  // namespace

// --------------------------------------------------------------------------------------- numbers

ParsedField parse_number(std::string_view field) {
  std::string_view text = trim(field);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (end == last && code == std::errc{}) return {FieldKind::number, value};
  if (end == last && code == std::errc::result_out_of_range) {
    if (!is_tiny(text)) return {FieldKind::too_large, 0};
    return {FieldKind::number, text.front() == '-' ? -0.0 : 0.0};
  }
  return {kind_of_other(text), 0};
}

std::string describe_problem(FieldKind kind, std::string_view field) {
  switch (kind) {
    case FieldKind::missing:
      return trim(field).empty()
                 ? "is empty; fill in a number, remove the line, or leave the column out"
                 : fmt::format(
                       "is missing ({}); fill in a number, remove the line, or leave the "
                       "column out",
                       show(field));
    case FieldKind::too_large:
      return fmt::format("{} is beyond the largest number of double precision; rescale the column",
                         show(field));
    case FieldKind::decimal_comma:
      return fmt::format("{} has a decimal comma; write decimals with a point", show(field));
    case FieldKind::thousands: {
      std::string plain(trim(field));
      std::erase(plain, ',');
      return fmt::format(
          "{} has commas among its digits, for thousands or as a decimal comma; write {} or, if it "
          "is a decimal comma, a point in its place",
          show(field), show(plain));
    }
    case FieldKind::several:
      return fmt::format(
          "{} holds several numbers; separate them by commas, tabs or semicolons, "
          "as in tr -s ' ' ',' < FILE",
          show(field));
    case FieldKind::words:
    case FieldKind::number:
      break;
  }
  return fmt::format(
      "{} is not a number; correct it, or choose the columns that hold numbers as features",
      show(field));
}

bool is_whole_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// ----------------------------------------------------------------------------------------- words

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string show(std::string_view text) {
  constexpr std::size_t most = 40;
  const bool shortened = text.size() > most;
  if (shortened) {
    text = text.substr(0, most);
    // Cut no UTF-8 letter in two: drop its first byte and what follows it.
    std::size_t end = text.size();
    while (end > 0 && (static_cast<unsigned char>(text[end - 1]) & 0xC0) == 0x80) --end;
    if (end > 0 && static_cast<unsigned char>(text[end - 1]) >= 0xC0)
      text = text.substr(0, end - 1);
  }
  std::string words = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      words += fmt::format("\\x{:02x}", byte);
    else
      words += c;
  }
  return words + (shortened ? "...'" : "'");
}

std::string enumerate(const std::vector<std::string>& words) {
  constexpr std::size_t most = 12;
  const std::size_t listed = words.size() > most ? most - 2 : words.size();
  std::string list;
  for (std::size_t i = 0; i < listed; ++i) list += (i ? ", " : "") + words[i];
  if (listed < words.size()) list += fmt::format(" and {} more", words.size() - listed);
  return list;
}

std::string list_shortened(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  for (const std::string& word : words) shown.push_back(show(word));
  return enumerate(shown);
}

std::string tidy_label(std::string_view text) {
  text = trim(text);
  const bool written_long = text.starts_with('+') || text.find('.') != std::string_view::npos;
  const ParsedField number = written_long ? parse_number(text) : ParsedField{};
  if (number.kind != FieldKind::number || std::trunc(number.value) != number.value ||
      std::abs(number.value) > 0x1p53)
    return std::string(text);
  return fmt::format("{}", static_cast<std::int64_t>(number.value));
}

// -------------------------------------------------------------------------------- files and names

std::string_view content_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (;;) {
    const std::size_t ink = text.find_last_not_of(" \r");
    if (ink == std::string_view::npos) return {};
    if (text[ink] != '\n') return text;
    text = text.substr(0, ink);
  }
}

bool looks_like_text(std::span<const std::byte> bytes) {
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), 65536));
  return !start.empty() && std::find(start.begin(), start.end(), std::byte{0}) == start.end();
}

bool has_control_characters(std::span<const std::byte> bytes) {
  const auto start = bytes.first(std::min<std::size_t>(bytes.size(), 65536));
  return std::any_of(start.begin(), start.end(), [](std::byte b) {
    const auto c = static_cast<unsigned char>(b);
    return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
  });
}

std::optional<Trouble> find_nul(std::string_view field, std::size_t at) {
  const std::size_t nul = field.find('\0');
  if (nul == std::string_view::npos) return std::nullopt;
  return Trouble{at + nul,
                 "a NUL byte (\\x00), which no text has; remove it, or write the file anew"};
}

bool has_ending(std::string_view name, std::initializer_list<std::string_view> endings) {
  const auto ends_in = [&](std::string_view ending) {
    return name.size() >= ending.size() &&
           std::equal(
               ending.begin(), ending.end(), name.end() - std::ssize(ending),
               [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  };
  if (ends_in(".gz")) name.remove_suffix(3);
  return std::any_of(endings.begin(), endings.end(), ends_in);
}

Failure locate(const std::string& name, std::string_view text, const Trouble& trouble,
               std::int64_t first_line) {
  const std::string_view before = text.substr(0, trouble.at);
  const auto line = first_line + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // 0 when there is none
  return {fmt::format("{}:{}:{}: {}", name, line, trouble.at - start + 1, trouble.what)};
}

// ---------------------------------------------------------------------------------------- chunks

ChunkScan scan_chunk(std::string_view text, Index c, Index chunk_bytes, Quotes quotes,
                     BlankLines blank_lines) {
  const auto from = static_cast<std::size_t>(c * chunk_bytes);
  const auto to = std::min(text.size(), from + static_cast<std::size_t>(chunk_bytes));
  ChunkScan found;
  std::size_t parity = 0;
  const std::string_view here = text.substr(0, to);
  const auto next = [&](char letter, std::size_t i) { return std::min(to, here.find(letter, i)); };
  // Neither is looked for beyond what is known: files have many lines, and mostly no quotes.
  std::size_t line_break = next('\n', from),
              quote = quotes == Quotes::protect_line_breaks ? next('"', from) : to;
  while (line_break < to || quote < to) {
    if (quote < line_break) {
      parity ^= 1;
      quote = next('"', quote + 1);
      continue;
    }
    const std::size_t i = line_break;
    line_break = next('\n', i + 1);
    ++found.line_breaks;
    if (blank_lines == BlankLines::are_skipped && is_blank_line(text, i + 1)) {
      ++found.blank_lines[parity];
      continue;
    }
    if (found.ends[parity]++ > 0) continue;
    found.first_end[parity] = i;
    found.lines_to[parity] = found.line_breaks;
  }
  found.odd_quotes = parity == 1;
  let_go(std::as_bytes(std::span(text)).subspan(from, to - from));
  return found;
}

Chunk chunk_of(const ChunkScan& scan, bool first, std::size_t inside) {
  // Its records are those that follow its line breaks; the very first record of a text follows none.
  return {.first = first ? 0 : scan.first_end[inside] + 1,
          .records = scan.ends[inside] + (first ? 1 : 0),
          .record = 0,
          .line = 1 + (first ? 0 : scan.lines_to[inside]),
          .blank_lines = scan.blank_lines[inside]};
}

std::vector<Chunk> chunks_of(std::span<const ChunkScan> scans) {
  std::vector<Chunk> chunks;
  std::size_t inside = 0;
  Index record = 0;
  std::int64_t line = 0;
  for (const ChunkScan& scan : scans) {
    chunks.push_back(chunk_of(scan, chunks.empty(), inside));
    chunks.back().record += record;
    chunks.back().line += line;
    record += chunks.back().records;
    line += scan.line_breaks;
    inside ^= scan.odd_quotes ? 1 : 0;
  }
  return chunks;
}

std::vector<Chunk> cut_into_chunks(std::string_view text, Index chunk_bytes, Quotes quotes,
                                   BlankLines blank_lines, int threads) {
  std::vector<ChunkScan> scans(
      static_cast<std::size_t>(block_count(std::ssize(text), chunk_bytes)));
  for_tasks(threads, std::ssize(scans), [&](Index c) {
    scans[static_cast<std::size_t>(c)] = scan_chunk(text, c, chunk_bytes, quotes, blank_lines);
  });
  return chunks_of(scans);
}

// ---------------------------------------------------------------------------------------- memory

void SharedCount::go_on() const {
  if (refused_) throw MemoryError(name_ + ": does not fit the memory allowed");
}

void SharedCount::add(Index bytes) {
  const auto refusal = memory_.grow(name_, bytes);
  if (!refusal) return;
  refused_ = true;
  throw MemoryError(refusal->message);
}

void let_go_of(std::string_view text, std::span<const Chunk> chunks, Index c) {
  const auto k = static_cast<std::size_t>(c);
  // A chunk without records has no place of its own; the one before it reached further.
  std::size_t end = text.size();
  for (std::size_t next = k + 1; next < chunks.size() && end == text.size(); ++next)
    if (chunks[next].records > 0) end = chunks[next].first;
  if (chunks[k].records > 0)
    let_go(std::as_bytes(std::span(text)).subspan(chunks[k].first, end - chunks[k].first));
}

}  // namespace fwsr
