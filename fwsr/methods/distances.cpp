#include "fwsr/methods/distances.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/entries.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 96;
constexpr Index columns_at_once = 384;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Below this part of the norms a distance from inner products is mostly rounding.
constexpr double doubtful = 1e-7;
/// Below this part nothing else is left of it.
constexpr double rounding = 1e-14;

/// Entry (i, j) of a dense matrix.
double entry(const PointsView& view, Index i, Index j) {
  return std::visit(
      [&](const auto& v) -> double {
        if constexpr (requires { v.data; })
          return static_cast<double>(v(i, j));
        else
          return 0;
      },
      view);
}

/// Throws Error for the first number of a row that is negative, infinite or NaN.
void check_row(const PointsView& view, Index i) {
  for (Index j = 0; j < cols_of(view); ++j)
    if (const double v = entry(view, i, j); !(v >= 0 && std::isfinite(v)))
      throw Error(fmt::format(
          "row {}, column {}: a dissimilarity must be 0 or a positive number, found {}", i, j, v));
}

/// Whether such a number may be there. As bits, all of them and -0 are larger than every finite positive number,
/// and of whole numbers the compiler compares many at a time.
bool is_doubtful(const PointsView& view, Index i) {
  return std::visit(
      [&](const auto& v) {
        if constexpr (requires { v.data; }) {
          using T = std::remove_cvref_t<decltype(*v.data)>;
          using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
          Bits largest = 0;
          for (const T e : v.row(i)) largest = std::max(largest, std::bit_cast<Bits>(e));
          return largest > std::bit_cast<Bits>(std::numeric_limits<T>::max());
        } else {
          return true;
        }
      },
      view);
}

}  // namespace

Knob metric_knob(const std::string& fallback) {
  return {.name = "metric",
          .value = fallback,
          .about =
              "euclidean, squared (its square), manhattan, cosine, or precomputed: the data is "
              "the square matrix of dissimilarities",
          .words = {"euclidean", "squared", "manhattan", "cosine", "precomputed"}};
}

Distances::Distances(const Task& task, const std::string& metric)
    : task_(task),
      kind_(metric == "euclidean"   ? Kind::euclidean
            : metric == "squared"   ? Kind::squared
            : metric == "manhattan" ? Kind::manhattan
            : metric == "cosine"    ? Kind::cosine
                                    : Kind::given) {
  if (kind_ == Kind::given) {
    check_given();
    return;
  }
  if (kind_ == Kind::manhattan && !task.linear)
    throw Error("metric = manhattan is for the points themselves; leave the kernel out");
  const double unit = task.unit();
  scale_ = kind_ == Kind::cosine ? 1 : kind_ == Kind::squared ? 1 / unit / unit : 1 / unit;
}

void Distances::check_given() const {
  const Index n = rows_of(*task_.given), d = cols_of(*task_.given);
  if (n != d)
    throw Error(
        fmt::format("a matrix of dissimilarities must be square; this one is {} x {}", n, d));
  if (is_sparse(*task_.given) || is_streamed(*task_.given))
    throw Error("a matrix of dissimilarities must be dense and fit the memory");
  for_blocks(task_.threads, n, [&](Index, Index first, Index last) {
    stop_unless(task_.alive);
    for (Index i = first; i < last; ++i)
      if (is_doubtful(*task_.given, i)) check_row(*task_.given, i);
  });
}

void Distances::given(std::span<const Index> points, Index begin, Index end, double* out,
                      Index stride) const {
  const auto source = [&](Index i) { return task_.subset.empty() ? i : task_.subset[at(i)]; };
  for (std::size_t r = 0; r < points.size(); ++r)
    for (Index i = begin; i < end; ++i)
      out[static_cast<Index>(r) * stride + i - begin] =
          entry(*task_.given, source(points[r]), source(i));
}

