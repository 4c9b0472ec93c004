#include "fwsr/data/read.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/file_watch.hpp"
#include "fwsr/base/limits.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/digits.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/labels.hpp"
#include "fwsr/data/text.hpp"
#include "fwsr/data/unknown.hpp"

namespace fwsr {

namespace {

using Words = std::vector<std::string>;

struct Reader {
  Format format;
  bool is_text;
  Result<Words> (*labels)(const FileBytes& file,
                          const MemoryBudget& budget);  // null: labels come with the points only
};

/// The table of formats. The first one that recognises a file reads it: formats with a magic
/// number first, and csv, which takes nearly any text, last.
const std::vector<Reader>& readers() {
  static const std::vector<Reader> all{
      {npy_format(), false, npy_labels}, {npz_format(), false, npz_labels},
      {idx_format(), false, idx_labels}, {mat_format(), false, mat_labels},
      {libsvm_format(), true, nullptr},  {csv_format(), true, text_labels},
  };
  return all;
}

const Reader* find_reader(const FileBytes& file) {
  for (const Reader& reader : readers())
    if (reader.format.recognises(file)) return &reader;
  return nullptr;
}

Failure no_reader(const FileBytes& file) {
  if (const auto nul = find_nul_in_text(file)) return locate(file.name(), file.text(), *nul);
  std::string formats;
  for (const std::string& name : readable_formats())
    formats += (formats.empty() ? "" : ", ") + name;
  return {
      fmt::format("{}: {} (formats read here: {})", file.name(), describe_unknown(file), formats)};
}

/// The content of a gzip-compressed file under the same name.
Result<FileBytes> unpack(const FileBytes& file, const MemoryBudget& budget,
                         const KeepGoing& keep_going = {}) {
  auto bytes = gunzip(file.bytes(), file.name(), budget, keep_going);
  if (!bytes) return bytes.error();
  return FileBytes::from_memory(file.name(), std::move(*bytes));
}

Failure only_text_by_pipe(const std::string& name, const Format& format) {
  return {
      fmt::format("{}: only text (csv, libsvm) can be read from standard input, this is {}; give "
                  "the file's name",
                  name, format.long_name)};
}

/// Refuses what cannot be read from standard input as soon as it shows, before all of it is in memory.
std::optional<Failure> look_at_start(const std::string& name, std::span<const std::byte> bytes) {
  const auto start = FileBytes::from_memory(name, std::vector(bytes.begin(), bytes.end()));
  for (const Reader& reader : readers())
    if (!reader.is_text && reader.format.recognises(start))
      return only_text_by_pipe(name, reader.format);
  return std::nullopt;
}

enum class Source { file, standard_input };

Result<Dataset> read_plain(FileBytes file, const ReadOptions& options, Source source) {
  const Reader* const reader = find_reader(file);
  if (!reader) return no_reader(file);
  const Format& format = reader->format;
  if (source == Source::standard_input && !reader->is_text)
    return only_text_by_pipe(file.name(), format);
  return format.read(std::move(file), options);
}

/// What `read` made of a file that stayed as it was meanwhile. Of one that did not, nothing: neither what
/// was read nor why it could not be read is to be relied on.
template <class Read>
auto read_unchanged(const std::shared_ptr<const FileWatch>& watch, Read&& read)
    -> decltype(read()) {
  auto result = read();
  if (watch)
    if (auto change = watch->find_change()) return Failure{std::move(*change)};
  return result;
}

bool stands_in_file(const PointsStorage& points) {
  if (const auto* const narrow = std::get_if<NarrowMatrix>(&points)) return narrow->mapped;
  return std::holds_alternative<MappedMatrix<float>>(points) ||
         std::holds_alternative<MappedMatrix<double>>(points) ||
         std::holds_alternative<StreamedMatrix<float>>(points) ||
         std::holds_alternative<StreamedMatrix<double>>(points);
}

Result<Dataset> read_from(FileBytes file, const ReadOptions& options, Source source) {
  const std::string name = file.name();
  const std::shared_ptr<const FileWatch> watch = file.watch();
  auto data = read_unchanged(watch, [&] {
    return within_memory(name, [&]() -> Result<Dataset> {
      start_threads(options.threads);
      // Formats that look into compressed files themselves come first; what is left is unpacked,
      // once, so that no chain of compressed files can keep us busy.
      if (!looks_like_gzip(file.bytes()) || find_reader(file))
        return read_plain(std::move(file), options, source);
      auto unpacked = unpack(file, options.budget, options.keep_going);
      if (!unpacked) return unpacked.error();
      return read_plain(std::move(*unpacked), options, source);
    });
  });
  if (data && stands_in_file(data->points)) data->watch = watch;
  return data;
}

Result<Dataset> read_built_in(const ReadOptions& options) {
  if (const auto problem = find_unusable_option("digits", "built-in", options, false))
    return *problem;
  return read_digits();
}

Result<Words> read_plain_labels(const FileBytes& file, const MemoryBudget& budget) {
  const Reader* const reader = find_reader(file);
  if (reader && reader->labels) return reader->labels(file, budget);
  if (reader)
    return Failure{
        fmt::format("{}: is {}, whose labels come with its points; a label file has one "
                    "label a line",
                    file.name(), reader->format.long_name)};
  // Text that no table starts with may still be labels; and an empty file is no text of any kind.
  const bool text = looks_like_text(file.bytes()) && !is_known_binary(file);
  if (text || file.bytes().empty()) return text_labels(file, budget);
  return no_reader(file);
}

Result<Words> read_label_words(const FileBytes& file, const MemoryBudget& budget) {
  if (!looks_like_gzip(file.bytes()) || find_reader(file)) return read_plain_labels(file, budget);
  auto unpacked = unpack(file, budget);
  if (!unpacked) return unpacked.error();
  return read_plain_labels(*unpacked, budget);
}

}  // namespace

Result<Dataset> read_dataset(const std::string& path, const ReadOptions& options) {
  std::error_code code;
  if (path == "digits" && !std::filesystem::exists(path, code)) return read_built_in(options);
  auto file = FileBytes::open(path, options.budget, path == "-" ? look_at_start : LookAtStart{});
  if (!file) return file.error();
  return read_from(std::move(*file), options, path == "-" ? Source::standard_input : Source::file);
}

Result<Dataset> read_dataset(FileBytes file, const ReadOptions& options) {
  return read_from(std::move(file), options, Source::file);
}

Result<Labels> read_labels(const std::string& path, const MemoryBudget& budget) {
  auto file = FileBytes::open(path, budget);
  if (!file) return file.error();
  return read_labels(std::move(*file), budget);
}

Result<Labels> read_labels(FileBytes file, const MemoryBudget& budget) {
  return read_unchanged(file.watch(), [&] {
    return within_memory(file.name(), [&]() -> Result<Labels> {
      const auto words = read_label_words(file, budget);
      if (!words) return words.error();
      MemoryShare memory(budget);
      Labels labels;
      if (auto refusal = add_labels(file.name(), *words, memory, labels)) return *refusal;
      return labels;
    });
  });
}

std::string format_of(const FileBytes& file) {
  const Reader* const reader = find_reader(file);
  return reader ? reader->format.name : "";
}

std::vector<std::string> readable_formats() {
  std::vector<std::string> names;
  for (const Reader& reader : readers()) names.push_back(reader.format.name);
  return names;
}

}  // namespace fwsr
