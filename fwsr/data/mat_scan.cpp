#include "fwsr/data/mat_scan.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "fwsr/data/binary.hpp"
#include "fwsr/data/inflate.hpp"

namespace fwsr {

namespace {

// Type numbers and layout as in "MAT-File Format" by The MathWorks.
constexpr std::uint32_t mi_int8 = 1;
constexpr std::uint32_t mi_int32 = 5;
constexpr std::uint32_t mi_uint32 = 6;
constexpr std::uint32_t mi_matrix = 14;
constexpr std::uint32_t mi_compressed = 15;

using Bytes = std::span<const std::byte>;

std::uint32_t u32(Bytes b, std::size_t at, bool big_endian) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= std::to_integer<std::uint32_t>(b[at + (big_endian ? 3 - i : i)]) << (8 * i);
  return value;
}

/// Bytes per number of an element type; 0 for types that are not numbers.
std::size_t size_of(std::uint32_t type) {
  constexpr std::size_t sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < std::size(sizes) ? sizes[type] : 0;
}

/// A typed run of bytes inside a variable.
struct Part {
  std::uint32_t type = 0;
  Bytes data;
  std::size_t count() const { return size_of(type) == 0 ? 0 : data.size() / size_of(type); }
};

/// Cuts the next part off `rest`; nothing when it does not fit in.
std::optional<Part> take_part(Bytes& rest, bool big_endian) {
  if (rest.size() < 8) return std::nullopt;
  const std::uint32_t word = u32(rest, 0, big_endian);
  if (word >> 16 != 0) {  // up to four bytes stand inside the tag itself
    const std::size_t length = word >> 16;
    if (length > 4) return std::nullopt;
    const Part part{word & 0xffff, rest.subspan(4, length)};
    rest = rest.subspan(8);
    return part;
  }
  const std::size_t length = u32(rest, 4, big_endian);
  if (rest.size() - 8 < length) return std::nullopt;
  const Part part{word, rest.subspan(8, length)};
  rest = rest.subspan(std::min(rest.size(), 8 + (length + 7) / 8 * 8));
  return part;
}

/// Flags, shape and name, which come first in every variable; cuts them off `rest`.
bool take_description(Bytes& rest, bool big_endian, MatVariable& variable) {
  const auto flags = take_part(rest, big_endian);
  if (!flags || flags->type != mi_uint32 || flags->data.size() != 8) return false;
  const std::uint32_t word = u32(flags->data, 0, big_endian);
  variable.matlab_class = static_cast<int>(word & 0xff);
  variable.is_complex = (word & 0x0800) != 0;
  variable.is_logical = (word & 0x0200) != 0;
  if (variable.matlab_class == 17) return true;  // an object of newer MATLAB: no shape, no name
  const auto shape = take_part(rest, big_endian);
  if (!shape || shape->type != mi_int32 || shape->data.size() % 4 != 0 || shape->data.size() < 8 ||
      shape->data.size() > 128)
    return false;
  for (std::size_t at = 0; at < shape->data.size(); at += 4) {
    const auto length = static_cast<std::int32_t>(u32(shape->data, at, big_endian));
    if (length < 0) return false;
    variable.shape.push_back(length);
  }
  const auto name = take_part(rest, big_endian);
  if (!name || name->type != mi_int8) return false;
  variable.name.assign(reinterpret_cast<const char*>(name->data.data()), name->data.size());
  return true;
}

/// The description of a compressed variable stands in its first bytes.
bool describe_compressed(Bytes payload, bool big_endian, MatVariable& variable) {
  std::vector<std::byte> start(4096);
  Inflater inflater(payload, Wrapping::zlib);
  start.resize(inflater.read(start));
  if (start.size() < 8 || u32(start, 0, big_endian) != mi_matrix) return false;
  Bytes rest = Bytes(start).subspan(8);
  return take_description(rest, big_endian, variable);
}

/// The type in which the numbers of a variable are stored, or what is wrong with them. `rest`
/// begins after the name.
Result<std::uint32_t> check_numbers(Bytes rest, bool big_endian, const MatVariable& variable) {
  std::size_t cells = 1;
  for (const Index n : variable.shape)
    if (__builtin_mul_overflow(cells, static_cast<std::size_t>(n), &cells))
      return Failure{"its shape is too large for any memory"};
  if (variable.is_sparse()) {
    const auto rows = take_part(rest, big_endian);
    const auto starts = take_part(rest, big_endian);
    if (!rows || !starts || size_of(rows->type) != 4 || size_of(starts->type) != 4 ||
        rows->data.size() % 4 != 0 || starts->data.size() % 4 != 0)
      return Failure{"its sparse structure is missing"};
    if (starts->count() != static_cast<std::size_t>(variable.shape[1]) + 1)
      return Failure{
          fmt::format("{} column starts for {} columns", starts->count(), variable.shape[1])};
  }
  const auto numbers = take_part(rest, big_endian);
  if (!numbers || size_of(numbers->type) == 0) return Failure{"its numbers are missing or cut off"};
  if (numbers->data.size() % size_of(numbers->type) != 0)
    return Failure{"its last number is cut off"};
  if (!variable.is_sparse() && numbers->count() != cells)
    return Failure{fmt::format("its shape needs {} numbers, {} found", cells, numbers->count())};
  return numbers->type;
}

std::optional<Failure> find_version_problem(const FileBytes& file) {
  const auto text = file.text();
  if (text.size() < 128)
    return Failure{
        fmt::format("{}: is cut off: a MATLAB file begins with 128 bytes, {} found; copy or save "
                    "the file again",
                    file.name(), text.size())};
  const bool hdf5 =
      text.starts_with("MATLAB 7.3") || (text.size() >= 520 && text.substr(512, 4) == "\x89HDF");
  if (hdf5)
    return Failure{
        fmt::format("{}: is a MATLAB 7.3 (HDF5) file, which this program does not read; "
                    "save it in MATLAB with save(file, 'X', '-v7')",
                    file.name())};
  // The byte order stands in the last two bytes, before it the version, 0x0100 in that order. With any
  // other version matio takes the file for one of version 4 and believes whatever lengths it finds.
  const auto order = text.substr(126, 2);
  const std::string_view version = text.substr(124, 2);
  const bool right_version =
      version == (order == "IM" ? std::string_view("\0\1", 2) : std::string_view("\1\0", 2));
  if ((order != "IM" && order != "MI") || !right_version)
    return Failure{
        fmt::format("{}: is not a MATLAB file of version 5 to 7.2 (its header does "
                    "not say so); save it in MATLAB with save(file, 'X', '-v7')",
                    file.name())};
  return std::nullopt;
}

}  // namespace

