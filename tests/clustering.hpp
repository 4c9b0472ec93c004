// Clustering as its definitions say, slowly, for tests of the methods that do it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/methods.hpp"
#include "problems.hpp"

namespace fwsr::clustering {

using oracle::Real;
using problems::Data;
using problems::Kind;
using problems::Storage;
using Table = oracle::Matrix<Real>;
using Given = std::map<std::string, std::string>;

inline std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

inline Real weight_of(const std::vector<double>& weights, Index i) {
  return weights.empty() ? 1 : static_cast<Real>(weights[at(i)]);
}

inline double fact(const Selection& s, const std::string& name) {
  for (const Fact& f : s.facts)
    if (f.name == name) return f.value;
  ADD_FAILURE() << "no fact " << name;
  return std::nan("");
}

/// Points of one storage, as a small problem for any of the methods.
struct Small {
  Data data;
  SelectOptions options;
  std::uint64_t seed = 0;

  Selection run(const std::string& method, const Given& given = {}) const {
    return select(data.view(), options, {.name = method, .settings = given, .seed = seed});
  }
  problems::Reference reference(double gamma = 1) const {
    return problems::reference_of(data.exact(), options, gamma);
  }
};

inline Small make_small(std::uint64_t seed, const std::vector<Kind>& kinds,
                        Storage storage = Storage::dense_f64) {
  Rng rng(seed + 1000);
  const Index n = 2 + static_cast<Index>(rng.below(60)), d = 1 + static_cast<Index>(rng.below(9));
  const bool single = storage == Storage::dense_f32 || storage == Storage::csr_f32_i32;
  const Kind kind = kinds[seed % kinds.size()];
  Small small{.data = Data(n, d, problems::make_values(kind, n, d, single, rng), storage),
              .options = {},
              .seed = seed};
  small.options.exemplars = 1 + static_cast<Index>(rng.below(at(std::min<Index>(n, 8))));
  small.options.center = seed % 3 == 0 && d > 1 ? Center::point
                         : seed % 3 == 1        ? Center::feature
                                                : Center::none;
  small.options.assignment = true;
  small.options.threads = seed % 2 == 0 ? 1 : 2;
  return small;
}

inline const std::vector<Kind> smooth = {Kind::gaussian, Kind::clustered, Kind::offset,
                                         Kind::nonnegative, Kind::low_rank};

/// Whole numbers from 0 to 3: many equal distances, many copies; all arithmetic is exact.
inline Small make_grid(std::uint64_t seed) {
  Rng rng(seed + 77);
  const Index n = 1 + static_cast<Index>(rng.below(40)), d = 1 + static_cast<Index>(rng.below(4));
  std::vector<double> values(at(n * d));
  for (double& v : values) v = static_cast<double>(rng.below(4));
  Small small{.data = Data(n, d, values, seed % 2 ? Storage::dense_f64 : Storage::dense_f32),
              .options = {},
              .seed = seed};
  small.options.exemplars = 1 + static_cast<Index>(rng.below(at(n)));
  small.options.center = Center::none;
  small.options.assignment = true;
  return small;
}

/// n points in d dimensions around some centres.
inline Data blobs(Index n, Index d, Index centres, std::uint64_t seed, Storage storage) {
  Rng rng(seed);
  std::vector<double> c(at(centres * d)), values(at(n * d));
  for (double& v : c) v = 4 * rng.normal();
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l) values[at(i * d + l)] = c[at(i % centres * d + l)] + rng.normal();
  return Data(n, d, values, storage);
}

/// ||a_i - a_j||^2 from K.
inline Table squared_distances(const Table& k) {
  Table out(k.rows, k.rows);
  for (Index i = 0; i < k.rows; ++i)
    for (Index j = 0; j < k.rows; ++j)
      out(i, j) = i == j ? 0 : std::max<Real>(0, k(i, i) + k(j, j) - 2 * k(i, j));
  return out;
}

inline Table rooted(Table d) {
  for (Real& v : d.values) v = std::sqrt(v);
  return d;
}

/// Sum over columns of the least entry in the rows of `medoids`.
inline Real total(const Table& d, const std::vector<Index>& medoids) {
  Real sum = 0;
  for (Index o = 0; o < d.cols; ++o) {
    Real least = d(medoids[0], o);
    for (const Index m : medoids) least = std::min(least, d(m, o));
    sum += least;
  }
  return sum;
}

struct Swapped {
  std::vector<Index> medoids;
  Index swaps = 0, iterations = 0;
  bool clear = true;  // no choice was between equals, or between a gain and none
};

