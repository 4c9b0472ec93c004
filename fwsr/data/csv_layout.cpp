#include "fwsr/data/csv_layout.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "fwsr/data/text.hpp"

namespace fwsr {

namespace {

/// The field that `column`, a name or a 1-based number, means.
Result<Index> find_column(const std::string& column, Index fields,
                          const std::vector<std::string>& names) {
  const auto named = std::find(names.begin(), names.end(), column);
  if (named != names.end()) {
    if (std::find(named + 1, names.end(), column) != names.end())
      return Failure{fmt::format("several columns are named {}; give the column's number, from 1",
                                 show(column))};
    return named - names.begin();
  }
  Index number = 0;
  const auto [end, code] = std::from_chars(column.data(), column.data() + column.size(), number);
  if (is_whole_number(column)) {
    if (code == std::errc{} && number >= 1 && number <= fields) return number - 1;
    return Failure{fmt::format("there is no column {}; the columns are 1 to {}", column, fields)};
  }
  if (names.empty())
    return Failure{
        fmt::format("there is no column {}, for the file was read without a header; "
                    "give the column's number, 1 to {}",
                    show(column), fields)};
  return Failure{fmt::format("there is no column {}; the columns are {}", show(column),
                             list_shortened(names))};
}

/// Finds the columns that the options name. @pre layout.names is decided
Result<CsvLayout> assign_fields(CsvLayout layout, Index fields, const ReadOptions& options) {
  layout.feature.assign(static_cast<std::size_t>(fields), -1);
  for (auto [column, field] : {std::pair(&options.label_column, &layout.label),
                               std::pair(&options.id_column, &layout.id)}) {
    if (column->empty()) continue;
    const Result<Index> found = find_column(*column, fields, layout.names);
    if (!found) return found.error();
    *field = *found;
  }
  for (const std::string& column : options.columns) {
    const Result<Index> found = find_column(column, fields, layout.names);
    if (!found) return found.error();
    Index& feature = layout.feature[static_cast<std::size_t>(*found)];
    if (feature >= 0)
      return Failure{fmt::format("column {} is chosen twice; choose it once", show(column))};
    if (*found == layout.label || *found == layout.id)
      return Failure{
          fmt::format("column {} cannot be a feature and also the label or id; choose "
                      "other features",
                      show(column))};
    feature = layout.features++;
  }
  if (options.columns.empty())
    for (Index f = 0; f < fields; ++f)
      if (f != layout.label && f != layout.id)
        layout.feature[static_cast<std::size_t>(f)] = layout.features++;
  if (layout.features == 0)
    return Failure{
        "no column is left for features; a file needs at least one besides label and id"};
  return layout;
}

/// True when the first record cannot be a point: some feature holds words.
bool holds_words(const CsvLayout& layout, const std::vector<std::string>& record) {
  for (std::size_t f = 0; f < record.size(); ++f)
    if (layout.feature[f] >= 0 && parse_number(record[f]).kind == FieldKind::words) return true;
  return false;
}

Result<CsvLayout> decide(const std::vector<std::string>& first_record, const ReadOptions& options) {
  const Index fields = std::ssize(first_record);
  CsvLayout with_header{.header = true, .names = first_record};
  if (options.header == Header::yes) return assign_fields(std::move(with_header), fields, options);
  const bool may_guess = options.header == Header::automatic;
  const auto is_name = [fields](const std::string& c) {
    return !c.empty() && !(is_whole_number(c) && find_column(c, fields, {}));
  };
  const bool named = is_name(options.label_column) || is_name(options.id_column) ||
                     std::any_of(options.columns.begin(), options.columns.end(), is_name);
  if (may_guess && named) return assign_fields(std::move(with_header), fields, options);
  Result<CsvLayout> plain = assign_fields({}, fields, options);
  if (may_guess && plain && holds_words(*plain, first_record))
    return assign_fields(std::move(with_header), fields, options);
  return plain;
}

}  // namespace

std::string CsvLayout::describe(Index field) const {
  return names.empty() ? fmt::format("field {}", field + 1)
                       : fmt::format("field {} ({})", field + 1,
                                     show(names[static_cast<std::size_t>(field)]));
}

Result<CsvLayout> plan_layout(const std::string& file, const std::vector<std::string>& first_record,
                              const ReadOptions& options) {
  Result<CsvLayout> layout = decide(first_record, options);
  if (!layout) return Failure{fmt::format("{}: {}", file, layout.error().message)};
  return layout;
}

}  // namespace fwsr
