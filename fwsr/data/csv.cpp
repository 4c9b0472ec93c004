// Separated text: one record a line, fields separated by commas, tabs, semicolons or vertical bars.
//
// - Quotes as in RFC 4180; blanks around fields do not count; LF or CR LF; UTF-8 with or without
//   a byte order mark.
// - Lines that start with # above the first record are comments. Blank lines are skipped, but in a table of
//   one column: there one may be a point that got lost.
// - Every record has as many fields as the first one.
// - Features are numbers. An empty field (or NA, null, none, ?) is an error, never a zero; nan and
//   inf are read as they are, and refused by whoever needs finite numbers.
#include "fwsr/data/csv.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/string_bytes.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/csv_columns.hpp"
#include "fwsr/data/csv_doubts.hpp"
#include "fwsr/data/csv_layout.hpp"
#include "fwsr/data/csv_tokens.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/labels.hpp"
#include "fwsr/data/unknown.hpp"

namespace fwsr {

namespace {

/// Reads records one after another into a table, up to the first trouble.
class RecordReader {
 public:
  RecordReader(const CsvLayout& layout, Tokenizer tokens, CsvTable& table)
      : layout_(layout), tokens_(tokens), table_(table) {}

  std::optional<Trouble> read(Index row);
  /// Steps over a record that is not wanted.
  std::optional<Trouble> skip();

 private:
  /// Where a row of the file stands in the table.
  std::size_t place_of(Index row) const { return static_cast<std::size_t>(row - table_.first); }
  std::optional<Trouble> read_field(Index row, Index field, bool& last);
  std::optional<Trouble> keep(Index row, Index f, const Field& field);
  Trouble wrong_count(std::size_t start, Index found);
  Trouble no_number(Index row, Index f, const Field& field, FieldKind kind);
  std::vector<Index> columns_of_words(Tokenizer record) const;