/// Candidates in turn; each takes the place of the medoid where that leaves the least sum, if it is less.
inline Swapped swap_literally(const Table& d, std::vector<Index> medoids,
                              const std::vector<Index>& order) {
  Swapped s{.medoids = std::move(medoids)};
  Real now = total(d, s.medoids);
  std::size_t quiet = 0;
  for (std::size_t tried = 0; quiet < order.size(); ++tried) {
    s.iterations = static_cast<Index>(tried / order.size()) + 1;
    const Index j = order[tried % order.size()];
    ++quiet;
    if (std::find(s.medoids.begin(), s.medoids.end(), j) != s.medoids.end()) continue;
    std::vector<Index> best;
    Real least = now * (1 - 1e-12L);
    for (std::size_t t = 0; t < s.medoids.size(); ++t) {
      std::vector<Index> other = s.medoids;
      other[t] = j;
      const Real sum = total(d, other);
      if (std::abs(sum - least) < 1e-9L * now) s.clear = false;
      if (sum < least) least = sum, best = other;
    }
    if (best.empty()) continue;
    s.medoids = best, now = least, quiet = 0;
    ++s.swaps;
  }
  return s;
}

/// As kmedoids does it from random points, with the same random numbers.
inline Swapped search_literally(const Table& d, Index k, std::uint64_t seed) {
  Rng rng = Rng(seed).split(0);
  std::vector<Index> first = sample_without_replacement(d.rows, k, rng);
  return swap_literally(d, std::move(first), sample_without_replacement(d.rows, d.rows, rng));
}

inline void expect_same_set(std::vector<Index> a, std::vector<Index> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_EQ(a, b);
}

/// Distances to m points drawn as kmedoids-batch draws them, each times what the points weigh that are nearest to it.
inline Table batch_literally(const Table& all, Index m, std::uint64_t seed,
                             const std::vector<double>& given = {}) {
  Rng rng(~seed);
  std::vector<Index> batch = sample_without_replacement(all.rows, m, rng);
  std::sort(batch.begin(), batch.end());
  std::vector<Real> weights(at(m));
  for (Index i = 0; i < all.rows; ++i) {
    std::size_t nearest = 0;
    for (std::size_t b = 1; b < batch.size(); ++b)
      if (all(i, batch[b]) < all(i, batch[nearest])) nearest = b;
    weights[nearest] += weight_of(given, i);
  }
  Table d(all.rows, m);
  for (Index i = 0; i < all.rows; ++i)
    for (Index b = 0; b < m; ++b) d(i, b) = weights[at(b)] * all(i, batch[at(b)]);
  return d;
}

struct Alternated {
  std::vector<Index> medoids;
  Index moves = 0, iterations = 0;
  bool clear = true;  // no choice was between equals
};

/// Points to their nearest medoid, then to each cluster the member with the least sum, until nothing changes.
inline Alternated alternate_literally(const Table& d, Index k, std::uint64_t seed,
                                      const std::vector<double>& weights = {}) {
  Rng rng = Rng(seed).split(0);
  Alternated a{.medoids = sample_without_replacement(d.rows, k, rng)};
  const auto better = [&](Real one, Real other) {
    a.clear = a.clear && std::abs(one - other) >= 1e-9L * (one + other);
    return one < other;
  };
  for (Index moved = 1; moved > 0; a.moves += moved) {
    ++a.iterations;
    std::vector<std::vector<Index>> clusters(a.medoids.size());
    for (Index o = 0; o < d.cols; ++o) {
      std::size_t nearest = 0;
      for (std::size_t t = 1; t < a.medoids.size(); ++t)
        if (better(d(a.medoids[t], o), d(a.medoids[nearest], o))) nearest = t;
      clusters[nearest].push_back(o);
    }
    moved = 0;
    for (std::size_t t = 0; t < a.medoids.size(); ++t) {
      const auto sum = [&](Index j) {
        Real s = 0;
        for (const Index o : clusters[t]) s += weight_of(weights, o) * d(j, o);
        return s;
      };
      const Index before = a.medoids[t];
      for (const Index j : clusters[t])
        if (j != a.medoids[t] && better(sum(j), sum(a.medoids[t]))) a.medoids[t] = j;
      moved += a.medoids[t] != before;
    }
  }
  return a;
}

inline Real square(const Table& x, Index i, const std::vector<Real>& c) {
  Real sum = 0;
  for (Index l = 0; l < x.cols; ++l) sum += (x(i, l) - c[at(l)]) * (x(i, l) - c[at(l)]);
  return sum;
}

inline std::vector<Real> row_of(const Table& x, Index i) {
  return {x.values.begin() + i * x.cols, x.values.begin() + (i + 1) * x.cols};
}

/// One of n as likely as its weight: any, until one is not passed over; the heaviest never is.
inline Index draw_literally(Index n, Rng& rng, const std::vector<double>& weights) {
  while (true) {
    const auto i = static_cast<Index>(rng.below(at(n)));
    if (weights.empty()) return i;
    const double part = weights[at(i)] / *std::max_element(weights.begin(), weights.end());
    if (part == 1 || rng.uniform() < part) return i;
  }
}

