#include "fwsr/data/text_set.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/formats.hpp"

namespace fwsr {

namespace {

/// Pieces are told to everybody: a set of any size has no more.
constexpr Index most_pieces = 65536;

/// Why two files are not of one set.
std::optional<Failure> find_difference(const CsvLayout& first, const std::string& first_name,
                                       const CsvLayout& other, const std::string& name) {
  if (other.features != first.features)
    return Failure{
        fmt::format("{}: has {} features, and {} has {}; the files of one set have the "
                    "same",
                    name, other.features, first_name, first.features)};
  const bool named = first.header && other.header;
  if (other.feature == first.feature && other.label == first.label && other.id == first.id &&
      (!named || other.names == first.names))
    return std::nullopt;
  return Failure{fmt::format(
      "{}: has other columns than {}; the files of one set have the same, in the same order", name,
      first_name)};
}

/// Points first .. last of a part and no others.
void keep_points(LibsvmPart& part, Index first, Index last) {
  const auto keep = [](auto& list, Index from, Index to) {
    list.erase(list.begin() + to, list.end());
    list.erase(list.begin(), list.begin() + from);
  };
  Index from = 0, to = 0;
  for (Index i = 0; i < last; ++i) (i < first ? from : to) += part.counts[at(i)];
  keep(part.columns, from, from + to);
  keep(part.values, from, from + to);
  keep(part.counts, first, last);
  keep(part.labels, first, last);
  keep(part.lines, first, last);
}

class TextRows final : public RowSource<double> {
 public:
  explicit TextRows(std::shared_ptr<const TextSet> set) : set_(std::move(set)) {}

  void read(Index first, Index last, double* out) const override {
    const Result<Dataset> some = set_->read(first, last);
    if (!some) throw Error(some.error().message);
    if (const auto* dense = std::get_if<DenseMatrix<double>>(&some->points)) {
      std::copy(dense->values.begin(), dense->values.end(), out);
      return;
    }
    const auto& sparse = std::get<SparseMatrix<double>>(some->points);
    std::fill_n(out, (last - first) * sparse.cols, 0.0);
    for (Index i = 0; i < sparse.rows; ++i)
      for (auto e = sparse.starts[at(i)]; e < sparse.starts[at(i + 1)]; ++e)
        out[i * sparse.cols + sparse.columns[at(e)]] = sparse.values[at(e)];
  }

 private:
  std::shared_ptr<const TextSet> set_;
};

}  // namespace

Result<bool> TextSet::suits(const std::string& path, const MemoryBudget& budget) {
  const Result<FileBytes> file = FileBytes::open(path, budget);
  if (!file) return file.error();
  const std::string format = looks_like_gzip(file->bytes()) ? "" : format_of(*file);
  return format == "csv" || format == "libsvm";
}

Result<TextSet> TextSet::open(const std::vector<std::string>& paths, const ReadOptions& options,
                              Index piece_bytes) {
  TextSet set;
  set.options_ = options;
  std::string format;
  Index bytes = 0;
  for (const std::string& path : paths) {
    Result<FileBytes> opened = FileBytes::open(path, options.budget);
    if (!opened) return opened.error();
    const std::string own = looks_like_gzip(opened->bytes()) ? "gzip" : format_of(*opened);
    if (format.empty()) format = own;
    if (own != format || !opened->is_mapped())
      return Failure{fmt::format(
          "{}: is no {} file as {} is; the files of one set are of one format, and none is "
          "compressed",
          path, format, paths.front())};
    File file{.bytes = std::move(*opened)};
    if (format == "csv") {
      Result<CsvFile> csv = open_csv(file.bytes, options);
      if (!csv) return csv.error();
      if (!set.files_.empty())
        if (auto difference = find_difference(set.layout(), paths.front(), csv->layout, path))
          return *difference;
      file.text = csv->text;
      file.csv = std::move(*csv);
    } else {
      if (auto problem = find_unusable_option(path, "libsvm", options, false)) return *problem;
      file.text = content_of(file.bytes.text());
      if (file.text.empty())
        return Failure{fmt::format("{}: is empty; it needs a line per point", path)};
    }
    bytes += std::ssize(file.text);
    set.files_.push_back(std::move(file));
  }
  set.piece_bytes_ = std::max(piece_bytes, bytes / most_pieces);
  for (File& file : set.files_) {
    file.first_piece = set.pieces_;
    set.pieces_ += block_count(std::ssize(file.text), set.piece_bytes_);
  }
  if (!set.sparse()) set.features_ = set.layout().features;
  return set;
}

const TextSet::File& TextSet::file_of(Index piece) const {
  return *std::prev(
      std::upper_bound(files_.begin(), files_.end(), piece,
                       [](Index p, const File& file) { return p < file.first_piece; }));
}

std::optional<Failure> TextSet::look_through(Index number, TextPiece& piece) const {
  const File& file = file_of(number);
  const Index own = number - file.first_piece;
  if (file.csv) {
    piece.scan = scan_chunk(file.text, own, piece_bytes_, Quotes::protect_line_breaks,
                            file.csv->blank_lines);
    return std::nullopt;
  }
  piece.scan = scan_chunk(file.text, own, piece_bytes_, Quotes::ignored, BlankLines::are_records);
  const LibsvmPart part = read_libsvm_chunk(file.text, chunk_of(piece.scan, own == 0, 0));
  if (part.trouble) return locate(file.bytes.name(), file.text, *part.trouble);
  piece.points = part.points();
  piece.entries = std::ssize(part.columns);
  piece.smallest = part.smallest;
  piece.largest = part.largest;
  return std::nullopt;
}

Result<std::vector<TextPiece>> TextSet::look_through(Index first, Index last) const {
  std::vector<TextPiece> found(at(last - first));
  std::vector<std::optional<Failure>> failures(found.size());
  for_tasks(options_.threads, last - first, [&](Index p) {
    throw_if_cancelled(options_.keep_going);
    failures[at(p)] = look_through(first + p, found[at(p)]);
  });
  for (std::optional<Failure>& failure : failures)
    if (failure) return std::move(*failure);
  return found;
}

std::optional<Failure> TextSet::number_rows(std::span<const TextPiece> all) {
  rows_ = entries_ = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max(), largest = -1;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    File& file = files_[f];
    const Index end = f + 1 < files_.size() ? files_[f + 1].first_piece : pieces_;
    std::vector<ChunkScan> scans;
    for (Index p = file.first_piece; p < end; ++p) scans.push_back(all[at(p)].scan);
    file.chunks = chunks_of(scans);
    file.starts.clear();
    for (Index p = file.first_piece; p < end; ++p) {
      const TextPiece& piece = all[at(p)];
      file.starts.push_back(rows_);
      rows_ += file.csv ? file.chunks[at(p - file.first_piece)].records : piece.points;
      entries_ += piece.entries;
      smallest = std::min(smallest, piece.smallest);
      largest = std::max(largest, piece.largest);
    }
    file.starts.push_back(rows_);
  }
  if (!sparse()) return std::nullopt;
  if (largest < 0)
    return Failure{fmt::format("{}: has no features; lines look like 'label index:value'",
                               files_.front().bytes.name())};
  base_ = base_of_libsvm(smallest);
  features_ = largest - base_ + 1;
  return std::nullopt;
}

