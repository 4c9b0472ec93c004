// Sparse text, as LIBSVM and SVMlight write it: "label index:value index:value ... # comment".
//
// - Indices ascend and count from 1, or from 0 when an index 0 stands anywhere in the file.
// - There are as many columns as the largest index says.
// - Labels are kept as text; "+1", "1.0" and "1" are one label.
// - Blank lines and lines with nothing but a comment are no points.
#include "fwsr/data/libsvm.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/string_bytes.hpp"
#include "fwsr/base/system_memory.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/labels.hpp"

namespace fwsr {

namespace {

/// One dense point with more columns than this takes 8 TiB: a mistake in the file.
constexpr std::int64_t largest_index = std::int64_t{1} << 40;

/// The words of one line, which blanks separate.
class Words {
 public:
  Words(std::string_view text, std::size_t from, std::size_t to)
      : text_(text), at_(from), to_(to) {}

  /// The next word; empty at the end of the line.
  std::string_view next() {
    while (at_ < to_ && is_space(text_[at_])) ++at_;
    start_ = at_;
    while (at_ < to_ && !is_space(text_[at_])) ++at_;
    return text_.substr(start_, at_ - start_);
  }
  /// Where the word last returned starts.
  std::size_t start() const { return start_; }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  std::string_view text_;
  std::size_t at_;
  std::size_t to_;
  std::size_t start_ = 0;
};

/// Reads "index:value", which starts at text[at], into `part`; `previous` is the index before it.
std::optional<Trouble> read_pair(std::string_view word, std::size_t at, std::int64_t& previous,
                                 LibsvmPart& part) {
  const std::size_t colon = word.find(':');
  if (word.starts_with("qid:"))
    return Trouble{at, "qid groups queries for ranking and is no feature; remove the qid fields"};
  const std::string_view digits = word.substr(0, colon);
  if (colon == std::string_view::npos || !is_whole_number(digits))
    return Trouble{at, fmt::format("{} is not index:value; write a whole number, a colon and a "
                                   "number, without blanks",
                                   show(word))};
  std::int64_t index = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (code != std::errc{} || index > largest_index)
    return Trouble{at, fmt::format("index {} is too large; the largest allowed is {}", show(digits),
                                   largest_index)};
  if (index <= previous)
    return Trouble{at, fmt::format("index {} {} {}; sort the indices of each line and give each "
                                   "one once",
                                   index, index == previous ? "repeats" : "comes after", previous)};
  const ParsedField value = parse_number(word.substr(colon + 1));
  if (value.kind != FieldKind::number)
    return Trouble{at + colon + 1, describe_problem(value.kind, word.substr(colon + 1))};
  previous = index;
  part.columns.push_back(index);
  part.values.push_back(value.value);
  return std::nullopt;
}

std::optional<Trouble> read_line(std::string_view text, std::size_t from, std::size_t to,
                                 std::int64_t line, LibsvmPart& part) {
  const std::size_t comment = text.substr(from, to - from).find('#');
  if (comment != std::string_view::npos) to = from + comment;
  Words words(text, from, to);
  const std::string_view label = words.next();
  if (label.empty()) return std::nullopt;
  if (label.find(':') != std::string_view::npos)
    return Trouble{words.start(), fmt::format("{} stands where the label is expected; start the "
                                              "line with a label, 0 if there is none",
                                              show(label))};
  if (auto nul = find_nul(label, words.start())) return nul;
  const std::size_t before = part.columns.size();
  std::int64_t previous = -1;
  for (auto word = words.next(); !word.empty(); word = words.next())
    if (auto trouble = read_pair(word, words.start(), previous, part)) return trouble;
  if (part.columns.size() > before) {
    part.smallest = std::min(part.smallest, part.columns[before]);
    part.largest = std::max(part.largest, previous);
  }
  part.labels.push_back(tidy_label(label));
  part.lines.push_back(line);
  part.counts.push_back(static_cast<std::int64_t>(part.columns.size() - before));
  return std::nullopt;
}

/// What a part takes, with the room its lists keep for more.
Index bytes_of(const LibsvmPart& part) {
  const auto room = [](const auto& list) {
    return static_cast<Index>(list.capacity() * sizeof(list[0]));
  };
  Index bytes = room(part.labels) + room(part.lines) + room(part.counts) + room(part.columns) +
                room(part.values);
  for (const std::string& label : part.labels) bytes += heap_bytes(label);
  return bytes;
}

/// What the matrix of all parts takes, labels apart, while they are still there.
Index joined_bytes(const std::vector<LibsvmPart>& parts) {
  Index rows = 0, entries = 0;
  for (const LibsvmPart& part : parts)
    rows += std::ssize(part.lines), entries += std::ssize(part.columns);
  return rows * Index{2 * sizeof(std::int64_t)} +
         entries * Index{sizeof(std::int64_t) + sizeof(double)};
}

Result<Dataset> read_within_memory(const FileBytes& file, const ReadOptions& options,
                                   Index chunk_bytes) {
  const std::string& name = file.name();
  if (const auto problem = find_unusable_option(name, "libsvm", options, false)) return *problem;
  const std::string_view text = content_of(file.text());
  if (text.empty()) return Failure{fmt::format("{}: is empty; it needs a line per point", name)};
  const auto chunks =
      cut_into_chunks(text, chunk_bytes, Quotes::ignored, BlankLines::are_records, options.threads);
  MemoryShare parts_memory(options.budget);
  std::vector<LibsvmPart> parts;
  if (auto failure = read_libsvm_chunks(name, text, chunks, 0, std::ssize(chunks), options,
                                        parts_memory, parts))
    return *failure;
  std::int64_t smallest = largest_index;
  std::int64_t largest = -1;
  for (const LibsvmPart& part : parts) {
    smallest = std::min(smallest, part.smallest);
    largest = std::max(largest, part.largest);
  }
  if (largest < 0)
    return Failure{fmt::format("{}: has no features; lines look like 'label index:value'", name)};
  Dataset data;
  data.memory = MemoryShare(options.budget);
  data.name = name;
  if (auto refusal = join_libsvm_parts(parts, base_of_libsvm(smallest), data)) return *refusal;
  return data;
}

/// "label 1:" ... : the first line with features decides.
bool looks_like_libsvm(std::string_view text) {
  for (int line = 0; line < 100 && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Words words(text, 0, std::min(end, text.find('#')));
    const std::string_view label = words.next();
    const std::string_view pair = words.next();
    if (label.find_first_of(":\"") != std::string_view::npos) return false;
    if (!pair.empty()) {
      const std::string_view index = pair.substr(0, pair.find(':'));
      return index.size() < pair.size() && (is_whole_number(index) || index == "qid") &&
             pair.find_first_of(",;\":", index.size() + 1) == std::string_view::npos;
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return false;
}

bool recognises_libsvm(const FileBytes& file) {
  if (!looks_like_text(file.bytes())) return false;
  if (has_ending(file.name(), {".libsvm", ".svmlight", ".svm"})) return true;
  return !has_ending(file.name(), {".csv", ".tsv"}) && looks_like_libsvm(content_of(file.text()));
}

}  // namespace

LibsvmPart read_libsvm_chunk(std::string_view text, const Chunk& chunk) {
  LibsvmPart part;
  std::size_t from = chunk.first;
  for (Index r = 0; r < chunk.records && !part.trouble; ++r) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    part.trouble = read_line(text, from, to, chunk.line + r, part);
    from = to + 1;
  }
  return part;
}

std::optional<Failure> read_libsvm_chunks(const std::string& name, std::string_view text,
                                          std::span<const Chunk> chunks, Index first, Index last,
                                          const ReadOptions& options, MemoryShare& memory,
                                          std::vector<LibsvmPart>& parts) {
  const std::size_t before = parts.size();
  parts.resize(before + at(last - first));
  SharedCount count(name, memory);
  for_tasks(options.threads, last - first, [&](Index c) {
    throw_if_cancelled(options.keep_going);
    count.go_on();
    LibsvmPart& part = parts[before + at(c)];
    part = read_libsvm_chunk(text, chunks[at(first + c)]);
    count.add(bytes_of(part));
    let_go_of(text, chunks, first + c);
  });
  for (const LibsvmPart& part : parts)
    if (part.trouble) return locate(name, text, *part.trouble);
  return std::nullopt;
}

std::optional<Failure> join_libsvm_parts(std::vector<LibsvmPart>& parts, std::int64_t base,
                                         Dataset& data) {
  if (auto refusal = data.memory.grow(data.name, joined_bytes(parts))) return refusal;
  data.format = "libsvm";
  data.type = "text";
  if (base == 0) data.notes.push_back(note_of_index_zero);
  SparseMatrix<double> points;
  std::size_t rows = 0;
  std::size_t entries = 0;
  for (const LibsvmPart& part : parts) rows += part.lines.size(), entries += part.columns.size();
  points.rows = static_cast<Index>(rows);
  points.starts.reserve(rows + 1);
  points.starts.push_back(0);
  points.columns.reserve(entries);
  points.values.reserve(entries);
  data.labels.reserve(rows);
  data.lines.reserve(rows);
  for (LibsvmPart& part : parts) {
    for (const std::int64_t count : part.counts)
      points.starts.push_back(points.starts.back() + count);
    for (const std::int64_t index : part.columns) points.columns.push_back(index - base);
    points.values.insert(points.values.end(), part.values.begin(), part.values.end());
    data.lines.insert(data.lines.end(), part.lines.begin(), part.lines.end());
    if (auto refusal = add_labels(data.name, part.labels, data.memory, data.labels)) return refusal;
    points.cols = std::max<Index>(points.cols, part.largest - base + 1);
    part = {};
  }
  data.points = std::move(points);
  release_free_memory();  // what the parts had
  return std::nullopt;
}

Result<Dataset> read_libsvm(FileBytes file, const ReadOptions& options, Index chunk_bytes) {
  return within_memory(file.name(), [&] { return read_within_memory(file, options, chunk_bytes); });
}

Format libsvm_format() {
  return {"libsvm", "LIBSVM / SVMlight text (.libsvm, .svm, .svmlight)", recognises_libsvm,
          [](FileBytes file, const ReadOptions& options) {
            return read_libsvm(std::move(file), options);
          }};
}

}  // namespace fwsr
