#include "fwsr/data/csv_opening.hpp"

#include <algorithm>
#include <array>

#include "fwsr/data/csv_tokens.hpp"

namespace fwsr {

namespace {

constexpr std::array candidates{'\t', ';', ',', '|'};

struct Counts {
  std::array<Index, candidates.size()> of{};
  std::size_t end = 0;  // of the record, after its line break
};

/// How often each candidate stands outside quotes in the record that starts at `at`.
Counts count_separators(std::string_view text, std::size_t at) {
  Counts counts;
  bool inside = false;
  for (; at < text.size() && (inside || text[at] != '\n'); ++at) {
    if (text[at] == '"') inside = !inside;
    if (inside) continue;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      if (text[at] == candidates[c]) ++counts.of[c];
  }
  counts.end = std::min(text.size(), at + 1);
  return counts;
}

std::size_t next_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

/// Steps over blank lines. @return how many
Index skip_blank_lines(std::string_view text, Place& place) {
  Index count = 0;
  for (; is_blank_line(text, place.at); ++count)
    place = {next_line(text, place.at), place.line + 1};
  return count;
}

/// What follows the # of a comment, when the line at `place` is one.
std::optional<std::string_view> comment_at(std::string_view text, Place place) {
  const std::size_t ink = std::min(text.find_first_not_of(" \t", place.at), text.size());
  if (ink == text.size() || text[ink] != '#') return std::nullopt;
  std::string_view line = text.substr(ink + 1, text.find('\n', ink) - ink - 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// The fields of one record, or the trouble it is in.
struct Record {
  std::vector<Field> fields{};
  std::optional<Trouble> trouble{};
};

Record read_record(Tokenizer& tokens) {
  Record record;
  for (bool more = true; more;) {
    record.fields.push_back(tokens.next());
    const Field& field = record.fields.back();
    if (field.problem) {
      record.trouble = Trouble{field.at, field.problem};
      return record;
    }
    more = !field.last;
  }
  return record;
}

/// Enough to tell numbers from words, and a column that counts from one that does not.
std::vector<std::vector<std::string_view>> read_some(std::string_view text, const Opening& o) {
  constexpr std::size_t most_records = 4, most_bytes = 65536;
  std::vector<std::vector<std::string_view>> records;
  Place place = o.second_place;
  Tokenizer tokens(text, o.separator, place.at, place.line);
  while (records.size() < most_records && !tokens.at_end() &&
         tokens.at() - o.second_place.at < most_bytes) {
    if (o.skips_blank_lines()) tokens.skip_blank_lines();
    const Record record = read_record(tokens);
    if (record.trouble || std::ssize(record.fields) != o.fields()) break;
    records.emplace_back();
    for (const Field& field : record.fields) records.back().push_back(field.text);
  }
  return records;
}

/// The fields of a comment that could name the columns.
std::vector<std::string> names_in(std::string_view comment, const Opening& o) {
  if (comment.empty()) return {};
  Tokenizer tokens(comment, o.separator);
  const Record record = read_record(tokens);
  if (record.trouble || std::ssize(record.fields) != o.fields() || o.fields() < 2) return {};
  std::vector<std::string> names;
  bool words = false;
  for (const Field& field : record.fields) {
    names.push_back(field.value());
    words = words || parse_number(field.text).kind == FieldKind::words;
  }
  return words ? names : std::vector<std::string>();
}

}  // namespace

char choose_separator(std::string_view text) {
  const Counts first = count_separators(text, 0);
  if (first.end < text.size()) {
    const Counts second = count_separators(text, first.end);
    for (std::size_t c = 0; c < candidates.size(); ++c)
      if (first.of[c] > 0 && first.of[c] == second.of[c]) return candidates[c];
  }
  const auto most = std::max_element(first.of.begin(), first.of.end());
  return *most == 0 ? ',' : candidates[static_cast<std::size_t>(most - first.of.begin())];
}

Opening read_opening(std::string_view text) {
  Opening o;
  Place& start = o.first_place;
  std::string_view comment;
  for (;;) {
    o.blank_lines_above += skip_blank_lines(text, start);
    const auto found = comment_at(text, start);
    if (!found) break;
    comment = *found;
    ++o.comment_lines;
    start = {next_line(text, start.at), start.line + 1};
  }
  o.second_place = start;
  if (start.at >= text.size()) return o;
  o.separator = choose_separator(text.substr(start.at));
  Tokenizer tokens(text, o.separator, start.at, start.line);
  Record first = read_record(tokens);
  o.trouble = std::move(first.trouble);
  if (o.trouble) return o;
  for (const Field& field : first.fields) o.first.push_back(field.value());
  o.second_place = {tokens.at(), tokens.line()};
  if (o.skips_blank_lines()) o.blank_lines_between += skip_blank_lines(text, o.second_place);
  o.next = read_some(text, o);
  o.names_above = names_in(comment, o);
  return o;
}

}  // namespace fwsr