bool looks_like_mat(const FileBytes& file) {
  const auto start = file.text().substr(0, 124);
  return start.starts_with("MATLAB ") && start.find("MAT-file") != std::string_view::npos;
}

Result<MatFile> scan_mat(const FileBytes& file) {
  if (auto problem = find_version_problem(file)) return *problem;
  MatFile mat;
  mat.header = file.bytes().first(128);
  mat.big_endian = file.text().substr(126, 2) == "MI";
  Bytes rest = file.bytes().subspan(128);
  while (!rest.empty()) {
    const std::size_t at = file.bytes().size() - rest.size();
    const auto broken = [&](const char* what) {
      return Failure{fmt::format("{}: the variable at byte {} {}; save or copy the file again",
                                 file.name(), at, what)};
    };
    if (rest.size() < 8) return broken("is cut off");
    const std::uint32_t type = u32(rest, 0, mat.big_endian);
    const std::size_t length = u32(rest, 4, mat.big_endian);
    if (type != mi_matrix && type != mi_compressed) return broken("is of an unknown kind");
    if (rest.size() - 8 < length) return broken("is cut off");
    MatVariable variable;
    variable.element = rest.first(8 + length);
    variable.is_compressed = type == mi_compressed;
    Bytes inside = rest.subspan(8, length);
    const bool described = variable.is_compressed
                               ? describe_compressed(inside, mat.big_endian, variable)
                               : take_description(inside, mat.big_endian, variable);
    if (!described) return broken("is damaged");
    if (!variable.name.empty()) mat.variables.push_back(std::move(variable));
    rest = rest.subspan(8 + length);
  }
  return mat;
}

Result<MatElement> extract_variable(const std::string& where, const MatFile& mat,
                                    const MatVariable& variable) {
  const auto broken = [&](const std::string& what) {
    return Failure{fmt::format("{}: {}; save or copy the file again", where, what)};
  };
  std::vector<std::byte> element;
  if (variable.is_compressed) {
    const Bytes payload = variable.element.subspan(8);
    Inflater inflater(payload, Wrapping::zlib);
    element.resize(8);
    if (inflater.read(element) < 8) return broken("its compressed data is damaged");
    const std::size_t length = u32(element, 4, mat.big_endian);
    if (!can_inflate_to(payload.size(), length)) return broken("its stated size is impossible");
    if (auto lack = find_lack_of_memory(where, static_cast<Index>(length))) return *lack;
    element.resize(8 + length);
    if (inflater.read(std::span(element).subspan(8)) < length || !inflater.at_end())
      return broken("its compressed data " + (inflater.problem().empty()
                                                  ? "does not end where stated"
                                                  : inflater.problem()));
  } else {
    if (auto lack = find_lack_of_memory(where, static_cast<Index>(variable.element.size())))
      return *lack;
    element.assign(variable.element.begin(), variable.element.end());
  }
  MatVariable again;
  Bytes rest = Bytes(element).subspan(8);
  if (!take_description(rest, mat.big_endian, again) || again.shape != variable.shape)
    return broken("is damaged");
  const auto stored = check_numbers(rest, mat.big_endian, variable);
  if (!stored) return broken(stored.error().message);
  int matlab_class = variable.matlab_class;
  const bool is_floating = matlab_class == 6 || matlab_class == 7;
  if (is_floating && *stored >= 1 && *stored <= 4) {  // int8, uint8, int16, uint16
    matlab_class = static_cast<int>(*stored) + 7;
    element[mat.big_endian ? 19 : 16] = static_cast<std::byte>(matlab_class);
  }
  return MatElement{std::move(element), matlab_class};
}

}  // namespace fwsr
