// The header of an .npy image: six magic bytes, a version, a length, and a Python dictionary such
// as
//   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "fwsr/data/npy.hpp"

namespace fwsr {

namespace {

constexpr Index longest_header = Index{1} << 20;

/// Reads the dictionary from left to right. The first thing that does not fit stops it for good,
/// and `problem` says what it was.
class DictParser {
 public:
  explicit DictParser(std::string_view text) : text_(text) {}

  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;
  std::string problem;

  bool parse() {
    if (!expect('{')) return false;
    while (!take('}')) {
      const auto key = parse_string();
      if (!key || !expect(':') || !parse_value(*key)) return fail("a key with its value");
      if (!take(',') && peek() != '}') return fail("',' or '}'");
    }
    skip_space();
    if (at_ < text_.size()) return fail("the end of the header");
    if (seen_ != 7) return fail("the keys 'descr', 'fortran_order' and 'shape'");
    return true;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool expect(char c) { return take(c) || fail(fmt::format("'{}'", c)); }
  bool fail(const std::string& expected) {
    if (problem.empty()) problem = fmt::format("byte {}: {} expected", at_, expected);
    return false;
  }

  std::optional<std::string> parse_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') {
      fail("a string");
      return std::nullopt;
    }
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) {
      fail("a closing quote");
      return std::nullopt;
    }
    std::string inside(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return inside;
  }

  bool once(int bit) {
    if (seen_ & bit) return fail("each key once");
    seen_ |= bit;
    return true;
  }

  bool parse_value(const std::string& key) {
    if (key == "descr") return once(1) && parse_descr();
    if (key == "fortran_order") {
      if (take_word("True")) return fortran_order = true, once(2);
      return (take_word("False") && once(2)) || fail("True or False");
    }
    if (key == "shape") return once(4) && parse_shape();
    return fail("one of 'descr', 'fortran_order' and 'shape'");
  }

  bool parse_descr() {
    if (peek() == '[' || peek() == '(') {  // named fields, or arrays within arrays
      problem = "structured";
      return false;
    }
    const auto text = parse_string();
    if (!text) return false;
    descr = *text;
    return true;
  }

  bool parse_shape() {
    if (!expect('(')) return false;
    while (!take(')')) {
      skip_space();
      Index length = 0;
      const char* first = text_.data() + at_;
      const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), length);
      if (code != std::errc{} || length < 0) return fail("a length that fits in 63 bits");
      at_ += static_cast<std::size_t>(end - first);
      take('L');  // Python 2 wrote 3L
      shape.push_back(length);
      if (!take(',') && peek() != ')') return fail("',' or ')'");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int seen_ = 0;
};

/// What a user can do about a type that cannot be points or labels; empty for a type we read.
std::string find_type_problem(char kind, Index size) {
  switch (kind) {
    case 'b':
      return size == 1 ? "" : "an unknown type";
    case 'i':
    case 'u':
      return size == 1 || size == 2 || size == 4 || size == 8 ? "" : "an unknown type";
    case 'f':
      if (size == 2 || size == 4 || size == 8) return "";
      return size == 16 || size == 12 ? "long doubles; save it with .astype('float64')"
                                      : "an unknown type";
    case 'S':
      return size >= 0 ? "" : "an unknown type";
    case 'U':
      return size >= 0 && size % 4 == 0 ? "" : "an unknown type";
    case 'c':
      return "complex numbers; save real and imaginary parts as separate columns";
    case 'O':
      return "Python objects; save it with .astype('float64') or as text";
    case 'V':
      return "structured records; save one plain two-dimensional array of numbers";
    case 'M':
    case 'm':
      return "dates or times; save it with .astype('float64')";
    default:
      return "an unknown type";
  }
}

/// Splits "<f4". Returns what is wrong, or an empty string.
std::string read_descr(std::string_view descr, NpyHeader& header) {
  std::string_view rest = descr;
  char order = '|';
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    order = rest[0];
    rest.remove_prefix(1);
  }
  if (rest.empty()) return "an empty type";
  // numpy.save knows no name for the bfloat16 of ml_dtypes: two bytes in an order, which other records have not.
  if (rest == "bfloat16" || (rest == "V2" && (order == '<' || order == '>'))) {
    header.kind = 'V';
    header.size = 2;
    header.big_endian = order == '>';
    return "";
  }
  header.kind = rest[0] == 'a' ? 'S' : rest[0];
  rest.remove_prefix(1);
  if (header.kind == 'O' || header.kind == 'M' || header.kind == 'm')
    return find_type_problem(header.kind, 8);  // these need not have a size
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), header.size);
  constexpr Index largest = Index{1} << 40;
  if (code != std::errc{} || end != rest.data() + rest.size() || header.size < 0 ||
      header.size > largest)
    return "an unknown type";
  if (header.kind == 'U') header.size *= 4;
  header.big_endian = order == '>';
  return find_type_problem(header.kind, header.size);
}

}  // namespace