void Distances::absolute(std::span<const Index> points, Index begin, Index end, double* out,
                         Index stride) const {
  const Index d = task_.points->dim();
  std::vector<double> left(points.size() * at(d)),
      right(at(std::min(end - begin, rows_at_once) * d));
  for (std::size_t r = 0; r < points.size(); ++r)
    task_.points->row(points[r], left.data() + r * at(d));
  for (Index first = begin; first < end; first += rows_at_once) {
    const Index last = std::min(end, first + rows_at_once);
    task_.points->rows(first, last, right.data());
    absolute_distances(DistanceBlock<double>{.left = left.data(),
                                             .rows = static_cast<Index>(points.size()),
                                             .right = right.data(),
                                             .columns = last - first,
                                             .d = d,
                                             .out = out + first - begin,
                                             .stride = stride});
  }
}

void Distances::between(std::span<const Index> points, Index begin, Index end, double* out,
                        Index stride) const {
  if (kind_ == Kind::given) return given(points, begin, end, out, stride);
  if (kind_ == Kind::manhattan) return absolute(points, begin, end, out, stride);
  const KernelMatrix& kernel = *task_.kernel;
  std::vector<Index> columns(at(end - begin));
  std::iota(columns.begin(), columns.end(), begin);
  const std::vector<double> products = kernel.values(points, columns);
  std::vector<double> a, b;  // two rows, where needed
  for (std::size_t r = 0; r < points.size(); ++r) {
    const double own = kernel.diagonal(points[r]);
    bool loaded = false;
    for (Index i = begin; i < end; ++i) {
      double& to = out[static_cast<Index>(r) * stride + i - begin];
      const double product = products[r * columns.size() + at(i - begin)];
      const double other = kernel.diagonal(i);
      if (kind_ == Kind::cosine) {
        const double norms = std::sqrt(own) * std::sqrt(other);
        to = points[r] == i ? 0 : norms > 0 ? std::max(0.0, 1 - product / norms) : 1;
        continue;
      }
      double square = own + other - 2 * product;
      if (points[r] == i) {
        square = 0;
      } else if (square < doubtful * (own + other) && task_.linear) {
        a.resize(at(task_.points->dim()));
        b.resize(a.size());
        if (!loaded) task_.points->row(points[r], a.data()), loaded = true;
        task_.points->row(i, b.data());
        square = squared_distance(a.data(), b.data(), task_.points->dim());
      } else if (square < rounding * (own + other)) {
        square = 0;
      }
      square = std::max(0.0, square);
      to = kind_ == Kind::squared ? square : std::sqrt(square);
    }
  }
}

void Distances::column(Index j, std::span<double> out) const {
  const Index one[] = {j};
  for_blocks(
      threads_for(task_.threads, static_cast<double>(size()) *
                                     static_cast<double>(task_.points ? task_.points->dim() : 1)),
      size(),
      [&](Index, Index first, Index last) {
        stop_unless(task_.alive);
        between(one, first, last, out.data() + first, size());
      },
      columns_at_once);
}

template <class T>
LargeArray<T> Distances::matrix() const {
  const Index n = size();
  LargeArray<T> all = make_large_array<T>(n * n);
  for_blocks(
      task_.threads, n,
      [&](Index, Index first, Index last) {
        std::vector<Index> rows(at(last - first));
        std::iota(rows.begin(), rows.end(), first);
        std::vector<double> block(at((last - first) * columns_at_once));
        for (Index begin = 0; begin < n; begin += columns_at_once) {
          stop_unless(task_.alive);
          const Index end = std::min(n, begin + columns_at_once);
          between(rows, begin, end, block.data(), columns_at_once);
          for (Index i = first; i < last; ++i)
            for (Index j = begin; j < end; ++j)
              all[at(i * n + j)] =
                  static_cast<T>(block[at((i - first) * columns_at_once + j - begin)]);
        }
      },
      rows_at_once);
  return all;
}

template LargeArray<float> Distances::matrix() const;
template LargeArray<double> Distances::matrix() const;

}  // namespace fwsr
