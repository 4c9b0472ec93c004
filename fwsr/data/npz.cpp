// .npz: a zip file of .npy images, as written by numpy.savez and scipy.sparse.save_npz.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/files.hpp"
#include "fwsr/data/csr.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/labels.hpp"
#include "fwsr/data/npy.hpp"
#include "fwsr/data/zip.hpp"

namespace fwsr {

namespace {

/// The arrays of one file by name.
class Npz {
 public:
  static Result<Npz> open(const FileBytes& file) {
    auto entries = read_zip_directory(file.bytes(), file.name());
    if (!entries) return entries.error();
    Npz npz(file);
    for (auto& entry : *entries) {
      if (!entry.name.ends_with(".npy")) continue;
      entry.name.resize(entry.name.size() - 4);
      npz.arrays_.push_back(std::move(entry));
    }
    if (npz.arrays_.empty())
      return Failure{
          fmt::format("{}: is a zip file without NumPy arrays; save points with "
                      "numpy.savez, a spreadsheet as csv",
                      file.name())};
    return npz;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : arrays_) all.push_back(entry.name);
    return all;
  }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  const std::string& file_name() const { return file_->name(); }
  std::string where(const std::string& array) const {
    return fmt::format("{}: array '{}'", file_->name(), printable(array));
  }

  /// use(header, next) with the array opened; afterwards checks that it ended well. What `use` did
  /// not read is not checked, so it reads everything or fails.
  template <class Use>
  auto read(const std::string& name, Use&& use) const
      -> decltype(use(std::declval<const NpyHeader&>(), std::declval<const ByteSource&>())) {
    const ZipEntry* entry = find(name);
    if (!entry)
      return Failure{fmt::format("{}: has no array '{}'; it holds {}", file_->name(),
                                 printable(name), list_names(names()))};
    auto reader = ZipReader::open(file_->bytes(), *entry, where(name));
    if (!reader) return reader.error();
    const ByteSource next = [&](std::span<std::byte> out) { return reader->read(out); };
    const auto header = read_npy_header(where(name), next);
    if (!header) return header.error();
    if (static_cast<std::uint64_t>(header->total_bytes()) != entry->size)
      return Failure{fmt::format(
          "{}: shape {} of {} needs {} bytes, but the zip directory states {}", where(name),
          shape_text(header->shape), header->type(), header->total_bytes(), entry->size)};
    auto result = use(*header, next);
    if (!result) return result;
    if (auto done = reader->finish(); !done) return done.error();
    return result;
  }

 private:
  explicit Npz(const FileBytes& file) : file_(&file) {}
  const ZipEntry* find(const std::string& name) const {
    const auto at = std::find_if(arrays_.begin(), arrays_.end(),
                                 [&](const ZipEntry& entry) { return entry.name == name; });
    return at == arrays_.end() ? nullptr : &*at;
  }