NumberType NpyHeader::number() const {
  const NumberKind number_kind = kind == 'b'   ? NumberKind::boolean
                                 : kind == 'i' ? NumberKind::signed_integer
                                 : kind == 'u' ? NumberKind::unsigned_integer
                                 : kind == 'V' ? NumberKind::bfloat
                                               : NumberKind::floating;
  return {number_kind, size, big_endian && size > 1};
}

std::string NpyHeader::type() const {
  return is_text() ? "text" : name_of(number());
}

std::string shape_text(const std::vector<Index>& shape) {
  std::string text;
  for (std::size_t i = 0; i < shape.size() && i < 8; ++i)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", shape[i]);
  if (shape.size() > 8) text += ", ...";
  return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
}

Result<NpyHeader> read_npy_header(const std::string& where, const ByteSource& next) {
  const auto fail = [&](const std::string& what) { return Failure{where + ": " + what}; };
  std::array<std::byte, 8> start{};
  if (auto got = next(start); !got) return got.error();
  if (std::memcmp(start.data(), "\x93NUMPY", 6) != 0)
    return fail("does not begin like a NumPy array; save it with numpy.save");
  const int version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3)
    return fail(
        fmt::format("is of npy version {}, and this program reads 1 to 3; save it with "
                    "numpy.save",
                    version));
  std::array<std::byte, 4> length_bytes{};
  const std::size_t width = version == 1 ? 2 : 4;
  if (auto got = next(std::span(length_bytes).first(width)); !got) return got.error();
  Index length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= std::to_integer<Index>(length_bytes[i]) << (8 * i);
  if (length > longest_header)
    return fail(fmt::format("has a header of {} bytes, which no plain array needs", length));
  std::string text(static_cast<std::size_t>(length), '\0');
  if (auto got = next(std::as_writable_bytes(std::span(text))); !got) return got.error();

  NpyHeader header;
  DictParser dict(text);
  if (!dict.parse()) {
    if (dict.problem == "structured") return fail("holds " + find_type_problem('V', 0));
    return fail(
        fmt::format("its header cannot be read ({}); save it with numpy.save", dict.problem));
  }
  if (const auto problem = read_descr(dict.descr, header); !problem.empty())
    return fail(fmt::format("type '{}': holds {}", printable(dict.descr), problem));
  header.by_columns = dict.fortran_order;
  header.shape = std::move(dict.shape);
  header.offset = static_cast<Index>(8 + width) + length;
  header.count = 1;
  Index total = 0;
  for (const Index n : header.shape)
    if (__builtin_mul_overflow(header.count, n, &header.count))
      return fail(fmt::format("shape {} is too large for any memory; save the array again",
                              shape_text(header.shape)));
  if (__builtin_mul_overflow(header.count, header.size, &total) ||
      __builtin_add_overflow(total, header.offset, &total))
    return fail(fmt::format("shape {} is too large for any memory; save the array again",
                            shape_text(header.shape)));
  return header;
}

}  // namespace fwsr
