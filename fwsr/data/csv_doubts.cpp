#include "fwsr/data/csv_doubts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace fwsr {

namespace {

constexpr Index least_rows = 3;  // two numbers in a row may well follow each other

struct Column {
  const double* first;
  Index stride, rows;
  double operator[](Index i) const { return first[i * stride]; }
};

bool counts_the_points(const Column& c) {
  for (Index i = 1; i < c.rows; ++i)
    if (c[i] != c[0] + static_cast<double>(i)) return false;
  return c[0] == std::floor(c[0]);
}

bool is_whole(const Column& c) {
  for (Index i = 0; i < c.rows; ++i)
    if (c[i] != std::floor(c[i])) return false;
  return true;
}

bool is_one_of(std::string_view name, const std::vector<std::string_view>& words) {
  return std::find(words.begin(), words.end(), name) != words.end();
}

}  // namespace

std::vector<std::string> doubtful_columns(const CsvLayout& layout,
                                          const std::vector<double>& values) {
  std::vector<std::string> doubts;
  const Index d = layout.features, rows = d > 0 ? std::ssize(values) / d : 0;
  if (rows < least_rows) return doubts;
  for (Index f = 0; f < layout.fields(); ++f) {
    const Index feature = layout.feature[static_cast<std::size_t>(f)];
    if (feature < 0) continue;
    const Column column{values.data() + feature, d, rows};
    std::string name = layout.names.empty() ? "" : layout.names[static_cast<std::size_t>(f)];
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool counts = d > 1 && counts_the_points(column);
    const bool id =
        layout.id < 0 &&
        (counts || ((is_one_of(name, {"id", "index", "idx", "uid"}) || name.ends_with("_id")) &&
                    is_whole(column)));
    const bool label = layout.label < 0 &&
                       is_one_of(name, {"label", "labels", "class", "target"}) && is_whole(column);
    if (id)
      doubts.push_back(
          fmt::format("{} is taken for a feature{}; if it holds ids, make it the id column",
                      layout.column_name(f), counts ? " and counts the points" : ""));
    else if (label)
      doubts.push_back(
          fmt::format("{} is taken for a feature; if it holds classes, make it the label column",
                      layout.column_name(f)));
  }
  return doubts;
}

}  // namespace fwsr
