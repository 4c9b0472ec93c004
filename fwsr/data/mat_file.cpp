#include "fwsr/data/mat_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/let_go.hpp"

namespace fwsr {

namespace {

using Bytes = std::span<const std::byte>;

// Types of elements.
constexpr std::uint32_t mi_int8 = 1;
constexpr std::uint32_t mi_int32 = 5;
constexpr std::uint32_t mi_uint32 = 6;
constexpr std::uint32_t mi_matrix = 14;
constexpr std::uint32_t mi_compressed = 15;

std::uint32_t u32(Bytes b, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::to_integer<std::uint32_t>(b[big_endian ? 3 - i : i]) << (8 * i);
  return value;
}

std::optional<NumberType> number_type(std::uint32_t type) {
  using enum NumberKind;
  switch (type) {
    case 1:
      return NumberType{signed_integer, 1};
    case 2:
      return NumberType{unsigned_integer, 1};
    case 3:
      return NumberType{signed_integer, 2};
    case 4:
      return NumberType{unsigned_integer, 2};
    case 5:
      return NumberType{signed_integer, 4};
    case 6:
      return NumberType{unsigned_integer, 4};
    case 7:
      return NumberType{floating, 4};
    case 9:
      return NumberType{floating, 8};
    case 12:
      return NumberType{signed_integer, 8};
    case 13:
      return NumberType{unsigned_integer, 8};
    default:
      return std::nullopt;
  }
}

// The header ends with the version, 0x0100 in the byte order that its last two bytes tell.
constexpr std::string_view little_end{"\0\1IM", 4};
constexpr std::string_view big_end{"\1\0MI", 4};
constexpr std::size_t header_size = 128;

std::string_view end_of_header(std::string_view text) {
  return text.size() < header_size ? std::string_view() : text.substr(header_size - 4, 4);
}

/// Version 4 has no header: every variable begins with five numbers and its name. The first number has
/// four decimal digits, of which we take those of the machines there still are: 0 or 1, then 0, the
/// type of the numbers, and that of the matrix.
bool looks_like_version_4(const FileBytes& file) {
  const Bytes bytes = file.bytes();
  if (bytes.size() < 22) return false;
  for (const bool big_endian : {false, true}) {
    const auto word = [&](std::size_t i) { return u32(bytes.subspan(4 * i), big_endian); };
    const std::uint32_t kind = word(0), name_length = word(4);
    const bool plausible = kind / 1000 == (big_endian ? 1u : 0u) && kind / 100 % 10 == 0 &&
                           kind / 10 % 10 <= 5 && kind % 10 <= 2 && word(1) > 0 && word(2) > 0 &&
                           word(3) <= 1 && name_length >= 2 && name_length <= 64;
    if (!plausible || bytes.size() - 20 < name_length) continue;
    const std::string_view name = file.text().substr(20, name_length);
    const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
    if (name.find('\0') == name.size() - 1 && is_letter(name[0])) return true;
  }
  return false;
}

std::optional<Failure> find_version_problem(const FileBytes& file) {
  const auto text = file.text();
  const auto no_reader = [&](const char* version, const char* in_python) {
    return Failure{fmt::format(
        "{}: is a MATLAB {} file, which this program does not read; save it in MATLAB with "
        "save(file, 'X', '-v7'), or in Python with numpy.save('X.npy', {})",
        file.name(), version, in_python)};
  };
  if (text.starts_with("MATLAB 7.3") || (text.size() >= 520 && text.substr(512, 4) == "\x89HDF"))
    return no_reader("7.3 (HDF5)", "h5py.File(file)['X'][:].T");
  if (looks_like_version_4(file)) return no_reader("4", "scipy.io.loadmat(file)['X']");
  if (text.size() < header_size)
    return Failure{
        fmt::format("{}: is cut off: a MATLAB file begins with {} bytes, {} found; copy or save "
                    "the file again",
                    file.name(), header_size, text.size())};
  if (end_of_header(text) != little_end && end_of_header(text) != big_end)
    return Failure{
        fmt::format("{}: is not a MATLAB file of version 5 to 7.2 (its header does "
                    "not say so); save it in MATLAB with save(file, 'X', '-v7')",
                    file.name())};
  return std::nullopt;
}

}  // namespace

bool looks_like_mat(const FileBytes& file) {
  const auto start = file.text().substr(0, header_size - 4);
  if (start.starts_with("MATLAB ") && start.find("MAT-file") != std::string_view::npos) return true;
  const auto end = end_of_header(file.text());
  const bool other_words = (end == little_end || end == big_end) &&
                           start.substr(0, 4).find('\0') == std::string_view::npos;
  return other_words || looks_like_version_4(file);
}

Result<std::vector<MatVariable>> list_variables(const FileBytes& file) {
  if (auto problem = find_version_problem(file)) return *problem;
  const bool big_endian = end_of_header(file.text()) == big_end;
  std::vector<MatVariable> variables;
  Bytes rest = file.bytes().subspan(header_size);
  while (!rest.empty()) {
    const auto broken = [&](const char* what) {
      return Failure{fmt::format("{}: the variable at byte {} {}; save or copy the file again",
                                 file.name(), file.bytes().size() - rest.size(), what)};
    };
    if (rest.size() < 8) return broken("is cut off");
    const std::uint32_t type = u32(rest, big_endian);
    const std::size_t length = u32(rest.subspan(4), big_endian);
    if (type != mi_matrix && type != mi_compressed) return broken("is of an unknown kind");
    if (rest.size() - 8 < length) return broken("is cut off");
    MatVariable variable;
    variable.content = rest.subspan(8, length);
    variable.is_compressed = type == mi_compressed;
    variable.big_endian = big_endian;
    MatReader reader;
    if (!reader.open(variable) || !reader.take_description(variable)) return broken("is damaged");
    if (!variable.name.empty()) variables.push_back(std::move(variable));
    rest = rest.subspan(8 + length);
  }
  return variables;
}

MatReader::MatReader(const MatVariable& variable) {
  MatVariable again;
  if (!open(variable) || !take_description(again)) left_ = 0;  // was looked at by list_variables
  is_logical_ = variable.is_logical;
}

bool MatReader::open(const MatVariable& variable) {
  big_endian_ = variable.big_endian;
  if (!variable.is_compressed) {
    plain_ = variable.content;
    left_ = plain_.size();
    return true;
  }
  inflater_ = std::make_unique<Inflater>(variable.content, Wrapping::zlib);
  left_ = 8;
  const auto type = fetch_word();
  const auto length = fetch_word();
  if (type != mi_matrix || !length || !can_inflate_to(variable.content.size(), *length))
    return false;
  left_ = *length;
  return true;
}

bool MatReader::take_description(MatVariable& variable) {
  const auto flags = next_tag();
  if (!flags || flags->type != mi_uint32 || flags->length != 8) return false;
  const auto word = fetch_word();
  if (!word) return false;
  part_left_ -= 4;
  variable.matlab_class = static_cast<int>(*word & 0xff);
  variable.is_complex = (*word & 0x0800) != 0;
  variable.is_logical = (*word & 0x0200) != 0;
  if (variable.matlab_class == 17) return true;  // an object of newer MATLAB: no shape, no name
  const auto shape = next_tag();
  if (!shape || shape->type != mi_int32 || shape->length % 4 != 0 || shape->length < 8 ||
      shape->length > 128)
    return false;
  for (; part_left_ > 0; part_left_ -= 4) {
    const auto length = fetch_word();
    if (!length || *length > 0x7fffffff) return false;
    variable.shape.push_back(*length);
  }
  const auto name = next_tag();
  if (!name || name->type != mi_int8 || name->length > 256) return false;  // MATLAB: at most 63
  variable.name.resize(name->length);
  return read(std::as_writable_bytes(std::span(variable.name)));
}

std::optional<MatReader::Tag> MatReader::next_tag() {
  if (!skip(part_left_) || !skip(std::min(padding_, left_))) return std::nullopt;
  part_left_ = padding_ = 0;
  const auto word = fetch_word();
  if (!word) return std::nullopt;
  if (*word >> 16 != 0) {  // up to four bytes stand inside the tag itself
    const std::size_t length = *word >> 16;
    if (length > 4 || left_ < 4) return std::nullopt;
    part_left_ = length;
    padding_ = 4 - length;
    return Tag{*word & 0xffff, length};
  }
  const auto length = fetch_word();
  if (!length || *length > left_) return std::nullopt;
  part_left_ = *length;
  padding_ = (8 - *length % 8) % 8;
  return Tag{*word, *length};
}

std::optional<MatPart> MatReader::next_part() {
  const auto tag = next_tag();
  if (!tag) return std::nullopt;
  auto type = number_type(tag->type);
  if (!type || static_cast<Index>(tag->length) % type->size != 0) return std::nullopt;
  type->big_endian = big_endian_;
  if (is_logical_ && type->size == 1) type->kind = NumberKind::boolean;
  return MatPart{*type, static_cast<Index>(tag->length) / type->size};
}

bool MatReader::read(std::span<std::byte> out) {
  if (out.size() > part_left_ || !fetch(out)) return false;
  part_left_ -= out.size();
  return true;
}

bool MatReader::finish() {
  return skip(left_) && (!inflater_ || inflater_->at_end());
}

std::string MatReader::problem() const {
  if (!inflater_) return "its numbers are cut off";
  return "its compressed data " +
         (inflater_->problem().empty() ? "does not end where stated" : inflater_->problem());
}

bool MatReader::fetch(std::span<std::byte> out) {
  if (out.size() > left_) return false;
  left_ -= out.size();
  if (inflater_) return inflater_->read(out) == out.size();
  copy_and_let_go(plain_.first(out.size()), out);
  plain_ = plain_.subspan(out.size());
  return true;
}

bool MatReader::skip(std::size_t count) {
  std::array<std::byte, 4096> unread;
  for (; inflater_ && count > unread.size(); count -= unread.size())
    if (!fetch(unread)) return false;
  if (inflater_) return fetch(std::span(unread).first(count));
  if (count > left_) return false;
  left_ -= count;
  plain_ = plain_.subspan(count);
  return true;
}

std::optional<std::uint32_t> MatReader::fetch_word() {
  std::array<std::byte, 4> bytes{};
  if (!fetch(bytes)) return std::nullopt;
  return u32(bytes, big_endian_);
}

}  // namespace fwsr
