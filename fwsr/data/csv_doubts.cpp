#include "fwsr/data/csv_doubts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"

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

/// In small letters, as doubts look at it.
std::string name_of(const CsvLayout& layout, Index field) {
  std::string name = layout.names.empty() ? "" : layout.names[at(field)];
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}
bool names_ids(const std::string& name) {
  return is_one_of(name, {"id", "index", "idx", "uid"}) || name.ends_with("_id");
}
bool names_classes(const std::string& name) {
  return is_one_of(name, {"label", "labels", "class", "target"});
}

}  // namespace

std::vector<ColumnFacts> facts_of_columns(const CsvLayout& layout,
                                          const std::vector<double>& values) {
  const Index d = layout.features, rows = d > 0 ? std::ssize(values) / d : 0;
  std::vector<ColumnFacts> facts(at(d));
  for (Index f = 0; f < layout.fields() && rows > 0; ++f) {
    const Index feature = layout.feature[at(f)];
    if (feature < 0) continue;
    const Column column{values.data() + feature, d, rows};
    const std::string name = name_of(layout, f);
    facts[at(feature)] = {.first = column[0],
                          .counts = counts_the_points(column),
                          .whole = (names_ids(name) || names_classes(name)) && is_whole(column)};
  }
  return facts;
}

void add_facts(std::vector<ColumnFacts>& all, Index rows, const std::vector<ColumnFacts>& more) {
  for (std::size_t f = 0; f < all.size(); ++f) {
    all[f].counts &= more[f].counts && more[f].first == all[f].first + static_cast<double>(rows);
    all[f].whole &= more[f].whole;
  }
}

std::vector<std::string> doubtful_columns(const CsvLayout& layout,
                                          const std::vector<ColumnFacts>& facts, Index rows) {
  std::vector<std::string> doubts;
  if (rows < least_rows) return doubts;
  for (Index f = 0; f < layout.fields(); ++f) {
    const Index feature = layout.feature[at(f)];
    if (feature < 0) continue;
    const std::string name = name_of(layout, f);
    const ColumnFacts& column = facts[at(feature)];
    const bool counts = layout.features > 1 && column.counts;
    if (layout.id < 0 && (counts || (names_ids(name) && column.whole)))
      doubts.push_back(
          fmt::format("{} is taken for a feature{}; if it holds ids, make it the id column",
                      layout.column_name(f), counts ? " and counts the points" : ""));
    else if (layout.label < 0 && names_classes(name) && column.whole)
      doubts.push_back(
          fmt::format("{} is taken for a feature; if it holds classes, make it the label column",
                      layout.column_name(f)));
  }
  return doubts;
}

}  // namespace fwsr
