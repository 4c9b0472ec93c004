#include "apps/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"

namespace fwsr::app {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Calls visit(feature, value) for every stored number of point i.
template <class T, class Visit>
void for_row(const MatrixView<const T>& points, Index i, Visit&& visit) {
  for (Index j = 0; j < points.cols; ++j) visit(j, static_cast<double>(points(i, j)));
}
template <class Visit>
void for_row(const NarrowView& points, Index i, Visit&& visit) {
  thread_local std::vector<float> row;
  row.resize(at(points.cols));
  points.read(i, i + 1, row.data());
  for (Index j = 0; j < points.cols; ++j) visit(j, static_cast<double>(row[at(j)]));
}
template <class T, class I, class Visit>
void for_row(const CsrView<T, I>& points, Index i, Visit&& visit) {
  for (I e = points.starts[i]; e < points.starts[i + 1]; ++e)
    visit(static_cast<Index>(points.columns[e]), static_cast<double>(points.values[e]));
}

/// What one block of points adds up to.
struct Tally {
  double sum = 0, min = infinity, max = -infinity;
  Index finite = 0, nonzero = 0, not_a_number = 0, infinite = 0, zero_points = 0;
  std::optional<Position> first_not_finite;

  void add(Index i, Index j, double value) {
    if (value != 0) ++nonzero;
    if (std::isfinite(value)) {
      sum += value;
      min = std::min(min, value);
      max = std::max(max, value);
      ++finite;
      return;
    }
    ++(std::isnan(value) ? not_a_number : infinite);
    if (!first_not_finite) first_not_finite = Position{i, j};
  }
  void add(const Tally& later) {
    sum += later.sum;
    min = std::min(min, later.min);
    max = std::max(max, later.max);
    finite += later.finite;
    nonzero += later.nonzero;
    not_a_number += later.not_a_number;
    infinite += later.infinite;
    zero_points += later.zero_points;
    if (!first_not_finite) first_not_finite = later.first_not_finite;
  }
};

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// A number for each point that equal points share, whether stored dense or sparse.
template <class View>
std::uint64_t hash_of(const View& points, Index i) {
  std::uint64_t hash = 0;
  for_row(points, i, [&](Index j, double value) {
    if (value != 0)
      hash = mixed(hash ^ std::bit_cast<std::uint64_t>(value) ^
                   mixed(static_cast<std::uint64_t>(j) + 1));
  });
  return hash;
}

/// Euclidean norm without overflow.
template <class View>
double norm_of(const View& points, Index i) {
  double largest = 0, sum = 0;
  for_row(points, i, [&](Index, double value) { largest = std::max(largest, std::abs(value)); });
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  for_row(points, i, [&](Index, double value) {
    const double part = value / largest;
    sum += part * part;
  });
  return largest * std::sqrt(sum);
}

template <class T>
bool equal_points(const MatrixView<const T>& points, Index a, Index b) {
  return std::ranges::equal(points.row(a), points.row(b));
}
bool equal_points(const NarrowView& points, Index a, Index b) {
  for (Index j = 0; j < points.cols; ++j)
    if (points(a, j) != points(b, j)) return false;
  return true;
}
template <class T, class I>
bool equal_points(const CsrView<T, I>& points, Index a, Index b) {
  const auto nonzeros = [&](Index i) {
    std::vector<std::pair<Index, double>> all;
    for_row(points, i, [&](Index j, double value) {
      if (value != 0) all.push_back({j, value});
    });
    return all;
  };
  return nonzeros(a) == nonzeros(b);
}

template <class View>
void find_duplicates(const View& points, int threads, Statistics& s) {
  std::vector<std::uint64_t> hashes(at(points.rows));
  for_blocks(threads, points.rows, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i) hashes[at(i)] = hash_of(points, i);
  });
  std::vector<Index> order(hashes.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return hashes[at(a)] != hashes[at(b)] ? hashes[at(a)] < hashes[at(b)] : a < b;
  });
  std::vector<Index> distinct;  // of the hash at hand
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || hashes[at(order[k])] != hashes[at(order[k - 1])]) distinct.clear();
    const auto same = std::find_if(distinct.begin(), distinct.end(), [&](Index other) {
      return equal_points(points, order[k], other);
    });
    if (same == distinct.end()) {
      distinct.push_back(order[k]);
      continue;
    }
    ++s.duplicates;
    if (!s.first_duplicate || order[k] < s.first_duplicate->point)
      s.first_duplicate = Duplicate{order[k], *same};
  }
}