  const FileBytes* file_;
  std::vector<ZipEntry> arrays_;  // names without .npy
};

Result<std::vector<std::string>> read_array_labels(const Npz& npz, const std::string& name,
                                                   MemoryShare& memory) {
  return npz.read(name, [&](const NpyHeader& header, const ByteSource& next) {
    return read_npy_labels(npz.where(name), header, next, memory);
  });
}

// ------------------------------------------------------------------------------------------
// SciPy's CSR

/// A one-dimensional array of integers.
Result<std::vector<std::int64_t>> read_index_array(const Npz& npz, const std::string& name,
                                                   MemoryShare& memory) {
  return npz.read(
      name,
      [&](const NpyHeader& header, const ByteSource& next) -> Result<std::vector<std::int64_t>> {
        if (header.shape.size() != 1 || header.is_text())
          return Failure{
              fmt::format("{}: is no list of integers, as a sparse matrix needs", npz.where(name))};
        return read_integers(npz.where(name), header.number(), header.count, next, memory);
      });
}

/// The word in the array "format", which has no dimensions.
Result<std::string> read_sparse_format(const Npz& npz, MemoryShare& memory) {
  return npz.read("format",
                  [&](const NpyHeader& header, const ByteSource& next) -> Result<std::string> {
                    NpyHeader list = header;
                    if (list.shape.empty()) list.shape = {1};
                    if (!list.is_text() || list.count != 1)
                      return Failure{npz.where("format") + ": is not the name of a sparse format"};
                    auto words = read_npy_labels(npz.where("format"), list, next, memory);
                    if (!words) return words.error();
                    return words->front();
                  });
}

template <class T>
Result<PointsStorage> join_csr(const Npz& npz, std::vector<T> values, Dataset& data) {
  const auto shape = read_index_array(npz, "shape", data.memory);
  if (!shape) return shape.error();
  if (shape->size() != 2)
    return Failure{fmt::format("{}: has {} lengths, and points need rows and columns",
                               npz.where("shape"), shape->size())};
  auto starts = read_index_array(npz, "indptr", data.memory);
  if (!starts) return starts.error();
  auto columns = read_index_array(npz, "indices", data.memory);
  if (!columns) return columns.error();
  auto matrix = make_csr<T>(
      npz.file_name(),
      {(*shape)[0], (*shape)[1], std::move(*starts), std::move(*columns), std::move(values)},
      data.notes);
  if (!matrix) return matrix.error();
  return PointsStorage(std::move(*matrix));
}

Result<PointsStorage> read_csr(const Npz& npz, Dataset& data) {
  const auto format = read_sparse_format(npz, data.memory);
  if (!format) return format.error();
  if (*format != "csr")
    return Failure{
        fmt::format("{}: is a sparse matrix of format '{}'; save it as csr: "
                    "scipy.sparse.save_npz(file, matrix.tocsr())",
                    npz.file_name(), printable(*format))};
  auto values = npz.read(
      "data", [&](const NpyHeader& header, const ByteSource& next) -> Result<PointsStorage> {
        if (header.shape.size() != 1 || header.is_text())
          return Failure{npz.where("data") + ": is no list of numbers, as a sparse matrix needs"};
        data.type = header.type();
        return read_wide_points(npz.where("data"), {header.number(), 1, header.count, false}, next,
                                data.notes, data.memory);
      });
  if (!values) return values.error();
  if (auto* single = std::get_if<DenseMatrix<float>>(&*values))
    return join_csr(npz, std::move(single->values), data);
  return join_csr(npz, std::move(std::get<DenseMatrix<double>>(*values).values), data);
}

// -------------------------------------------------------------------------------------------
// choosing

bool is_scipy_sparse(const Npz& npz) {
  return npz.has("format") && npz.has("shape") && npz.has("data");
}

/// The one array that can be meant.
Result<std::string> choose_array(const Npz& npz, const ReadOptions& options) {
  if (!options.variable.empty()) return options.variable;
  std::vector<std::string> names = npz.names();
  std::erase(names, options.label_column);
  std::erase(names, options.id_column);
  if (names.size() == 1) return names.front();
  if (names.empty())
    return Failure{fmt::format("{}: holds nothing but {}; give the points in another array",
                               npz.file_name(), list_names(npz.names()))};
  return Failure{
      fmt::format("{}: holds several arrays: {}; name the one with the points as the variable",
                  npz.file_name(), list_names(names))};
}

Result<PointsStorage> read_array(const Npz& npz, const ReadOptions& options, Dataset& data) {
  if (options.variable.empty() && is_scipy_sparse(npz)) return read_csr(npz, data);
  const auto name = choose_array(npz, options);
  if (!name) return name.error();
  return npz.read(*name, [&](const NpyHeader& header, const ByteSource& next) {
    data.type = header.type();
    return read_npy_points(npz.where(*name), header, next, data.notes, data.memory);
  });
}

/// Labels or ids, where the array of them has a name: one for each point.
Result<std::vector<std::string>> read_one_each(const Npz& npz, const std::string& name,
                                               const char* what, const Dataset& data,
                                               MemoryShare& memory) {
  if (name.empty()) return std::vector<std::string>();
  auto words = read_array_labels(npz, name, memory);
  const Index rows = std::visit([](const auto& p) { return p.rows; }, data.points);
  if (words && static_cast<Index>(words->size()) != rows)
    return Failure{fmt::format("{}: {} {} for {} points; there must be one per point",
                               npz.where(name), words->size(), what, rows)};
  return words;
}

std::optional<Failure> read_npz_labels(const Npz& npz, const ReadOptions& options, Dataset& data) {
  MemoryShare memory(options.budget);
  const auto words = read_one_each(npz, options.label_column, "labels", data, memory);
  if (!words) return words.error();
  return add_labels(data.name, *words, data.memory, data.labels);
}

Result<Dataset> read_npz_file(const FileBytes& file, const ReadOptions& options) {
  Dataset data;
  data.memory = MemoryShare(options.budget);
  data.name = file.name();
  data.format = "npz";
  if (auto problem = find_unusable_option(data.name, "npz", options, true, true)) return *problem;
  const auto npz = Npz::open(file);
  if (!npz) return npz.error();
  auto points = read_array(*npz, options, data);
  if (!points) return points.error();
  data.points = std::move(*points);
  if (auto refusal = read_npz_labels(*npz, options, data)) return *refusal;
  auto ids = read_one_each(*npz, options.id_column, "ids", data, data.memory);
  if (!ids) return ids.error();
  data.ids = std::move(*ids);
  return data;
}

bool recognises_npz(const FileBytes& file) {
  const auto start = file.text().substr(0, 4);
  return start == "PK\x03\x04" || start == "PK\x05\x06";  // the latter: a zip file of nothing
}

}  // namespace

Result<std::vector<std::string>> npz_labels(const FileBytes& file, const MemoryBudget& budget) {
  return within_memory(file.name(), [&]() -> Result<std::vector<std::string>> {
    const auto npz = Npz::open(file);
    if (!npz) return npz.error();
    const auto names = npz->names();
    if (names.size() != 1)
      return Failure{fmt::format("{}: holds several arrays: {}; save the labels alone", file.name(),
                                 list_names(names))};
    MemoryShare memory(budget);
    return read_array_labels(*npz, names.front(), memory);
  });
}

Format npz_format() {
  return {"npz", "NumPy archive or SciPy CSR matrix (.npz)", recognises_npz,
          [](FileBytes file, const ReadOptions& options) {
            return within_memory(file.name(), [&] { return read_npz_file(file, options); });
          }};
}

}  // namespace fwsr
