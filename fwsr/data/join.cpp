#include "fwsr/data/join.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

template <class View>
concept Dense = requires(View v) {
  v(0, 0);
};
template <class View>
concept Sparse = requires(View v) {
  v.starts;
};

/// Appends rows of a view; false: it is of the other kind.
template <class T>
bool append(const PointsView& view, const std::vector<Index>& rows, DenseMatrix<T>& to) {
  return std::visit(
      [&]<class View>(const View& v) {
        if constexpr (Dense<View>)
          for (const Index i : rows) {
            for (Index l = 0; l < v.cols; ++l) to.values.push_back(static_cast<T>(v(i, l)));
            ++to.rows;
          }
        return Dense<View>;
      },
      view);
}

template <class T>
bool append(const PointsView& view, const std::vector<Index>& rows, SparseMatrix<T>& to) {
  return std::visit(
      [&]<class View>(const View& v) {
        if constexpr (Sparse<View>)
          for (const Index i : rows) {
            for (auto e = v.starts[i]; e < v.starts[i + 1]; ++e) {
              to.columns.push_back(static_cast<std::int64_t>(v.columns[e]));
              to.values.push_back(static_cast<T>(v.values[e]));
            }
            to.starts.push_back(static_cast<std::int64_t>(to.values.size()));
            ++to.rows;
          }
        return Sparse<View>;
      },
      view);
}

struct Part {
  const Dataset& data;
  std::vector<Index> rows;
};

template <class Matrix>
Matrix matrix_of(const std::vector<Part>& parts) {
  Matrix all;
  all.cols = cols_of(parts.front().data.view());
  if constexpr (requires { all.starts; }) all.starts.push_back(0);
  for (const Part& part : parts) append(part.data.view(), part.rows, all);
  return all;
}

PointsStorage storage_of(const std::vector<Part>& parts) {
  const bool sparse = is_sparse(parts.front().data.view());
  const bool single = std::all_of(parts.begin(), parts.end(),
                                  [](const Part& p) { return is_single(p.data.view()); });
  if (sparse && single) return matrix_of<SparseMatrix<float>>(parts);
  if (sparse) return matrix_of<SparseMatrix<double>>(parts);
  if (single) return matrix_of<DenseMatrix<float>>(parts);
  return matrix_of<DenseMatrix<double>>(parts);
}

std::vector<Index> all_of(const Dataset& data) {
  std::vector<Index> rows(at(rows_of(data.view())));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

std::optional<Failure> streamed(const Dataset& data) {
  if (!is_streamed(data.view())) return std::nullopt;
  return Failure{fmt::format(
      "{}: does not fit the memory beside another set, and both are needed there; allow more "
      "memory, or take fewer points",
      data.name)};
}

}  // namespace

Result<Dataset> join(const Dataset& first, const Dataset& second) {
  for (const Dataset* data : {&first, &second})
    if (auto failure = streamed(*data)) return *failure;
  const Index d = cols_of(first.view()), other = cols_of(second.view());
  if (d != other)
    return Failure{fmt::format("{}: has {} features, and {} has {}; both must have the same",
                               second.name, other, first.name, d)};
  if (is_sparse(first.view()) != is_sparse(second.view()))
    return Failure{fmt::format("{}: is {}, and {} is not; give both in one kind", second.name,
                               is_sparse(second.view()) ? "sparse" : "dense", first.name)};
  Dataset all;
  all.name = first.name;
  all.format = first.format;
  all.type = first.type;
  all.columns = first.columns;
  all.image = first.image;
  all.ids = first.ids;
  all.labels = first.labels;
  all.table = first.table;
  all.notes = first.notes;
  all.lines = first.lines;
  all.points = storage_of({{first, all_of(first)}, {second, all_of(second)}});
  const auto more = at(rows_of(second.view()));
  if (!all.ids.empty()) {
    all.ids.insert(all.ids.end(), second.ids.begin(), second.ids.end());
    all.ids.resize(at(rows_of(first.view())) + more);
  }
  for (std::size_t i = 0; i < more && !first.labels.empty(); ++i) all.labels.add("");
  return all;
}

Result<Dataset> some_points(const Dataset& data, const std::vector<Index>& chosen) {
  if (auto failure = streamed(data)) return *failure;
  Dataset some;
  some.name = data.name;
  some.format = data.format;
  some.type = data.type;
  some.points = storage_of({{data, chosen}});
  for (const Index i : chosen)
    if (!data.ids.empty()) some.ids.push_back(data.ids[at(i)]);
  return some;
}

}  // namespace fwsr