/// Of dense points.
template <class View>
std::vector<Index> constant_features(const View& points, int threads) {
  std::vector<std::atomic<bool>> varies(at(points.cols));
  std::vector<double> first_row(at(points.rows > 0 ? points.cols : 0));
  if (points.rows > 0) for_row(points, 0, [&](Index j, double value) { first_row[at(j)] = value; });
  for_blocks(threads, points.rows, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      for_row(points, i, [&](Index j, double value) {
        if (!(value == first_row[at(j)]) && !varies[at(j)].load(std::memory_order_relaxed))
          varies[at(j)].store(true, std::memory_order_relaxed);
      });
  });
  std::vector<Index> constant;
  for (Index j = 0; j < points.cols; ++j)
    if (!varies[at(j)]) constant.push_back(j);
  return constant;
}
template <class T, class I>
std::vector<Index> constant_features(const CsrView<T, I>& points, int) {
  std::vector<Index> equal(at(points.cols), 0), nonzero(at(points.cols), 0);
  std::vector<double> value_of(at(points.cols), 0);
  for (Index i = 0; i < points.rows; ++i)
    for_row(points, i, [&](Index j, double value) {
      if (value == 0) return;
      if (nonzero[at(j)]++ == 0) value_of[at(j)] = value;
      if (value == value_of[at(j)]) ++equal[at(j)];
    });
  std::vector<Index> constant;
  for (Index j = 0; j < points.cols; ++j)
    if (nonzero[at(j)] == 0 || equal[at(j)] == points.rows) constant.push_back(j);
  return constant;
}

template <class View>
Tally tally_of(const View& points, int threads, std::vector<double>& norms) {
  std::vector<Tally> tallies(at(block_count(points.rows)));
  for_blocks(threads, points.rows, [&](Index b, Index first, Index last) {
    Tally& tally = tallies[at(b)];
    for (Index i = first; i < last; ++i) {
      const Index before = tally.nonzero;
      for_row(points, i, [&](Index j, double value) { tally.add(i, j, value); });
      if (tally.nonzero == before) ++tally.zero_points;
      norms[at(i)] = norm_of(points, i);
    }
  });
  Tally total;
  for (const Tally& tally : tallies) total.add(tally);
  return total;
}

void add_norms(std::vector<double>& norms, Statistics& s) {
  if (norms.empty() || s.first_not_finite) return;
  std::sort(norms.begin(), norms.end());
  const std::size_t half = norms.size() / 2;
  s.norm_min = norms.front();
  s.norm_max = norms.back();
  s.norm_median = norms.size() % 2 == 1 ? norms[half] : (norms[half - 1] + norms[half]) / 2;
  s.heavy_tailed = *s.norm_median > 0 && *s.norm_max > 10 * *s.norm_median;
}

template <class View>
void examine_view(const View& points, int threads, Statistics& s) {
  std::vector<double> norms(at(points.rows));
  Tally total = tally_of(points, threads, norms);
  const double numbers = static_cast<double>(points.rows) * static_cast<double>(points.cols);
  const double implicit = numbers - static_cast<double>(s.entries);
  if (implicit > 0) {
    total.min = std::min(total.min, 0.0);
    total.max = std::max(total.max, 0.0);
  }
  if (total.finite > 0 || implicit > 0) {
    s.min = total.min;
    s.max = total.max;
    s.mean = total.sum / (static_cast<double>(total.finite) + implicit);
  }
  s.zeros = numbers > 0 ? 1 - static_cast<double>(total.nonzero) / numbers : 0;
  s.not_a_number = total.not_a_number;
  s.infinite = total.infinite;
  s.first_not_finite = total.first_not_finite;
  s.zero_points = total.zero_points;
  s.constant_features = constant_features(points, threads);
  add_norms(norms, s);
  find_duplicates(points, threads, s);
}

Index bytes_of(const PointsView& points) {
  const Index number = number_bytes(points);
  if (!is_sparse(points)) return entries_of(points) * number;
  const Index index = points.index() < 4 ? 4 : 8;
  return entries_of(points) * (number + index) + (rows_of(points) + 1) * index;
}

}  // namespace

Statistics examine(const PointsView& points, int threads) {
  Statistics s;
  s.points = rows_of(points);
  s.features = cols_of(points);
  s.entries = entries_of(points);
  s.bytes = bytes_of(points);
  std::visit(
      [&](const auto& view) {
        if constexpr (requires { view.source; })
          throw Error("points that are read block by block cannot be looked at as a whole");
        else
          examine_view(view, threads, s);
      },
      points);
  return s;
}

}  // namespace fwsr::app