  const CsvLayout& layout_;
  Tokenizer tokens_;
  Tokenizer record_ = tokens_;  // where the record starts
  CsvTable& table_;
};

std::optional<Trouble> RecordReader::read(Index row) {
  const Index fields = layout_.fields();
  if (fields > 1) tokens_.skip_blank_lines();
  record_ = tokens_;
  const std::size_t start = tokens_.at();
  table_.lines[place_of(row)] = tokens_.line();
  bool last = false;
  for (Index f = 0; f < fields; ++f) {
    if (auto trouble = read_field(row, f, last)) return trouble;
    if (last && f + 1 < fields) return wrong_count(start, f + 1);
  }
  if (last) return std::nullopt;
  for (Index found = fields + 1;; ++found) {
    const Field field = tokens_.next();
    if (field.problem) return Trouble{field.at, field.problem};
    if (field.last) return wrong_count(start, found);
  }
}

std::optional<Trouble> RecordReader::skip() {
  if (layout_.fields() > 1) tokens_.skip_blank_lines();
  for (;;) {
    const Field field = tokens_.next();
    if (field.problem) return Trouble{field.at, field.problem};
    if (field.last) return std::nullopt;
  }
}

std::optional<Trouble> RecordReader::read_field(Index row, Index f, bool& last) {
  const Index feature = layout_.feature[static_cast<std::size_t>(f)];
  double* const place =
      feature < 0 ? nullptr
                  : &table_.values[place_of(row) * static_cast<std::size_t>(layout_.features) +
                                   static_cast<std::size_t>(feature)];
  if (place) {
    if (const auto number = tokens_.next_number(last)) {
      *place = *number;
      return std::nullopt;
    }
  }
  const Field field = tokens_.next();
  last = field.last;
  if (field.problem) return Trouble{field.at, field.problem};
  if (f == 0 && last && field.text.empty() && !field.quoted)
    return Trouble{field.at, "blank line; remove it, or fill it in"};
  if (!place) return keep(row, f, field);
  const ParsedField number = parse_number(field.text);
  if (number.kind != FieldKind::number) return no_number(row, f, field, number.kind);
  *place = number.value;
  return std::nullopt;
}

std::optional<Trouble> RecordReader::keep(Index row, Index f, const Field& field) {
  if (f == layout_.label) {
    if (field.text.empty())
      return Trouble{field.at, fmt::format("{}: the label is empty; fill it in, or read the file "
                                           "without a label column",
                                           layout_.describe(f))};
    table_.labels[place_of(row)] = field.value();
  }
  if (f == layout_.id) table_.ids[place_of(row)] = field.value();
  if (f >= layout_.empty_from && !field.text.empty())
    return Trouble{
        field.at,
        fmt::format("{} holds {}, but the column has no name, and nothing in it at the start of "
                    "the file; name it in a header, or remove what ends the line",
                    layout_.describe(f), show(field.text))};
  return find_nul(field.text, field.at + (field.quoted ? 1 : 0));
}

/// The features of this record that hold words.
std::vector<Index> RecordReader::columns_of_words(Tokenizer record) const {
  std::vector<Index> columns;
  for (Index f = 0; f < layout_.fields(); ++f) {
    const Field field = record.next();
    if (field.problem) break;
    if (layout_.feature[static_cast<std::size_t>(f)] >= 0 &&
        parse_number(field.text).kind == FieldKind::words)
      columns.push_back(f);
    if (field.last) break;
  }
  return columns;
}

/// The first record tells columns of words from a number that went wrong further down.
Trouble RecordReader::no_number(Index row, Index f, const Field& field, FieldKind kind) {
  if (auto nul = find_nul(field.text, field.at)) return *nul;
  const std::string start = layout_.describe(f) + ": ";
  if (kind != FieldKind::words) return {field.at, start + describe_problem(kind, field.text)};
  if (f == 0 && (row > 0 || layout_.header) && field.text.starts_with('#'))
    return {field.at,
            start + fmt::format("{} is no number; comments may stand at the start of the file "
                                "only, remove the line",
                                show(field.text))};
  const std::vector<Index> words = row == 0 ? columns_of_words(record_) : std::vector<Index>{f};
  const std::string option =
      std::ssize(words) == layout_.features
          ? ""
          : exclusion_of(words, layout_.fields(), layout_.names, layout_.doubtful_header);
  std::string what = fmt::format("{} is not a number", show(field.text));
  if (words.size() > 1) {
    std::vector<std::string> names;
    for (const Index w : words) names.push_back(layout_.column_name(w));
    what += fmt::format(", and {} columns hold words: {}", words.size(), enumerate(names));
  }
  what += row == 0 ? "; " : "; correct it, or ";
  what += option.empty()
              ? "choose the columns that hold numbers as features"
              : fmt::format("leave {} out: {}", words.size() > 1 ? "them" : "the column", option);
  if (row == 0) what += ", or make it the label or id column";
  if (row == 0 && layout_.doubtful_header) what += "; if the first line is a point, say header no";
  return {field.at, start + what};
}

Trouble RecordReader::wrong_count(std::size_t start, Index found) {
  return {start, fmt::format("{} field{} where the first record has {}; every record needs the "
                             "same number",
                             found, found == 1 ? "" : "s", layout_.fields())};
}

/// Rows to make room for. A file's line breaks may promise more rows than its bytes can hold: a
/// good row takes at least a character per feature and one after each field. When the promise is
/// too large, one of the first `size / that` rows is in trouble, and no others are needed to find
/// the first trouble.
Index justified_rows(Index records, const CsvLayout& layout, std::size_t size) {
  return std::min(records, static_cast<Index>(size) / (layout.fields() + layout.features) + 1);
}

/// What the words of rows first .. last take beside the strings themselves.
Index words_bytes(const std::vector<std::string>& words, Index first, Index last) {
  Index bytes = 0;
  for (Index row = first; row < last && row < std::ssize(words); ++row)
    bytes += heap_bytes(words[static_cast<std::size_t>(row)]);
  return bytes;
}

/// What was read as words becomes codes; the words themselves, which were counted, go.
std::optional<Failure> keep_labels(std::vector<std::string> words, Dataset& data) {
  if (auto refusal = add_labels(data.name, words, data.memory, data.labels)) return refusal;
  const Index rows = std::ssize(words);
  data.memory.shrink(rows * Index{sizeof(std::string)} + words_bytes(words, 0, rows));
  return std::nullopt;
}

Result<Dataset> read_within_memory(const FileBytes& file, const ReadOptions& options,
                                   Index chunk_bytes) {
  Result<CsvFile> csv = open_csv(file, options);
  if (!csv) return csv.error();
  CsvLayout& layout = csv->layout;
  const auto chunks = cut_into_chunks(csv->text, chunk_bytes, Quotes::protect_line_breaks,
                                      csv->blank_lines, options.threads);
  Dataset data;
  data.name = file.name();
  data.memory = MemoryShare(options.budget);
  Result<CsvTable> table =
      make_csv_table(data.name, layout, chunks.back().record + chunks.back().records,
                     csv->text.size(), data.memory);
  if (!table) return table.error();
  SharedCount words(data.name, data.memory);
  if (auto failure = read_csv_rows(data.name, *csv, chunks, options, words, *table))
    return *failure;
  if (options.columns.empty())
    layout.reading.doubts =
        doubtful_columns(layout, facts_of_columns(layout, table->values), table->rows());
  for (const Chunk& chunk : chunks) layout.reading.blank_lines += chunk.blank_lines;
  if (auto refusal = keep_csv_table(layout, std::move(*table), data)) return *refusal;
  return data;
}

bool recognises_csv(const FileBytes& file) {
  const std::string_view text = content_of(file.text());
  const std::size_t ink = text.find_first_not_of(" \t\r\n");
  return looks_like_text(file.bytes()) && ink != std::string_view::npos &&
         std::string_view("{[<").find(text[ink]) == std::string_view::npos &&
         !is_known_binary(file);
}

}  // namespace

Result<CsvFile> open_csv(const FileBytes& file, const ReadOptions& options) {
  const std::string& name = file.name();
  if (!options.variable.empty())
    return Failure{
        fmt::format("{}: variable {} was asked for, but csv files have none; choose "
                    "columns instead",
                    name, show(options.variable))};
  const std::string_view whole = content_of(file.text());
  if (whole.empty()) return Failure{fmt::format("{}: is empty; it needs a line per point", name)};
  if (whole.find('\n') == std::string_view::npos && whole.find('\r') < whole.size() - 1)
    return Failure{
        fmt::format("{}: its lines end in a carriage return alone; save it with line "
                    "feeds (tr '\\r' '\\n')",
                    name)};
  const Opening opening = read_opening(whole);
  if (opening.trouble) return locate(name, whole, *opening.trouble);
  if (opening.first.empty())
    return Failure{fmt::format("{}: holds comments alone; it needs a line per point", name)};
  Result<CsvLayout> layout = plan_layout(name, opening, options);
  if (!layout) return layout.error();
  const Place start = layout->first_is_point() ? opening.first_place : opening.second_place;
  CsvFile csv{.text = whole.substr(start.at),
              .line = start.line,
              .separator = opening.separator,
              .blank_lines =
                  opening.skips_blank_lines() ? BlankLines::are_skipped : BlankLines::are_records,
              .layout = std::move(*layout)};
  if (csv.text.empty())
    return Failure{fmt::format("{}: has a header and no points; it needs a line per point", name)};
  return csv;
}

Result<CsvTable> make_csv_table(const std::string& name, const CsvLayout& layout, Index rows,
                                std::size_t bytes, MemoryShare& memory) {
  rows = justified_rows(rows, layout, bytes);
  const Index row_bytes = layout.features * Index{sizeof(double)} + Index{sizeof(std::int64_t)} +
                          ((layout.label >= 0) + (layout.id >= 0)) * Index{sizeof(std::string)};
  if (auto refusal = memory.grow(name, rows, static_cast<std::size_t>(row_bytes))) return *refusal;
  const auto n = static_cast<std::size_t>(rows);
  return CsvTable{.values = std::vector<double>(n * static_cast<std::size_t>(layout.features)),
                  .labels = std::vector<std::string>(layout.label >= 0 ? n : 0),
                  .ids = std::vector<std::string>(layout.id >= 0 ? n : 0),
                  .lines = std::vector<std::int64_t>(n)};
}

std::optional<Failure> read_csv_rows(const std::string& name, const CsvFile& file,
                                     std::span<const Chunk> chunks, const ReadOptions& options,
                                     SharedCount& words, CsvTable& table) {
  std::vector<std::optional<Trouble>> troubles(chunks.size());
  for_tasks(options.threads, std::ssize(chunks), [&](Index c) {
    throw_if_cancelled(options.keep_going);
    words.go_on();
    const Chunk& chunk = chunks[static_cast<std::size_t>(c)];
    const Index begin = std::max(table.first, chunk.record),
                end = std::min(table.first + table.rows(), chunk.record + chunk.records);
    if (begin >= end) return;
    const Tokenizer tokens(file.text, file.separator, chunk.first, chunk.line + file.line - 1);
    RecordReader reader(file.layout, tokens, table);
    auto& trouble = troubles[static_cast<std::size_t>(c)];
    for (Index row = chunk.record; row < begin && !trouble; ++row) trouble = reader.skip();
    for (Index row = begin; row < end && !trouble; ++row) trouble = reader.read(row);
    words.add(words_bytes(table.labels, begin - table.first, end - table.first) +
              words_bytes(table.ids, begin - table.first, end - table.first));
    let_go_of(file.text, chunks, c);
  });
  for (const auto& trouble : troubles)
    if (trouble) return locate(name, file.text, *trouble, file.line);
  return std::nullopt;
}

std::vector<std::string> feature_names(const CsvLayout& layout) {
  std::vector<std::string> names(layout.header ? static_cast<std::size_t>(layout.features) : 0);
  for (std::size_t f = 0; f < layout.names.size(); ++f)
    if (layout.feature[f] >= 0)
      names[static_cast<std::size_t>(layout.feature[f])] = layout.names[f];
  return names;
}

std::optional<Failure> keep_csv_table(const CsvLayout& layout, CsvTable table, Dataset& data) {
  const Index rows = table.rows();
  data.format = "csv";
  data.type = "text";
  data.columns = feature_names(layout);
  data.ids = std::move(table.ids);
  if (auto refusal = keep_labels(std::move(table.labels), data)) return refusal;
  data.lines = std::move(table.lines);
  data.points = DenseMatrix<double>{rows, layout.features, std::move(table.values)};
  data.table = layout.reading;
  return std::nullopt;
}

Result<Dataset> read_csv(FileBytes file, const ReadOptions& options, Index chunk_bytes) {
  return within_memory(file.name(), [&] { return read_within_memory(file, options, chunk_bytes); });
}

Format csv_format() {
  return {"csv", "separated text (.csv, .tsv)", recognises_csv,
          [](FileBytes file, const ReadOptions& options) {
            return read_csv(std::move(file), options);
          }};
}

}  // namespace fwsr
