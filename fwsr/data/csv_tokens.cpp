#include "fwsr/data/csv_tokens.hpp"

#include <algorithm>
#include <charconv>

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

std::optional<double> Tokenizer::next_number(bool& last) {
  double value = 0;
  const char* const start = text_.data() + at_;
  const auto [stop, code] = std::from_chars(start, text_.data() + text_.size(), value);
  if (code != std::errc{}) return std::nullopt;
  std::size_t end = at_ + static_cast<std::size_t>(stop - start);
  if (end < text_.size() && text_[end] == '\r' && ends_record(end + 1)) ++end;
  if (!ends_record(end) && text_[end] != separator_) return std::nullopt;
  last = finish(end);
  return value;
}

}  // namespace fwsr
