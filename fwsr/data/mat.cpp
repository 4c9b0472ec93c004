// MATLAB files of version 5 to 7.2, decoded by matio.
#include <matio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/files.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/csr.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/mat_scan.hpp"

namespace fwsr {

namespace {

struct MatCloser {
  void operator()(mat_t* mat) const { Mat_Close(mat); }
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};

/// A file without a name that lives in memory, because matio reads only from paths.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fwsr", MFD_CLOEXEC)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
      if (put <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

/// A variable with its numbers, as matio returns it.
using Loaded = std::unique_ptr<matvar_t, MatCloser>;

Result<Loaded> load(const std::string& where, const MatFile& mat, const MatVariable& variable) {
  if (variable.is_complex)
    return Failure{
        fmt::format("{}: holds complex numbers; save real and imaginary parts as "
                    "separate columns",
                    where)};
  MemoryFile memory;
  auto element = extract_variable(where, mat, variable);
  if (!element) return element.error();
  if (!memory.append(mat.header) || !memory.append(element->bytes))
    return Failure{fmt::format("{}: cannot be unpacked in memory", where)};
  element->bytes = {};  // matio's copy is the one that counts from here on
  const std::unique_ptr<mat_t, MatCloser> opened(Mat_Open(memory.path().c_str(), MAT_ACC_RDONLY));
  Loaded loaded(opened ? Mat_VarReadNext(opened.get()) : nullptr);
  const bool as_promised = loaded && loaded->data && loaded->rank == 2 && loaded->dims &&
                           !loaded->isComplex && loaded->class_type == element->matlab_class &&
                           static_cast<Index>(loaded->dims[0]) == variable.shape[0] &&
                           static_cast<Index>(loaded->dims[1]) == variable.shape[1];
  if (!as_promised)
    return Failure{fmt::format("{}: cannot be decoded; save or copy the file again", where)};
  return loaded;
}

std::optional<NumberType> type_of(matio_types type) {
  switch (type) {
    case MAT_T_INT8:
      return NumberType{NumberKind::signed_integer, 1};
    case MAT_T_UINT8:
      return NumberType{NumberKind::unsigned_integer, 1};
    case MAT_T_INT16:
      return NumberType{NumberKind::signed_integer, 2};
    case MAT_T_UINT16:
      return NumberType{NumberKind::unsigned_integer, 2};
    case MAT_T_INT32:
      return NumberType{NumberKind::signed_integer, 4};
    case MAT_T_UINT32:
      return NumberType{NumberKind::unsigned_integer, 4};
    case MAT_T_INT64:
      return NumberType{NumberKind::signed_integer, 8};
    case MAT_T_UINT64:
      return NumberType{NumberKind::unsigned_integer, 8};
    case MAT_T_SINGLE:
      return NumberType{NumberKind::floating, 4};
    case MAT_T_DOUBLE:
      return NumberType{NumberKind::floating, 8};
    default:
      return std::nullopt;
  }
}

/// The numbers of a dense variable and how to read them, checked against the bytes matio took.
struct Numbers {
  NumberType type;
  std::span<const std::byte> bytes;
};
Result<Numbers> numbers_of(const std::string& where, const matvar_t& variable) {
  auto type = type_of(variable.data_type);
  const auto cells = static_cast<Index>(variable.dims[0] * variable.dims[1]);
  if (!type || variable.data_size != type->size ||
      static_cast<Index>(variable.nbytes) != cells * type->size)
    return Failure{fmt::format("{}: cannot be decoded; save or copy the file again", where)};
  if (variable.isLogical && type->size == 1) type->kind = NumberKind::boolean;
  return Numbers{*type, {static_cast<const std::byte*>(variable.data), variable.nbytes}};
}

// ---------------------------------------------------------------------------------------------
// points

template <class T>
Result<PointsStorage> join_columns(const std::string& where, const matvar_t& variable,
                                   std::vector<T> values, std::vector<std::string>& notes) {
  const auto& sparse = *static_cast<const mat_sparse_t*>(variable.data);
  // MATLAB's columns are the rows of the transpose.
  SparseMatrix<T> columns{static_cast<Index>(variable.dims[1]),
                          static_cast<Index>(variable.dims[0]),
                          {sparse.jc, sparse.jc + sparse.njc},
                          {sparse.ir, sparse.ir + values.size()},
                          std::move(values)};
  auto checked = make_csr(where + ", transposed", std::move(columns), notes);
  if (!checked) return checked.error();
  return PointsStorage(transpose(*checked));
}

Result<PointsStorage> read_sparse(const std::string& where, const matvar_t& variable,
                                  Dataset& data) {
  const auto& sparse = *static_cast<const mat_sparse_t*>(variable.data);
  const auto broken = [&](const char* what) {
    return Failure{fmt::format("{}: the sparse matrix is broken: {}; save it again", where, what)};
  };
  auto type = type_of(variable.data_type);
  if (!type || !sparse.jc || sparse.njc != variable.dims[1] + 1) return broken("no column starts");
  const Index entries = sparse.jc[sparse.njc - 1];  // ir and data may have spare room after these
  if (entries > sparse.nir || entries > sparse.ndata ||
      (entries > 0 && (!sparse.ir || !sparse.data)))
    return broken("fewer entries than its columns claim");
  if (static_cast<Index>(variable.dims[0]) > 1'000'000 + 100 * entries)
    return broken("far more rows than entries");
  if (variable.isLogical && type->size == 1) type->kind = NumberKind::boolean;
  data.type = name_of(*type);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(sparse.data),
                                         static_cast<std::size_t>(entries * type->size));
  auto values = read_points(where, {*type, 1, entries, false}, source_of(bytes, where), data.notes);
  if (!values) return values.error();
  if (auto* single = std::get_if<DenseMatrix<float>>(&*values))
    return join_columns(where, variable, std::move(single->values), data.notes);
  return join_columns(where, variable, std::move(std::get<DenseMatrix<double>>(*values).values),
                      data.notes);
}

Result<PointsStorage> read_variable(const std::string& where, const MatFile& mat,
                                    const MatVariable& variable, Dataset& data) {
  if (!variable.is_matrix())
    return Failure{
        fmt::format("{}: is not a matrix of numbers with rows and columns; save one point "
                    "per row",
                    where)};
  if (variable.shape[0] == 0 || variable.shape[1] == 0)
    return Failure{fmt::format("{}: holds no numbers", where)};
  const auto loaded = load(where, mat, variable);
  if (!loaded) return loaded.error();
  if (variable.is_sparse()) return read_sparse(where, **loaded, data);
  const auto numbers = numbers_of(where, **loaded);
  if (!numbers) return numbers.error();
  data.type = name_of(numbers->type);
  return read_points(where, {numbers->type, variable.shape[0], variable.shape[1], true},
                     source_of(numbers->bytes, where), data.notes);
}

// -------------------------------------------------------------------------------------------
// choosing

std::string where_is(const std::string& file, const MatVariable& variable) {
  return fmt::format("{}: variable '{}'", file, printable(variable.name));
}

std::vector<std::string> names_of(const std::vector<const MatVariable*>& variables) {
  std::vector<std::string> names;
  for (const auto* v : variables)
    names.push_back(v->shape.size() == 2
                        ? fmt::format("{} ({} x {})", v->name, v->shape[0], v->shape[1])
                        : v->name);
  return names;
}

Result<const MatVariable*> find_variable(const std::string& file, const MatFile& mat,
                                         const std::string& name) {
  std::vector<const MatVariable*> all;
  for (const auto& variable : mat.variables) {
    if (variable.name == name) return &variable;
    all.push_back(&variable);
  }
  return Failure{fmt::format("{}: has no variable '{}'; it holds {}", file, printable(name),
                             all.empty() ? "none" : list_names(names_of(all)))};
}

/// The variable that was named; else the only matrix; else the only one with rows and columns.
Result<const MatVariable*> choose_points(const std::string& file, const MatFile& mat,
                                         const ReadOptions& options, Dataset& data) {
  if (!options.variable.empty()) return find_variable(file, mat, options.variable);
  std::vector<const MatVariable*> matrices;
  std::vector<const MatVariable*> wide;
  for (const auto& variable : mat.variables) {
    if (!variable.is_matrix() || variable.name == options.label_column) continue;
    matrices.push_back(&variable);
    if (variable.shape[0] > 1 && variable.shape[1] > 1) wide.push_back(&variable);
  }
  if (matrices.size() == 1) return matrices.front();
  if (matrices.empty())
    return Failure{
        fmt::format("{}: holds no matrix of numbers; save one with a point per row", file)};
  if (wide.size() != 1)
    return Failure{
        fmt::format("{}: holds several matrices: {}; name the one with the points as the variable",
                    file, list_names(names_of(matrices)))};
  data.notes.push_back(
      fmt::format("points taken from variable '{}', the only one with several rows "
                  "and columns",
                  printable(wide.front()->name)));
  return wide.front();
}

Result<std::vector<std::string>> read_variable_labels(const std::string& where, const MatFile& mat,
                                                      const MatVariable& variable) {
  const bool one_line = variable.is_matrix() && std::min(variable.shape[0], variable.shape[1]) == 1;
  if (!one_line || variable.is_sparse())
    return Failure{fmt::format("{}: is no list of labels; save one number per point", where)};
  const auto loaded = load(where, mat, variable);
  if (!loaded) return loaded.error();
  const auto numbers = numbers_of(where, **loaded);
  if (!numbers) return numbers.error();
  return read_number_labels(where, numbers->type, variable.shape[0] * variable.shape[1],
                            source_of(numbers->bytes, where));
}

Result<Dataset> read_mat_file(const FileBytes& file, const ReadOptions& options) {
  Dataset data;
  data.name = file.name();
  data.format = "mat";
  if (auto problem = find_unusable_option(data.name, "mat", options, true)) return *problem;
  const auto mat = scan_mat(file);
  if (!mat) return mat.error();
  const auto chosen = choose_points(data.name, *mat, options, data);
  if (!chosen) return chosen.error();
  auto points = read_variable(where_is(data.name, **chosen), *mat, **chosen, data);
  if (!points) return points.error();
  data.points = std::move(*points);
  if (options.label_column.empty()) return data;
  const auto named = find_variable(data.name, *mat, options.label_column);
  if (!named) return named.error();
  auto labels = read_variable_labels(where_is(data.name, **named), *mat, **named);
  if (!labels) return labels.error();
  if (static_cast<Index>(labels->size()) != (*chosen)->shape[0])
    return Failure{fmt::format("{}: {} labels for {} points; there must be one per point",
                               where_is(data.name, **named), labels->size(), (*chosen)->shape[0])};
  data.labels = std::move(*labels);
  return data;
}

}  // namespace

Result<std::vector<std::string>> mat_labels(const FileBytes& file) {
  return within_memory(file.name(), [&]() -> Result<std::vector<std::string>> {
    const auto mat = scan_mat(file);
    if (!mat) return mat.error();
    std::vector<const MatVariable*> lines;
    for (const auto& variable : mat->variables)
      if (variable.is_matrix() && std::min(variable.shape[0], variable.shape[1]) == 1)
        lines.push_back(&variable);
    if (lines.size() != 1)
      return Failure{
          fmt::format("{}: holds {} variables that are one row or column of numbers; save "
                      "the labels alone",
                      file.name(), lines.size())};
    return read_variable_labels(where_is(file.name(), *lines.front()), *mat, *lines.front());
  });
}

Format mat_format() {
  return {"mat", "MATLAB 5 to 7.2 (.mat)", looks_like_mat,
          [](FileBytes file, const ReadOptions& options) {
            return within_memory(file.name(), [&] { return read_mat_file(file, options); });
          }};
}

}  // namespace fwsr
