#include "fwsr/data/digits.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "fwsr/data/formats.hpp"

namespace fwsr {

// data/digits.csv.gz, turned into an array by cmake/embed.cmake.
extern const unsigned char digits_file[];
extern const std::size_t digits_file_size;

namespace {

constexpr Index rows = 1797;
constexpr Index pixels = 64;
constexpr Index inflated_limit = Index{1} << 20;

/// Cuts the next field, up to a comma or the end of the line, off `text`.
std::string_view take_field(std::string_view& text) {
  const std::size_t end = text.find_first_of(",\n");
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return field;
}

std::optional<Dataset> parse_digits(std::string_view text) {
  Dataset data;
  data.name = "digits";
  data.format = "built-in";
  data.type = "uint8";
  data.image = {8, 8};
  for (Index j = 0; j < pixels; ++j) data.columns.emplace_back(take_field(text));
  if (take_field(text) != "label") return std::nullopt;
  DenseMatrix<float> points{rows, pixels, {}};
  points.values.reserve(static_cast<std::size_t>(rows * pixels));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < pixels; ++j) {
      const std::string_view field = take_field(text);
      int value = -1;
      const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
      if (code != std::errc{} || end != field.data() + field.size()) return std::nullopt;
      points.values.push_back(static_cast<float>(value));
    }
    data.labels.add(take_field(text));
  }
  if (!text.empty()) return std::nullopt;
  data.points = std::move(points);
  return data;
}

}  // namespace

Result<Dataset> read_digits() {
  const auto text = gunzip(std::as_bytes(std::span(digits_file, digits_file_size)), "digits",
                           MemoryBudget(inflated_limit));
  if (!text) return text.error();
  auto data = parse_digits({reinterpret_cast<const char*>(text->bytes().data()), text->size()});
  if (!data) return Failure{"digits: the built-in data is damaged; install the program again"};
  return std::move(*data);
}

}  // namespace fwsr
