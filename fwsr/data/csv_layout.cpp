#include "fwsr/data/csv_layout.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/data/csv_columns.hpp"
#include "fwsr/data/csv_header.hpp"
#include "fwsr/data/text.hpp"

namespace fwsr {

namespace {

/// What a field is taken for, and why nothing else.
constexpr const char* not_chosen = "not among the columns chosen";
constexpr const char* excluded = "excluded";
constexpr const char* empty_column = "empty, commas at the end of the lines";
constexpr const char* second_index = "an index without a name";

/// Finds the columns that the options name, and what the other ones are. @pre layout.names is decided
class Assignment {
 public:
  Assignment(CsvLayout layout, const Opening& opening, const ReadOptions& options)
      : layout_(std::move(layout)),
        opening_(opening),
        options_(options),
        fields_(opening.fields()) {
    layout_.feature.assign(at(fields_), -1);
    layout_.empty_from = fields_;
    left_out_.assign(at(fields_), nullptr);
  }

  Result<CsvLayout> make() {
    if (auto problem = find_label_and_id()) return *problem;
    if (auto problem = find_excluded()) return *problem;
    if (auto problem = find_chosen()) return *problem;
    find_empty_columns();
    find_index();
    for (Index f = 0; f < fields_; ++f) {
      if (!is_free(f)) continue;
      if (options_.columns.empty())
        layout_.feature[at(f)] = layout_.features++;
      else
        left_out_[at(f)] = not_chosen;
    }
    if (layout_.features == 0)
      return Failure{
          "no column is left for features; a file needs at least one besides label and id"};
    describe_reading();
    return std::move(layout_);
  }

 private:
  using Problem = std::optional<Failure>;

  /// Nothing has been decided about it.
  bool is_free(Index f) const {
    return f != layout_.label && f != layout_.id && !left_out_[at(f)] && layout_.feature[at(f)] < 0;
  }

  Problem find_label_and_id() {
    for (auto [column, field] : {std::pair(&options_.label_column, &layout_.label),
                                 std::pair(&options_.id_column, &layout_.id)}) {
      if (column->empty()) continue;
      const Result<Index> found = find_column(*column, fields_, layout_.names);
      if (!found) return found.error();
      *field = *found;
    }
    return std::nullopt;
  }

  Problem find_excluded() {
    for (const std::string& columns : options_.exclude_columns) {
      const auto found = find_columns(columns, fields_, layout_.names);
      if (!found) return found.error();
      for (const Index f : *found) left_out_[at(f)] = excluded;
    }
    return std::nullopt;
  }

  Problem find_chosen() {
    for (const std::string& columns : options_.columns) {
      const auto found = find_columns(columns, fields_, layout_.names);
      if (!found) return found.error();
      for (const Index f : *found) {
        if (layout_.feature[at(f)] >= 0)
          return Failure{fmt::format("column {} is chosen twice; choose it once", show(columns))};
        if (!is_free(f)) {
          if (found->size() > 1 || left_out_[at(f)])
            continue;  // a range passes over what is no feature
          return Failure{
              fmt::format("column {} cannot be a feature and also the label or id; choose "
                          "other features",
                          show(columns))};
        }
        layout_.feature[at(f)] = layout_.features++;
      }
    }
    return std::nullopt;
  }

  /// Lines that end in a comma have a column too many, without a name and with nothing in it.
  void find_empty_columns() {
    if (layout_.header && opening_.next.empty()) return;
    if (!options_.columns.empty()) return;  // what is not chosen may hold anything
    for (Index f = fields_ - 1; f > 0 && is_free(f) && is_empty(f); --f) {
      left_out_[at(f)] = empty_column;
      layout_.empty_from = f;
    }
  }
  bool is_empty(Index f) const {
    return opening_.first[at(f)].empty() &&
           std::all_of(opening_.next.begin(), opening_.next.end(),
                       [&](const auto& record) { return record[at(f)].empty(); });
  }

  /// The first columns, when they have no names and hold what pandas puts there.
  void find_index() {
    if (!layout_.header) return;
    for (Index f = 0; f < fields_ - 1 && is_index(layout_.names[at(f)], opening_, f); ++f) {
      if (!is_free(f)) continue;
      if (layout_.id >= 0) {
        left_out_[at(f)] = second_index;
        continue;
      }
      layout_.id = f;
      layout_.reading.id_why =
          layout_.names[at(f)].empty() ? "a first column without a name" : "the name of an index";
    }
  }