Result<Dataset> TextSet::read(Index first, Index last) const {
  return within_memory(files_.front().bytes.name(),
                       [&] { return sparse() ? read_libsvm(first, last) : read_csv(first, last); });
}

Result<Dataset> TextSet::read_csv(Index first, Index last) const {
  Dataset data;
  data.name = files_.front().bytes.name();
  data.memory = MemoryShare(options_.budget);
  Index bytes = 0;  // of the pieces that they stand in
  for (const File& file : files_)
    for (std::size_t c = 0; c < file.chunks.size(); ++c)
      if (file.starts[c] < last && file.starts[c + 1] > first) bytes += piece_bytes_;
  Result<CsvTable> table =
      make_csv_table(data.name, layout(), last - first, at(bytes), data.memory);
  if (!table) return table.error();
  SharedCount words(data.name, data.memory);
  for (const File& file : files_) {
    table->first = first - file.starts.front();
    if (auto failure =
            read_csv_rows(file.bytes.name(), *file.csv, file.chunks, options_, words, *table))
      return *failure;
  }
  if (auto refusal = keep_csv_table(layout(), std::move(*table), data)) return *refusal;
  return data;
}

Result<Dataset> TextSet::read_libsvm(Index first, Index last) const {
  Dataset data;
  data.name = files_.front().bytes.name();
  data.memory = MemoryShare(options_.budget);
  MemoryShare parts_memory(options_.budget);
  std::vector<LibsvmPart> parts;
  for (const File& file : files_) {
    const auto begin = std::upper_bound(file.starts.begin(), file.starts.end(), first),
               end = std::lower_bound(file.starts.begin(), file.starts.end(), last);
    const Index from = std::max<Index>(0, begin - file.starts.begin() - 1),
                to = std::min(end - file.starts.begin(), std::ssize(file.chunks));
    if (from >= to) continue;
    const std::size_t before = parts.size();
    if (auto failure = read_libsvm_chunks(file.bytes.name(), file.text, file.chunks, from, to,
                                          options_, parts_memory, parts))
      return *failure;
    for (Index c = from; c < to; ++c) {
      LibsvmPart& part = parts[before + at(c - from)];
      const Index start = file.starts[at(c)], size = part.points();
      keep_points(part, std::clamp<Index>(first - start, 0, size),
                  std::clamp<Index>(last - start, 0, size));
    }
  }
  if (auto refusal = join_libsvm_parts(parts, base_, data)) return *refusal;
  std::get<SparseMatrix<double>>(data.points).cols = features_;
  return data;
}

Dataset TextSet::as_stream(std::shared_ptr<const TextSet> set) {
  Dataset data;
  data.name = set->files_.front().bytes.name();
  data.format = set->sparse() ? "libsvm" : "csv";
  data.type = "text";
  data.watch = set->files_.front().bytes.watch();
  if (set->sparse()) {
    if (set->base_ == 0) data.notes.push_back(note_of_index_zero);
  } else {
    data.columns = feature_names(set->layout());
    data.table = set->layout().reading;
    for (const File& file : set->files_)
      for (const Chunk& chunk : file.chunks) data.table->blank_lines += chunk.blank_lines;
  }
  const Index rows = set->rows(), cols = set->features();
  data.points = StreamedMatrix<double>{std::make_unique<TextRows>(std::move(set)), rows, cols};
  return data;
}

}  // namespace fwsr
