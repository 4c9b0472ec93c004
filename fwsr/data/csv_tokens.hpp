// The fields of separated text, one after another (RFC 4180). Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fwsr/data/text.hpp"

namespace fwsr {

/// For text that has one field a line.
inline constexpr char no_separator = '\0';

struct Field {
  std::string_view text{};        // without the quotes and the blanks around it
  std::size_t at = 0;             // where it starts
  bool quoted = false;            //
  bool doubled = false;           // holds "" that stand for one quote
  bool last = false;              // the record ends after it
  const char* problem = nullptr;  // what is wrong with its quotes, at `at`; then all else is void

  /// With doubled quotes made single.
  std::string value() const;
};

/// Reads fields. A field in quotes may hold separators, line breaks and doubled quotes; blanks
/// around a field, also around its quotes, are no part of it. A record ends with LF or CR LF.
class Tokenizer {
 public:
  Tokenizer(std::string_view text, char separator, std::size_t at = 0, std::int64_t line = 1)
      : text_(text), separator_(separator), at_(at), line_(line) {}

  Field next();
  /// Steps over blank lines. @pre a record starts here
  void skip_blank_lines();

  /// The next field when it is a plain number, the common case. Otherwise nothing, and the field
  /// is still to be read. `last` says whether the record ends after it.
  std::optional<double> next_number(bool& last);

  std::size_t at() const { return at_; }
  std::int64_t line() const { return line_; }
  bool at_end() const { return at_ >= text_.size(); }

 private:
  Field unquoted(std::size_t start);
  Field quoted(std::size_t open);
  bool ends_record(std::size_t i) const { return i >= text_.size() || text_[i] == '\n'; }
  std::size_t skip_blanks(std::size_t i) const;
  /// Steps over what stands at `end` after a field: a separator, a line break or the end.
  bool finish(std::size_t end);

  std::string_view text_;
  char separator_;
  std::size_t at_;
  std::int64_t line_;
};

}  // namespace fwsr
