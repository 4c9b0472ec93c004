#include "fwsr/data/write.hpp"

#include <charconv>
#include <ostream>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "fwsr/base/write_file.hpp"

namespace fwsr {

namespace {

/// Everything before the numbers, filled up to a multiple of 64 bytes so that they stand aligned
/// when the file is mapped.
template <class T>
std::string npy_start(const std::string& shape) {
  std::string dict = fmt::format("{{'descr': '<{}{}', 'fortran_order': False, 'shape': {}, }}",
                                 std::is_floating_point_v<T> ? 'f' : 'i', sizeof(T), shape);
  constexpr std::size_t fixed = 10;  // magic, version, length
  dict.append(63 - (fixed + dict.size()) % 64, ' ');
  dict += '\n';
  std::string start = "\x93NUMPY";
  start += '\x01';
  start += '\x00';
  start += static_cast<char>(dict.size() & 0xff);
  start += static_cast<char>(dict.size() >> 8);
  return start + dict;
}

template <class T>
void put(std::ostream& out, std::span<const T> values) {
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
}

template <class T>
void write_matrix(std::ostream& out, MatrixView<const T> matrix) {
  out << npy_start<T>(fmt::format("({}, {})", matrix.rows, matrix.cols));
  for (Index i = 0; i < matrix.rows && out; ++i) put<T>(out, matrix.row(i));
}

template <class T>
void write_list(std::ostream& out, std::span<const T> values) {
  out << npy_start<T>(fmt::format("({},)", values.size()));
  put<T>(out, values);
}

template <class Array>
Result<Done> write_to(const std::string& path, const Array& array) {
  return write_whole(path, [&](std::ostream& out) { write_npy(out, array); });
}

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code != std::errc::invalid_argument && end == text.data() + text.size();
}

}  // namespace

void write_npy(std::ostream& out, MatrixView<const float> matrix) {
  write_matrix(out, matrix);
}
void write_npy(std::ostream& out, MatrixView<const double> matrix) {
  write_matrix(out, matrix);
}
void write_npy(std::ostream& out, MatrixView<const std::int64_t> matrix) {
  write_matrix(out, matrix);
}
void write_npy(std::ostream& out, std::span<const float> values) {
  write_list(out, values);
}
void write_npy(std::ostream& out, std::span<const double> values) {
  write_list(out, values);
}
void write_npy(std::ostream& out, std::span<const std::int64_t> values) {
  write_list(out, values);
}

Result<Done> write_npy(const std::string& path, MatrixView<const float> matrix) {
  return write_to(path, matrix);
}
Result<Done> write_npy(const std::string& path, MatrixView<const double> matrix) {
  return write_to(path, matrix);
}
Result<Done> write_npy(const std::string& path, MatrixView<const std::int64_t> matrix) {
  return write_to(path, matrix);
}
Result<Done> write_npy(const std::string& path, std::span<const float> values) {
  return write_to(path, values);
}
Result<Done> write_npy(const std::string& path, std::span<const double> values) {
  return write_to(path, values);
}
Result<Done> write_npy(const std::string& path, std::span<const std::int64_t> values) {
  return write_to(path, values);
}

std::string csv_field(std::string_view text, bool defuse) {
  if (defuse && !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != text.npos &&
      !is_number(text))
    return csv_field(fmt::format("'{}", text));
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace fwsr
