// What the text readers (csv, libsvm, label files) share: numbers, places, words for messages.
// Internal.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/memory_budget.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr {

/// Bytes handed to one parallel task at a time. Part of no answer; tests make it tiny.
inline constexpr Index text_chunk = Index{1} << 20;

enum class FieldKind {
  number,
  missing,        // empty, NA, N/A, null, none or ?
  too_large,      // beyond the range of a double
  decimal_comma,  // 1,5
  thousands,      // 1,000 or 1,234,567: or a decimal comma, nobody knows
  several,        // numbers with blanks between them
  words           // anything else
};

struct ParsedField {
  FieldKind kind = FieldKind::words;
  double value = 0;
};

/// Something wrong at text[at].
struct Trouble {
  std::size_t at = 0;
  std::string what;
};

/// Reads a number as std::from_chars does, and also allows blanks around it and a leading '+'.
/// "nan" and "inf" are numbers here. A number too small for a double is 0.
ParsedField parse_number(std::string_view field);

/// What is wrong with a field of this kind and what to do about it. @pre kind is not number
std::string describe_problem(FieldKind kind, std::string_view field);

/// True for digits only.
bool is_whole_number(std::string_view text);

/// Without the blanks and tabs around it.
std::string_view trim(std::string_view text);

/// 'text' in quotes, shortened, with unprintable bytes as \x0d.
std::string show(std::string_view text);

/// "a, b, c and 54 more": as they are, or each in quotes.
std::string enumerate(const std::vector<std::string>& words);
std::string list_shortened(const std::vector<std::string>& words);

/// A label as it is kept: trimmed; a whole number written with a sign '+' or a decimal point
/// loses them, so that "+1", "1.0" and "1" are one class.
std::string tidy_label(std::string_view text);

/// A UTF-8 byte order mark at the start and blank lines at the end are no part of the content.
std::string_view content_of(std::string_view text);

/// No NUL bytes in the first 64 KiB. Other control characters are text, odd as they are.
bool looks_like_text(std::span<const std::byte> bytes);

/// A control character that is neither a tab nor part of a line break, in the first 64 KiB.
bool has_control_characters(std::span<const std::byte> bytes);

/// The first byte of a field that no text has: where it stands and what to do, or nothing.
std::optional<Trouble> find_nul(std::string_view field, std::size_t at);

/// True when `name`, without a final ".gz", ends in one of `endings`; upper and lower case alike.
bool has_ending(std::string_view name, std::initializer_list<std::string_view> endings);

/// "name:line:column: what", for trouble in `text`, whose first line is line `first_line`.
Failure locate(const std::string& name, std::string_view text, const Trouble& trouble,
               std::int64_t first_line = 1);

/// A part of a text that holds whole records.
struct Chunk {
  std::size_t first = 0;  // where its first record starts
  Index records = 0;      // how many records start in it
  Index record = 0;       // the number of its first record, from 0
  std::int64_t line = 0;  // the line on which its first record starts
  Index blank_lines = 0;  // that start in it and were skipped
};

enum class Quotes { ignored, protect_line_breaks };
enum class BlankLines { are_records, are_skipped };

/// True when the line that starts at text[at], and is not the last one, holds nothing but spaces.
inline bool is_blank_line(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\r')) ++at;
  return at < text.size() && text[at] == '\n';
}

/// What one stretch of text holds. Whether it starts between quotes is known to who has seen what stands before it, so
/// line breaks are kept apart by the parity of the quotes before them in the stretch.
struct ChunkScan {
  bool odd_quotes = false;
  std::int64_t line_breaks = 0;
  std::array<Index, 2> ends{};             // line breaks after an even / odd number of quotes
  std::array<std::size_t, 2> first_end{};  // the first of them, from the start of the text
  std::array<std::int64_t, 2> lines_to{};  // line breaks up to and with that one
  std::array<Index, 2> blank_lines{};  // that follow such line breaks: they are not counted there
};
/// Stretch number c of `text`, chunk_bytes long.
ChunkScan scan_chunk(std::string_view text, Index c, Index chunk_bytes, Quotes quotes,
                     BlankLines blank_lines);
/// The chunk that it is: the first of its text, or not; starting between quotes (1), or not. Its records and lines are
/// counted from its own start.
Chunk chunk_of(const ChunkScan& scan, bool first, std::size_t inside);
/// All chunks of a text from what they hold.
std::vector<Chunk> chunks_of(std::span<const ChunkScan> scans);

/// Cuts `text` into chunks of whole records, one record a line; with `protect_line_breaks` a line
/// break between quotes ends no record. Every '"' counts as a quote, so past a quote that stands
/// where none may the cuts mean nothing: whoever reads the chunks must report that quote. Some
/// chunks may hold no record. @pre the text neither is empty nor ends in a line break that ends a
/// record
std::vector<Chunk> cut_into_chunks(std::string_view text, Index chunk_bytes, Quotes quotes,
                                   BlankLines blank_lines, int threads);

/// Memory that the tasks of one read take as they go. After the first refusal none goes on.
class SharedCount {
 public:
  SharedCount(const std::string& name, MemoryShare& memory) : name_(name), memory_(memory) {}

  /// Both throw MemoryError when there is no more.
  void go_on() const;
  void add(Index bytes);

 private:
  const std::string& name_;
  MemoryShare& memory_;
  std::atomic<bool> refused_ = false;
};

/// Says that chunk c has been read; see let_go.
void let_go_of(std::string_view text, std::span<const Chunk> chunks, Index c);

}  // namespace fwsr