/// Greedy k-means++ with the random numbers of the method.
inline std::vector<std::vector<Real>> seed_literally(const Table& x, Index k, Rng& rng,
                                                     const std::vector<double>& weights = {}) {
  const Index trials = 2 + static_cast<Index>(std::log(static_cast<double>(k)));
  std::vector<std::vector<Real>> centres{row_of(x, draw_literally(x.rows, rng, weights))};
  const auto near = [&](Index i) {
    Real least = square(x, i, centres[0]);
    for (const auto& c : centres) least = std::min(least, square(x, i, c));
    return weight_of(weights, i) * least;
  };
  while (static_cast<Index>(centres.size()) < k) {
    std::vector<Real> sums;
    Real sum = 0;
    for (Index i = 0; i < x.rows; ++i) sums.push_back(sum += near(i));
    if (!(sum > 0)) break;
    std::vector<Index> draws;
    for (Index r = 0; r < trials; ++r) {
      const Real mark = static_cast<Real>(rng.uniform()) * sum;
      draws.push_back(std::upper_bound(sums.begin(), sums.end(), mark) - sums.begin());
    }
    Real least = -1;
    std::vector<Real> best;
    for (const Index j : draws) {
      centres.push_back(row_of(x, j));
      Real left = 0;
      for (Index i = 0; i < x.rows; ++i) left += near(i);
      if (least < 0 || left < least) least = left, best = centres.back();
      centres.pop_back();
    }
    centres.push_back(best);
  }
  return centres;
}

struct Lloyded {
  std::vector<std::vector<Real>> centres;
  std::vector<Index> labels;
  Real inertia = 0;
  Index iterations = 0;
  bool empty = false;  // a cluster was, at some time
};

inline void label_literally(const Table& x, Lloyded& s) {
  s.labels.assign(at(x.rows), 0);
  s.inertia = 0;
  for (Index i = 0; i < x.rows; ++i) {
    for (std::size_t t = 1; t < s.centres.size(); ++t)
      if (square(x, i, s.centres[t]) < square(x, i, s.centres[at(s.labels[at(i)])]))
        s.labels[at(i)] = static_cast<Index>(t);
    s.inertia += square(x, i, s.centres[at(s.labels[at(i)])]);
  }
}

inline Lloyded lloyd_literally(const Table& x, std::vector<std::vector<Real>> first) {
  Lloyded s{.centres = std::move(first), .labels = {}};
  Real variance = 0;
  for (Index l = 0; l < x.cols; ++l) {
    Real mean = 0;
    for (Index i = 0; i < x.rows; ++i) mean += x(i, l) / static_cast<Real>(x.rows);
    for (Index i = 0; i < x.rows; ++i)
      variance += (x(i, l) - mean) * (x(i, l) - mean) / static_cast<Real>(x.rows * x.cols);
  }
  std::vector<Index> before;
  for (Real shift = 1; s.iterations < 300;) {
    ++s.iterations;
    label_literally(x, s);
    if (s.labels == before) return s;
    before = s.labels;
    shift = 0;
    for (std::size_t t = 0; t < s.centres.size(); ++t) {
      std::vector<Real> mean(at(x.cols));
      Real count = 0;
      for (Index i = 0; i < x.rows; ++i)
        if (s.labels[at(i)] == static_cast<Index>(t)) {
          ++count;
          for (Index l = 0; l < x.cols; ++l) mean[at(l)] += x(i, l);
        }
      s.empty = s.empty || count == 0;
      for (Real& v : mean) v /= count;
      for (Index l = 0; l < x.cols; ++l)
        shift += (mean[at(l)] - s.centres[t][at(l)]) * (mean[at(l)] - s.centres[t][at(l)]);
      s.centres[t] = mean;
    }
    if (shift <= 1e-4L * variance) break;
  }
  label_literally(x, s);
  return s;
}

/// Centres from the largest cluster to the smallest take the nearest point that nobody has.
inline std::set<Index> nearest_literally(const Table& x, const Lloyded& s,
                                         const std::vector<double>& weights = {}) {
  std::vector<Real> sizes(s.centres.size());
  for (Index i = 0; i < x.rows; ++i) sizes[at(s.labels[at(i)])] += weight_of(weights, i);
  std::vector<std::size_t> order(s.centres.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::set<Index> taken;
  for (const std::size_t t : order) {
    Index best = -1;
    for (Index i = 0; i < x.rows; ++i)
      if (!taken.count(i) &&
          (best < 0 || square(x, i, s.centres[t]) < square(x, best, s.centres[t]) * (1 - 1e-12L)))
        best = i;
    taken.insert(best);
  }
  return taken;
}

}  // namespace fwsr::clustering