  void describe_reading() {
    TableReading& reading = layout_.reading;
    reading.separator = opening_.separator;
    reading.header = layout_.header;
    reading.comment_lines = opening_.comment_lines - (layout_.names_above ? 1 : 0);
    reading.blank_lines =
        opening_.blank_lines_above + (layout_.first_is_point() ? 0 : opening_.blank_lines_between);
    if (layout_.label >= 0) reading.label_column = layout_.column_name(layout_.label);
    if (layout_.id >= 0) reading.id_column = layout_.column_name(layout_.id);
    for (Index f = 0; f < fields_; ++f)
      if (left_out_[at(f)] && f != layout_.label && f != layout_.id)
        reading.left_out.push_back({layout_.column_name(f), left_out_[at(f)]});
  }

  CsvLayout layout_;
  const Opening& opening_;
  const ReadOptions& options_;
  Index fields_;
  std::vector<const char*> left_out_;  // per field: why, or null
};

Result<CsvLayout> assign(const Opening& opening, const ReadOptions& options, CsvLayout layout,
                         std::string why) {
  layout.reading.header_why = std::move(why);
  return Assignment(std::move(layout), opening, options).make();
}

/// True when some feature of the record is of this kind. One that holds words is no point.
bool holds(const CsvLayout& layout, const std::vector<std::string>& record, FieldKind kind) {
  for (std::size_t f = 0; f < record.size(); ++f)
    if (layout.feature[f] >= 0 && parse_number(record[f]).kind == kind) return true;
  return false;
}

/// True when some option that names columns satisfies `test`.
template <class Test>
bool any_column_option(const ReadOptions& options, const Test& test) {
  return test(options.label_column) || test(options.id_column) ||
         std::any_of(options.columns.begin(), options.columns.end(), test) ||
         std::any_of(options.exclude_columns.begin(), options.exclude_columns.end(), test);
}

bool names_a_column(const Opening& opening, const ReadOptions& options) {
  return any_column_option(options, [&](const std::string& c) {
    return !c.empty() && !find_columns(c, opening.fields(), {});
  });
}

/// Words stand where the records below have numbers: the first one names the columns.
bool names_columns(const Opening& o) {
  const auto is_word = [](std::string_view field) {
    return parse_number(field).kind == FieldKind::words;
  };
  for (std::size_t f = 0; f < o.first.size(); ++f)
    if (is_word(o.first[f]) && std::none_of(o.next.begin(), o.next.end(),
                                            [&](const auto& record) { return is_word(record[f]); }))
      return true;
  return false;
}

/// An option names a column that stands in the first record and not in the comment above. A number counts columns.
bool names_of_first_are_meant(const Opening& o, const ReadOptions& options) {
  const auto stands_in = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return any_column_option(options, [&](const std::string& c) {
    return !find_columns(c, o.fields(), {}) && stands_in(o.first, c) &&
           !stands_in(o.names_above, c);
  });
}

Result<CsvLayout> decide(const Opening& o, const ReadOptions& options) {
  Result<CsvLayout> plain = assign(o, options, {}, "as asked");
  if (options.header == Header::no) return plain;
  const CsvLayout in_comment{.header = true, .names_above = true, .names = o.names_above};
  const CsvLayout in_first{.header = true, .names = o.first};
  const bool above =
      !o.names_above.empty() && !names_columns(o) && !names_of_first_are_meant(o, options);
  const CsvLayout& with_header = above ? in_comment : in_first;
  if (options.header == Header::yes) return assign(o, options, with_header, "as asked");
  if (names_a_column(o, options))
    return assign(o, options, with_header, "an option names a column");
  if (above) return assign(o, options, in_comment, "the comment above names the columns");
  if (plain && holds(*plain, o.first, FieldKind::words)) {
    CsvLayout named = in_first;
    named.doubtful_header = holds(*plain, o.first, FieldKind::number);
    return assign(o, options, std::move(named), "its first line holds words");
  }
  const HeaderGuess guess = guess_from_numbers(o);
  if (guess.header) return assign(o, options, in_first, guess.why);
  if (plain) plain->reading.header_why = guess.why;
  return plain;
}

}  // namespace

std::string CsvLayout::describe(Index field) const {
  return names.empty() ? fmt::format("field {}", field + 1)
                       : fmt::format("field {} ({})", field + 1, show(names[at(field)]));
}

std::string CsvLayout::column_name(Index field) const {
  const bool named = !names.empty() && !names[at(field)].empty();
  return named ? fmt::format("{} (column {})", show(names[at(field)]), field + 1)
               : fmt::format("column {}", field + 1);
}

Result<CsvLayout> plan_layout(const std::string& file, const Opening& opening,
                              const ReadOptions& options) {
  Result<CsvLayout> layout = decide(opening, options);
  if (!layout) return Failure{fmt::format("{}: {}", file, layout.error().message)};
  return layout;
}

}  // namespace fwsr
