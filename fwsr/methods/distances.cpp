#include "fwsr/methods/distances.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/base/members.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/block_distances.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 96;
constexpr Index columns_at_once = 384;

/// Below this part of the norms a distance from inner products is mostly rounding.
constexpr double doubtful = 1e-7;
/// Below this part nothing else is left of it.
constexpr double rounding = 1e-14;

/// Entry (i, j) of a dense matrix.
double entry(const PointsView& view, Index i, Index j) {
  return std::visit(
      [&](const auto& v) -> double {
        if constexpr (requires { v(i, j); })
          return static_cast<double>(v(i, j));
        else
          return 0;
      },
      view);
}

/// Checks that the rows and columns of some points are a matrix of dissimilarities.
template <class View, class Source>
class GivenCheck {
 public:
  GivenCheck(const View& view, Source source, const Task& task)
      : view_(view), source_(source), task_(task), n_(task.size()) {}

  void run() const {
    const double largest = largest_number();
    const auto limit = static_cast<double>(std::numeric_limits<T>::max()) / 4 /
                       static_cast<double>(std::max<Index>(1, n_));
    if (largest > limit)
      refuse([&](Index i, Index j) { return number(i, j) > limit; },
             fmt::format("sums of dissimilarities above {:.3g} overflow; divide all by a number",
                         limit));
    // Distances from inner products lose half of the digits.
    const double noise = (sizeof(T) == 4 ? 1e-3 : 1e-6) * largest;
    for (Index i = 0; i < n_; ++i)
      if (number(i, i) > noise)
        refuse([&](Index a, Index b) { return a == b && number(a, b) > noise; },
               "the dissimilarity of a point and itself must be 0; similarities can be made "
               "dissimilarities by taking them from the largest");
    const auto differ = [&](Index i, Index j) {
      return std::abs(number(i, j) - number(j, i)) > noise;
    };
    if (asymmetric(noise))
      refuse(differ,
             "not the number found at that column and row; for dissimilarities that depend "
             "on the direction, give the mean of both");
  }

 private:
  using T = std::remove_cvref_t<decltype(std::declval<View>()(0, 0))>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

  T raw(Index i, Index j) const { return view_.row(source_(i))[at(source_(j))]; }
  double number(Index i, Index j) const { return static_cast<double>(raw(i, j)); }

  /// Throws Error about the first place that is wrong.
  template <class Wrong>
  void refuse(const Wrong& wrong, const std::string& why) const {
    for (Index i = 0; i < n_; ++i) {
      throw_if_cancelled(task_.keep_going);
      for (Index j = 0; j < n_; ++j)
        if (wrong(i, j))
          throw Error(fmt::format("row {}, column {} (counted from 0): {}; found {}", source_(i),
                                  source_(j), why, number(i, j)));
    }
  }

  /// Throws Error for a number that is negative, infinite or NaN. As bits, all of them and -0 are larger than every
  /// finite positive number, and of whole numbers the compiler compares many at a time.
  double largest_number() const {
    std::vector<Bits> most(at(block_count(n_)));
    for_blocks(task_.threads, n_, [&](Index b, Index first, Index last) {
      throw_if_cancelled(task_.keep_going);
      for (Index i = first; i < last; ++i) {
        const auto row = view_.row(source_(i));
        Bits largest = 0;
        for (Index j = 0; j < n_; ++j)
          largest = std::max(largest, std::bit_cast<Bits>(row[at(source_(j))]));
        most[at(b)] = std::max(most[at(b)], largest);
      }
    });
    const Bits all = most.empty() ? 0 : *std::max_element(most.begin(), most.end());
    if (all <= std::bit_cast<Bits>(std::numeric_limits<T>::max()))
      return static_cast<double>(std::bit_cast<T>(all));
    double largest = 0;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) largest = std::max(largest, number(i, j));
    const double least = -1e-6 * largest;  // rounding, as 1 - cosine leaves it on the diagonal
    refuse(
        [&](Index i, Index j) { return !(number(i, j) >= least && std::isfinite(number(i, j))); },
        "a dissimilarity must be 0 or a positive number");
    return largest;
  }

  bool asymmetric(double noise) const {
    std::vector<char> found(at(block_count(n_, tile)));
    for_blocks(
        task_.threads, n_,
        [&](Index b, Index first, Index last) {
          throw_if_cancelled(task_.keep_going);
          for (Index begin = 0; begin <= first && !found[at(b)]; begin += tile)
            found[at(b)] = differs(first, last, begin, static_cast<T>(noise));
        },
        tile);
    return std::find(found.begin(), found.end(), 1) != found.end();
  }

  /// Whether rows first .. last of some columns are others than those columns' rows, which are turned first.
  bool differs(Index first, Index last, Index begin, T noise) const {
    const Index end = std::min(begin + tile, n_);
    T turned[tile][tile];
    for (Index j = begin; j < end; ++j) {
      const auto row = view_.row(source_(j));
      for (Index i = first; i < last; ++i) turned[i - first][j - begin] = row[at(source_(i))];
      if (j + tile < n_) fetch(j + tile, first, last);
    }
    T most[lanes] = {};
    for (Index i = first; i < last; ++i) {
      const auto row = view_.row(source_(i));
      const T* const other = turned[i - first];
      fetch(i, end, std::min(end + tile, n_));
      const auto compare = [&](Index j, Index lane) {
        const T gap = std::abs(row[at(source_(begin + j))] - other[j]);
        most[lane] = gap > most[lane] ? gap : most[lane];
      };
      Index j = 0;
      for (; j + lanes <= end - begin; j += lanes)
        for (Index l = 0; l < lanes; ++l) compare(j + l, l);
      for (; j < end - begin; ++j) compare(j, 0);
    }
    return *std::max_element(most, most + lanes) > noise;
  }

  /// Part of a row will be needed soon: a tile is too narrow for the processor to see it coming.
  void fetch(Index i, Index first, Index last) const {
    const auto row = view_.row(source_(i));
    if constexpr (requires { &row[0]; })
      for (Index j = first; j < last; j += line) __builtin_prefetch(&row[at(source_(j))]);
  }

  static constexpr Index tile = 32, lanes = 8, line = 64 / static_cast<Index>(sizeof(T));

  const View& view_;
  Source source_;
  const Task& task_;
  Index n_;
};

}  // namespace

