#include "fwsr/base/check_view.hpp"

#include <string>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"

namespace fwsr {

namespace {

void check_rows(const void* data, const auto& v) {
  if (data == nullptr && v.rows > 0 && v.cols > 0)
    throw Error(fmt::format("the view of {} x {} numbers points nowhere: its data is null", v.rows,
                            v.cols));
  if (v.rows > 1 && v.stride < v.cols)
    throw Error(fmt::format(
        "the view of {} x {} numbers has a stride of {}, so that its rows overlap; leave the "
        "stride out where rows follow each other, else give at least {}",
        v.rows, v.cols, v.stride, v.cols));
}

template <class T>
void check(const MatrixView<const T>& v) {
  check_rows(v.data, v);
}
void check(const NarrowView& v) {
  check_rows(v.numbers, v);
}

template <class T, class I>
void check(const CsrView<T, I>& v) {
  const auto broken = [](const std::string& what) {
    throw Error(fmt::format("the sparse matrix is broken: {}", what));
  };
  if (v.starts == nullptr) broken("it has no row starts");
  if (v.starts[0] != 0) broken(fmt::format("its first row starts at entry {}", v.starts[0]));
  const Index entries = v.starts[v.rows];
  if (entries < 0) broken(fmt::format("its last row ends at entry {}", entries));
  if (entries > 0 && (v.columns == nullptr || v.values == nullptr))
    broken(fmt::format("of its {} entries the {} are missing", entries,
                       v.columns == nullptr ? "columns" : "values"));
}

template <class T>
void check(const StreamView<T>& v) {
  if (v.source == nullptr)
    throw Error(fmt::format("the stream of {} x {} numbers has no source", v.rows, v.cols));
}

}  // namespace

void check_view(const PointsView& points) {
  if (rows_of(points) < 0 || cols_of(points) < 0)
    throw Error(fmt::format("there is no view of {} x {} numbers; sizes are 0 or more",
                            rows_of(points), cols_of(points)));
  std::visit([](const auto& v) { check(v); }, points);
}

template <class T, class I>
void check_entries(const CsrView<T, I>& points, Index stored) {
  check_view(points);
  const auto broken = [](const std::string& what) {
    throw Error(fmt::format("the sparse matrix is broken: {}", what));
  };
  for (Index i = 0; i < points.rows; ++i) {
    const Index first = points.starts[i], last = points.starts[i + 1];
    if (last < first || last > stored)
      broken(fmt::format("row {} has the entries {} to {}, of {}", i, first, last, stored));
    for (Index e = first; e < last; ++e) {
      if (points.columns[e] < 0 || points.columns[e] >= points.cols)
        broken(fmt::format("row {} has an entry in column {}, of {}", i, points.columns[e],
                           points.cols));
      if (e > first && points.columns[e] <= points.columns[e - 1])
        broken(fmt::format("the columns of row {} are not ascending", i));
    }
  }
}
template void check_entries(const CsrView<float, std::int32_t>&, Index);
template void check_entries(const CsrView<double, std::int32_t>&, Index);
template void check_entries(const CsrView<float, std::int64_t>&, Index);
template void check_entries(const CsrView<double, std::int64_t>&, Index);

}  // namespace fwsr
