// Separated text: one record a line, fields separated by commas, tabs or semicolons.
//
// - Quotes as in RFC 4180; blanks around fields do not count; LF or CR LF; UTF-8 with or without
//   a byte order mark.
// - Every record has as many fields as the first one. Blank lines at the end are skipped; a blank
//   line anywhere else is an error, for it may be a point that got lost.
// - Features are numbers. An empty field (or NA, null, none, ?) is an error, never a zero; nan and
//   inf are read as they are, and refused by whoever needs finite numbers.
#include "fwsr/data/csv.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/csv_layout.hpp"
#include "fwsr/data/csv_tokens.hpp"
#include "fwsr/data/formats.hpp"

namespace fwsr {

namespace {

/// Where the records of all chunks are put.
struct Table {
  std::vector<double> values;  // rows x features
  std::vector<std::string> labels;
  std::vector<std::string> ids;
  std::vector<std::int64_t> lines;
};

/// Reads records one after another into a Table, up to the first trouble.
class RecordReader {
 public:
  RecordReader(const CsvLayout& layout, Tokenizer tokens, Table& table)
      : layout_(layout), tokens_(tokens), table_(table) {}

  std::optional<Trouble> read(Index row);

 private:
  std::optional<Trouble> read_field(Index row, Index field, bool& last);
  std::optional<Trouble> keep(Index row, Index f, const Field& field);
  Trouble wrong_count(std::size_t start, Index found);