Parameter metric_parameter(const std::string& fallback) {
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
  std::visit(
      [&](const auto& view) {
        if constexpr (requires { view(0, 0); })
          with_members(task_.subset,
                       [&](const auto& source) { GivenCheck(view, source, task_).run(); });
      },
      *task_.given);
}

Index Distances::source(Index i) const {
  return task_.subset.empty() ? i : task_.subset[at(i)];
}

void Distances::given(std::span<const Index> points, Index begin, Index end, double* out,
                      Index stride) const {
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

/// 1 - cos, or half of the squared distance of the points at length 1.
double Distances::cosine(Index i, Index j, double product) const {
  const double left = std::sqrt(task_.kernel->diagonal(i)),
               right = std::sqrt(task_.kernel->diagonal(j));
  if (i == j) return 0;
  if (!(left > 0 && right > 0)) return 1;
  const double value = std::max(0.0, 1 - product / left / right);
  if (!task_.linear) return value < rounding ? 0 : value;
  if (value >= doubtful) return value;
  std::vector<double> a(at(task_.points->dim())), b(a.size());
  task_.points->row(i, a.data());
  task_.points->row(j, b.data());
  for (double& v : a) v /= left;
  for (double& v : b) v /= right;
  const double square = squared_distance(a.data(), b.data(), task_.points->dim());
  return square < rounding * rounding ? 0 : square / 2;
}

void Distances::between(std::span<const Index> points, Index begin, Index end, double* out,
                        Index stride) const {
  if (kind_ == Kind::given) return given(points, begin, end, out, stride);
  if (kind_ == Kind::manhattan) return absolute(points, begin, end, out, stride);
  const KernelMatrix& kernel = *task_.kernel;
  const std::vector<Index> columns = index_range(begin, end);
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
        to = cosine(points[r], i, product);
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
        throw_if_cancelled(task_.keep_going);
        between(one, first, last, out.data() + first, size());
      },
      columns_at_once);
}

bool stands_ready(const Sizes& sizes, const Settings& settings) {
  return takes_dissimilarities(settings) && sizes.entries <= sizes.n * sizes.n && !sizes.narrow;
}

bool Distances::stands_ready() const {
  return kind_ == Kind::given && size() == rows_of(*task_.given) && !is_narrow(*task_.given);
}

template <class T>
DistanceMatrix<T> Distances::matrix() const {
  const Index n = size();
  if (stands_ready())
    return std::visit(
        [](const auto& view) -> DistanceMatrix<T> {
          if constexpr (requires { requires std::is_same_v<decltype(view.data), const T*>; })
            return {.data = view.data, .stride = view.stride};
          else
            return {};
        },
        *task_.given);
  LargeArray<T> all = make_large_array<T>(n * n);
  for_blocks(
      task_.threads, n,
      [&](Index, Index first, Index last) {
        const std::vector<Index> rows = index_range(first, last);
        std::vector<double> block(at((last - first) * columns_at_once));
        for (Index begin = 0; begin < n; begin += columns_at_once) {
          throw_if_cancelled(task_.keep_going);
          const Index end = std::min(n, begin + columns_at_once);
          between(rows, begin, end, block.data(), columns_at_once);
          for (Index i = first; i < last; ++i)
            for (Index j = begin; j < end; ++j)
              all[at(i * n + j)] =
                  static_cast<T>(block[at((i - first) * columns_at_once + j - begin)]);
        }
      },
      rows_at_once);
  const T* const data = all.get();
  return {.held = std::move(all), .data = data, .stride = n};
}

template DistanceMatrix<float> Distances::matrix() const;
template DistanceMatrix<double> Distances::matrix() const;

Nearest nearest_of(const Distances& distances, std::span<const Index> others, int threads,
                   const KeepGoing& keep_going) {
  const Index n = distances.size();
  Nearest found{.which = std::vector<Index>(at(n), -1),
                .distance = std::vector<double>(at(n), std::numeric_limits<double>::infinity())};
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const Index width = last - first;
        std::vector<double> far(others.size() * at(width));
        distances.between(others, first, last, far.data(), width);
        for (Index i = first; i < last; ++i)
          for (std::size_t t = 0; t < others.size(); ++t)
            if (const double d = far[t * at(width) + at(i - first)];
                d < found.distance[at(i)] * (1 - tie_width))
              found.distance[at(i)] = d, found.which[at(i)] = static_cast<Index>(t);
      },
      columns_at_once);
  return found;
}

}  // namespace fwsr
