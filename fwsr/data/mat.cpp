// MATLAB files of version 5 to 7.2: which variable is meant, and its numbers as points or labels.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/files.hpp"
#include "fwsr/data/binary.hpp"
#include "fwsr/data/csr.hpp"
#include "fwsr/data/formats.hpp"
#include "fwsr/data/labels.hpp"
#include "fwsr/data/mat_file.hpp"

namespace fwsr {

namespace {

using Variables = std::vector<MatVariable>;

/// A variable that is being read, with the sentences about what can go wrong.
struct Opened {
  std::string where;
  MatReader reader;
  ByteSource next;  // the bytes of the part

  Opened(std::string place, const MatVariable& variable, const KeepGoing& keep_going)
      : where(std::move(place)), reader(variable) {
    next = [this, keep_going](std::span<std::byte> out) -> Result<Done> {
      throw_if_cancelled(keep_going);
      if (!reader.read(out)) return broken(reader.problem());
      return Done{};
    };
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  Failure broken(const std::string& what) const {
    return Failure{fmt::format("{}: {}; save or copy the file again", where, what)};
  }
  /// The next part, which must hold `count` numbers, or any number of them.
  Result<MatPart> numbers(std::optional<Index> count = {}) {
    const auto part = reader.next_part();
    if (!part) return broken("its numbers are missing or cut off");
    if (count && part->count != *count)
      return broken(fmt::format("its shape needs {} numbers, {} found", *count, part->count));
    return *part;
  }
  /// `result`, if the variable also ends well.
  template <class T>
  Result<T> finished(Result<T> result) {
    if (result && !reader.finish()) return broken(reader.problem());
    return result;
  }
};

std::optional<Failure> find_complex(const std::string& where, const MatVariable& variable) {
  if (!variable.is_complex) return std::nullopt;
  return Failure{
      fmt::format("{}: holds complex numbers; save real and imaginary parts as "
                  "separate columns",
                  where)};
}

// ---------------------------------------------------------------------------------------------
// points

Result<std::vector<std::int64_t>> read_places(Opened& opened, MemoryShare& memory) {
  const auto part = opened.numbers();
  if (!part) return part.error();
  if (part->type.size != 4) return opened.broken("its sparse structure is missing");
  return read_integers(opened.where, part->type, part->count, opened.next, memory);
}

template <class T>
Result<PointsStorage> join_columns(const std::string& where, SparseMatrix<T> columns,
                                   std::vector<std::string>& notes) {
  auto checked = make_csr(where + ", transposed", std::move(columns), notes);
  if (!checked) return checked.error();
  return PointsStorage(transpose(*checked));
}

/// Rows of the entries, starts of the columns, values; rows and values may have spare room at their end.
Result<PointsStorage> read_sparse(Opened& opened, const MatVariable& variable, Dataset& data) {
  const auto broken = [&](const std::string& what) {
    return Failure{
        fmt::format("{}: the sparse matrix is broken: {}; save it again", opened.where, what)};
  };
  auto rows = read_places(opened, data.memory);
  if (!rows) return rows.error();
  auto starts = read_places(opened, data.memory);
  if (!starts) return starts.error();
  if (static_cast<Index>(starts->size()) != variable.shape[1] + 1)
    return broken(
        fmt::format("{} column starts for {} columns", starts->size(), variable.shape[1]));
  const Index entries = starts->back();
  const auto part = opened.numbers();
  if (!part) return part.error();
  if (entries < 0 || entries > std::ssize(*rows) || entries > part->count)
    return broken("fewer entries than its columns claim");
  if (variable.shape[0] > 1'000'000 + 100 * entries)
    return Failure{
        fmt::format("{}: {} rows for {} entries: so many empty points are not read; leave them out",
                    opened.where, variable.shape[0], entries)};
  rows->resize(static_cast<std::size_t>(entries));
  data.type = name_of(part->type);
  auto values = read_wide_points(opened.where, {part->type, 1, entries, false}, opened.next,
                                 data.notes, data.memory);
  if (!values) return values.error();
  // MATLAB's columns are the rows of the transpose.
  if (auto refusal = data.memory.grow(opened.where, 2 * entries, sizeof(std::int64_t)))
    return *refusal;
  if (auto refusal = data.memory.grow(opened.where, 2 * variable.shape[0], sizeof(std::int64_t)))
    return *refusal;
  const auto join = [&]<class T>(DenseMatrix<T>& stored) {
    return join_columns<T>(opened.where,
                           {variable.shape[1], variable.shape[0], std::move(*starts),
                            std::move(*rows), std::move(stored.values)},
                           data.notes);
  };
  if (auto* single = std::get_if<DenseMatrix<float>>(&*values)) return join(*single);
  return join(std::get<DenseMatrix<double>>(*values));
}

Result<PointsStorage> read_variable(const std::string& where, const MatVariable& variable,
                                    const KeepGoing& keep_going, Dataset& data) {
  if (!variable.is_matrix())
    return Failure{
        fmt::format("{}: is not a matrix of numbers with rows and columns; save one point "
                    "per row",
                    where)};
  const Index rows = variable.shape[0], cols = variable.shape[1];
  if (rows == 0 || cols == 0) return Failure{fmt::format("{}: holds no numbers", where)};
  if (auto problem = find_complex(where, variable)) return *problem;
  Opened opened(where, variable, keep_going);
  if (variable.is_sparse()) return opened.finished(read_sparse(opened, variable, data));
  const auto part = opened.numbers(rows * cols);  // each below 2^31
  if (!part) return part.error();
  data.type = name_of(part->type);
  return opened.finished(read_wide_points(where, {part->type, rows, cols, true}, opened.next,
                                          data.notes, data.memory));
}

// -------------------------------------------------------------------------------------------
// choosing

std::string where_is(const std::string& file, const MatVariable& variable) {
  return fmt::format("{}: variable '{}'", file, printable(variable.name));
}

std::vector<std::string> names_of(const std::vector<const MatVariable*>& listed) {
  std::vector<std::string> names;
  for (const auto* v : listed)
    names.push_back(v->shape.size() == 2
                        ? fmt::format("{} ({} x {})", v->name, v->shape[0], v->shape[1])
                        : v->name);
  return names;
}

Result<const MatVariable*> find_variable(const std::string& file, const Variables& variables,
                                         const std::string& name) {
  std::vector<const MatVariable*> all;
  for (const auto& variable : variables) {
    if (variable.name == name) return &variable;
    all.push_back(&variable);
  }
  return Failure{fmt::format("{}: has no variable '{}'; it holds {}", file, printable(name),
                             all.empty() ? "none" : list_names(names_of(all)))};
}

/// The variable that was named; else the only matrix; else the only one with rows and columns.
Result<const MatVariable*> choose_points(const std::string& file, const Variables& variables,
                                         const ReadOptions& options, Dataset& data) {
  if (!options.variable.empty()) return find_variable(file, variables, options.variable);
  std::vector<const MatVariable*> matrices;
  std::vector<const MatVariable*> wide;
  for (const auto& variable : variables) {
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

Result<std::vector<std::string>> read_variable_labels(const std::string& where,
                                                      const MatVariable& variable,
                                                      MemoryShare& memory) {
  const bool one_line = variable.is_matrix() && std::min(variable.shape[0], variable.shape[1]) == 1;
  if (!one_line || variable.is_sparse())
    return Failure{fmt::format("{}: is no list of labels; save one number per point", where)};
  if (auto problem = find_complex(where, variable)) return *problem;
  Opened opened(where, variable, {});
  const auto part = opened.numbers(variable.shape[0] * variable.shape[1]);
  if (!part) return part.error();
  return opened.finished(read_number_labels(where, part->type, part->count, opened.next, memory));
}

Result<Dataset> read_mat_file(const FileBytes& file, const ReadOptions& options) {
  Dataset data;
  data.memory = MemoryShare(options.budget);
  data.name = file.name();
  data.format = "mat";
  if (auto problem = find_unusable_option(data.name, "mat", options, true)) return *problem;
  const auto variables = list_variables(file);
  if (!variables) return variables.error();
  const auto chosen = choose_points(data.name, *variables, options, data);
  if (!chosen) return chosen.error();
  auto points = read_variable(where_is(data.name, **chosen), **chosen, options.keep_going, data);
  if (!points) return points.error();
  data.points = std::move(*points);
  if (options.label_column.empty()) return data;
  const auto named = find_variable(data.name, *variables, options.label_column);
  if (!named) return named.error();
  MemoryShare words(options.budget);
  auto labels = read_variable_labels(where_is(data.name, **named), **named, words);
  if (!labels) return labels.error();
  if (static_cast<Index>(labels->size()) != (*chosen)->shape[0])
    return Failure{fmt::format("{}: {} labels for {} points; there must be one per point",
                               where_is(data.name, **named), labels->size(), (*chosen)->shape[0])};
  if (auto refusal = add_labels(data.name, *labels, data.memory, data.labels)) return *refusal;
  return data;
}

}  // namespace

Result<std::vector<std::string>> mat_labels(const FileBytes& file, const MemoryBudget& budget) {
  return within_memory(file.name(), [&]() -> Result<std::vector<std::string>> {
    const auto variables = list_variables(file);
    if (!variables) return variables.error();
    std::vector<const MatVariable*> lines;
    for (const auto& variable : *variables)
      if (variable.is_matrix() && std::min(variable.shape[0], variable.shape[1]) == 1)
        lines.push_back(&variable);
    if (lines.size() != 1)
      return Failure{
          fmt::format("{}: holds {} variables that are one row or column of numbers; save "
                      "the labels alone",
                      file.name(), lines.size())};
    MemoryShare memory(budget);
    return read_variable_labels(where_is(file.name(), *lines.front()), *lines.front(), memory);
  });
}

Format mat_format() {
  return {"mat", "MATLAB 5 to 7.2 (.mat)", looks_like_mat,
          [](FileBytes file, const ReadOptions& options) {
            return within_memory(file.name(), [&] { return read_mat_file(file, options); });
          }};
}

}  // namespace fwsr