  const CsvLayout& layout_;
  Tokenizer tokens_;
  Table& table_;
};

std::optional<Trouble> RecordReader::read(Index row) {
  const std::size_t start = tokens_.at();
  const Index fields = layout_.fields();
  table_.lines[static_cast<std::size_t>(row)] = tokens_.line();
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

std::optional<Trouble> RecordReader::read_field(Index row, Index f, bool& last) {
  const Index feature = layout_.feature[static_cast<std::size_t>(f)];
  double* const place =
      feature < 0 ? nullptr
                  : &table_.values[static_cast<std::size_t>(row * layout_.features + feature)];
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
  if (number.kind != FieldKind::number)
    return Trouble{field.at, fmt::format("{}: {}", layout_.describe(f),
                                         describe_problem(number.kind, field.text))};
  *place = number.value;
  return std::nullopt;
}

std::optional<Trouble> RecordReader::keep(Index row, Index f, const Field& field) {
  if (f == layout_.label) {
    if (field.text.empty())
      return Trouble{field.at, fmt::format("{}: the label is empty; fill it in, or read the file "
                                           "without a label column",
                                           layout_.describe(f))};
    table_.labels[static_cast<std::size_t>(row)] = field.value();
  }
  if (f == layout_.id) table_.ids[static_cast<std::size_t>(row)] = field.value();
  return std::nullopt;
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
Index words_bytes(const Table& table, Index first, Index last) {
  Index bytes = 0;
  for (const auto* words : {&table.labels, &table.ids})
    for (Index row = first; row < last && row < std::ssize(*words); ++row)
      bytes += heap_bytes((*words)[static_cast<std::size_t>(row)]);
  return bytes;
}

/// Parses all records of `text`. @return the first trouble, if any
std::optional<Trouble> fill(Table& table, const CsvLayout& layout, std::string_view text,
                            char separator, const std::vector<Chunk>& chunks,
                            const ReadOptions& options, SharedCount& count) {
  std::vector<std::optional<Trouble>> troubles(chunks.size());
  const Index rows = std::ssize(table.lines);
  for_tasks(options.threads, std::ssize(chunks), [&](Index c) {
    stop_unless(options.alive);
    count.go_on();
    const Chunk& chunk = chunks[static_cast<std::size_t>(c)];
    RecordReader reader(layout, Tokenizer(text, separator, chunk.first, chunk.line), table);
    auto& trouble = troubles[static_cast<std::size_t>(c)];
    const Index end = std::min(rows, chunk.record + chunk.records);
    for (Index row = chunk.record; row < end && !trouble; ++row) trouble = reader.read(row);
    count.add(words_bytes(table, chunk.record, end));
    let_go_of(text, chunks, c);
  });
  for (auto& trouble : troubles)
    if (trouble) return std::move(trouble);
  return std::nullopt;
}

/// A header of numbers looks like a point; the names pandas gives by itself are 0, 1, 2, ...
bool counts_up(const std::vector<std::string>& record) {
  const std::size_t base = record[0] == "0" ? 0 : 1;
  for (std::size_t f = 0; f < record.size(); ++f)
    if (record[f] != std::to_string(f + base)) return false;
  return record.size() >= 3;
}

std::vector<std::string> feature_names(const CsvLayout& layout) {
  std::vector<std::string> names(layout.header ? static_cast<std::size_t>(layout.features) : 0);
  for (std::size_t f = 0; f < layout.names.size(); ++f)
    if (layout.feature[f] >= 0)
      names[static_cast<std::size_t>(layout.feature[f])] = layout.names[f];
  return names;
}

Result<Dataset> read_within_memory(const FileBytes& file, const ReadOptions& options,
                                   Index chunk_bytes) {
  const std::string& name = file.name();
  if (!options.variable.empty())
    return Failure{
        fmt::format("{}: variable {} was asked for, but csv files have none; choose "
                    "columns instead",
                    name, show(options.variable))};
  std::string_view text = content_of(file.text());
  if (text.empty()) return Failure{fmt::format("{}: is empty; it needs a line per point", name)};
  if (text.find('\n') == std::string_view::npos && text.find('\r') < text.size() - 1)
    return Failure{
        fmt::format("{}: its lines end in a carriage return alone; save it with line "
                    "feeds (tr '\\r' '\\n')",
                    name)};
  const char separator = choose_separator(text);
  const FirstRecord first = read_first_record(text, separator);
  if (first.trouble) return locate(name, text, *first.trouble);
  if (first.fields.size() == 1 && first.fields[0].empty())
    return locate(name, text, {0, "blank line; remove it"});
  Result<CsvLayout> layout = plan_layout(name, first.fields, options);
  if (!layout) return layout.error();
  if (layout->header) text.remove_prefix(first.end);
  const std::int64_t first_line = layout->header ? 1 + first.lines : 1;
  if (text.empty())
    return Failure{fmt::format("{}: has a header and no points; it needs a line per point", name)};

  const auto chunks =
      cut_into_chunks(text, chunk_bytes, Quotes::protect_line_breaks, options.threads);
  const Index rows =
      justified_rows(chunks.back().record + chunks.back().records, *layout, text.size());
  const auto n = static_cast<std::size_t>(rows);
  const Index row_bytes = layout->features * Index{sizeof(double)} + Index{sizeof(std::int64_t)} +
                          ((layout->label >= 0) + (layout->id >= 0)) * Index{sizeof(std::string)};
  Dataset data;
  data.memory = MemoryShare(options.budget);
  if (auto refusal = data.memory.grow(name, rows, static_cast<std::size_t>(row_bytes)))
    return *refusal;
  Table table{.values = std::vector<double>(n * static_cast<std::size_t>(layout->features)),
              .labels = std::vector<std::string>(layout->label >= 0 ? n : 0),
              .ids = std::vector<std::string>(layout->id >= 0 ? n : 0),
              .lines = std::vector<std::int64_t>(n)};
  SharedCount words(name, data.memory);
  if (const auto trouble = fill(table, *layout, text, separator, chunks, options, words))
    return locate(name, text, *trouble, first_line);
  for (std::int64_t& line : table.lines) line += first_line - 1;

  data.name = name;
  data.format = "csv";
  data.type = "text";
  data.columns = feature_names(*layout);
  data.ids = std::move(table.ids);
  data.labels = std::move(table.labels);
  data.lines = std::move(table.lines);
  data.points = DenseMatrix<double>{rows, layout->features, std::move(table.values)};
  if (options.header == Header::automatic && !layout->header && counts_up(first.fields))
    data.notes.push_back(
        "the first line counts the columns and was read as a point; if it is a header, say so");
  return data;
}

bool recognises_csv(const FileBytes& file) {
  const std::string_view text = content_of(file.text());
  const std::size_t ink = text.find_first_not_of(" \t\r\n");
  return looks_like_text(file.bytes()) && ink != std::string_view::npos &&
         std::string_view("{[<").find(text[ink]) == std::string_view::npos;
}

}  // namespace

Result<Dataset> read_csv(FileBytes file, const ReadOptions& options, Index chunk_bytes) {
  return within_memory(file.name(), [&] { return read_within_memory(file, options, chunk_bytes); });
}

Format csv_format() {
  return {"csv", "comma, tab or semicolon separated text (.csv, .tsv)", recognises_csv,
          [](FileBytes file, const ReadOptions& options) {
            return read_csv(std::move(file), options);
          }};
}

}  // namespace fwsr
