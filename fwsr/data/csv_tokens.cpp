#include "fwsr/data/csv_tokens.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace fwsr {

std::string Field::value() const {
  if (!doubled) return std::string(text);
  std::string single;
  for (std::size_t i = 0; i < text.size(); ++i) {
    single += text[i];
    if (text[i] == '"') ++i;
  }
  return single;
}

// ------------------------------------------------------------------------------------- tokenizer

std::size_t Tokenizer::skip_blanks(std::size_t i) const {
  while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t') && text_[i] != separator_) ++i;
  return i;
}

bool Tokenizer::finish(std::size_t end) {
  at_ = std::min(text_.size(), end + 1);
  if (!ends_record(end)) return false;
  ++line_;
  return true;
}

void Tokenizer::skip_blank_lines() {
  while (is_blank_line(text_, at_)) {
    at_ = text_.find('\n', at_) + 1;
    ++line_;
  }
}

Field Tokenizer::next() {
  const std::size_t start = skip_blanks(at_);
  return start < text_.size() && text_[start] == '"' ? quoted(start) : unquoted(start);
}

Field Tokenizer::unquoted(std::size_t start) {
  std::size_t end = start;
  while (!ends_record(end) && text_[end] != separator_) {
    if (text_[end] == '"')
      return {.at = end,
              .problem =
                  "a quote inside a field that does not start with one; put the whole field "
                  "in quotes and double the quotes inside it"};
    ++end;
  }
  std::string_view text = text_.substr(start, end - start);
  if (ends_record(end) && text.ends_with('\r')) text.remove_suffix(1);
  Field field{.text = trim(text), .at = start};
  field.last = finish(end);
  return field;
}

Field Tokenizer::quoted(std::size_t open) {
  Field field{.at = open, .quoted = true};
  std::size_t close = open;
  for (;;) {
    close = text_.find('"', close + 1);
    if (close == std::string_view::npos)
      return {.at = open, .problem = "a quote is opened here and never closed; close it"};
    if (close + 1 >= text_.size() || text_[close + 1] != '"') break;
    field.doubled = true;
    ++close;
  }
  field.text = text_.substr(open + 1, close - open - 1);
  line_ += std::count(field.text.begin(), field.text.end(), '\n');
  std::size_t end = skip_blanks(close + 1);
  if (end < text_.size() && text_[end] == '\r' && ends_record(end + 1)) ++end;
  if (!ends_record(end) && text_[end] != separator_)
    return {.at = end,
            .problem =
                "text after a closing quote; double the quotes inside a quoted field, or "
                "put the separator after the closing one"};
  field.last = finish(end);
  return field;
}

namespace {

/// A number of few digits, `12`, `-0.125`: one whole number by a power of ten, both of them exact, so that the quotient
/// is the double nearest to what is written. Anything else: `first` is returned. @return where it ends
const char* read_short_number(const char* first, const char* last, double& value) {
  constexpr std::size_t most_digits = 15;  // always below 2^53
  static constexpr double powers[most_digits + 1] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* c = first;
  const bool negative = c < last && *c == '-';
  if (negative) ++c;
  std::uint64_t digits = 0;
  const auto read_digits = [&] {
    const char* const start = c;
    for (unsigned digit = 0;
         c < last && (digit = static_cast<unsigned char>(*c) - unsigned{'0'}) < 10; ++c)
      digits = 10 * digits + digit;
    return static_cast<std::size_t>(c - start);
  };
  const std::size_t whole = read_digits();
  std::size_t behind = 0;
  if (whole > 0 && c < last && *c == '.') {
    ++c;
    behind = read_digits();
  }
  if (whole == 0 || whole + behind > most_digits || (c < last && (*c == 'e' || *c == 'E')))
    return first;
  const double size = static_cast<double>(digits) / powers[behind];
  value = negative ? -size : size;
  return c;
}

}  // namespace

std::optional<double> Tokenizer::next_number(bool& last) {
  double value = 0;
  const char* const start = text_.data() + at_;
  const char* const all = text_.data() + text_.size();
  const char* stop = read_short_number(start, all, value);
  if (stop == start) {
    const auto read = std::from_chars(start, all, value);
    if (read.ec != std::errc{}) return std::nullopt;
    stop = read.ptr;
  }
  std::size_t end = at_ + static_cast<std::size_t>(stop - start);
  if (end < text_.size() && text_[end] == '\r' && ends_record(end + 1)) ++end;
  if (!ends_record(end) && text_[end] != separator_) return std::nullopt;
  last = finish(end);
  return value;
}

}  // namespace fwsr
