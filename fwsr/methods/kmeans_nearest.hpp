// The exemplars of k-means: to each centre the nearest point, over any source of points (kmeans_points.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "fwsr/methods/kmeans_points.hpp"

namespace fwsr::kmeans {

struct NearestPoint {
  double square = std::numeric_limits<double>::infinity();
  Index point = -1;
};

/// Whether a squared distance is less than another by more than the rounding of a centre makes of it: the
/// two points of a small cluster are equally far from its centre.
inline bool clearly_less(double square, double than, double squared_norms, double epsilon) {
  return square + 8 * epsilon * std::sqrt(square * squared_norms) < than;
}

/// For each of some centres, which carry a rounding of `epsilon`, the nearest point that is not taken, of
/// equal ones the first. Products find the few points for which the distance is computed from the differences.
template <class Source>
std::vector<NearestPoint> nearest_points(const Source& source, const std::vector<double>& from,
                                         const std::vector<bool>& taken, double epsilon) {
  const auto centres = source.centres(from);
  const Index k = centres.count;
  std::vector<std::vector<NearestPoint>> parts(at(source.chunks().count()),
                                               std::vector<NearestPoint>(at(k)));
  source.visit(centres, [&](const auto& block) {
    for (Index i = block.first; i < block.last; ++i) {
      if (taken[at(i)]) continue;
      const double norm = block.norm(i), extent = source.extent(i, norm);
      for (Index t = 0; t < k; ++t) {
        NearestPoint& best = parts[at(block.chunk)][at(t)];
        const double about = norm + centres.norms[at(t)] - 2 * block.product(i, t);
        const double terms = extent + centres.norms[at(t)];
        if (about > best.square + 1e-12 * terms) continue;
        const double exact = block.square(i, t);
        if (clearly_less(exact, best.square, terms, epsilon)) best = {exact, i};
      }
    }
  });
  std::vector<NearestPoint> all = std::move(parts[0]);
  for (std::size_t c = 1; c < parts.size(); ++c)
    for (std::size_t t = 0; t < at(k); ++t)
      if (clearly_less(parts[c][t].square, all[t].square, 2 * centres.norms[t], epsilon))
        all[t] = parts[c][t];
  return all;
}

/// A point of its own for each centre, those of clusters that weigh more first; centres of nothing have none.
template <class Source>
std::vector<Index> points_near(const Source& source, const std::vector<double>& centres,
                               const std::vector<double>& mass, double epsilon) {
  const Index d = source.dim();
  std::vector<bool> taken(at(source.chunks().size()));
  std::vector<Index> found(mass.size(), -1), open;
  for (std::size_t t = 0; t < mass.size(); ++t)
    if (mass[t] > 0) open.push_back(static_cast<Index>(t));
  std::vector<Index> order = open;
  while (!open.empty()) {
    std::vector<double> rows;
    for (const Index t : open)
      rows.insert(rows.end(), centres.begin() + t * d, centres.begin() + (t + 1) * d);
    const std::vector<NearestPoint> nearest = nearest_points(source, rows, taken, epsilon);
    std::vector<std::size_t> turns(open.size());
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    std::stable_sort(turns.begin(), turns.end(), [&](std::size_t a, std::size_t b) {
      return mass[at(open[a])] > mass[at(open[b])];
    });
    std::vector<Index> left;
    for (const std::size_t turn : turns) {
      const Index p = nearest[turn].point;
      if (p < 0)
        throw Error(
            "distances between these points are no numbers; multiply the points by a constant");
      if (taken[at(p)]) {
        left.push_back(open[turn]);
        continue;
      }
      taken[at(p)] = true;
      found[at(open[turn])] = p;
    }
    open = std::move(left);
  }
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    return mass[at(a)] != mass[at(b)] ? mass[at(a)] > mass[at(b)] : found[at(a)] < found[at(b)];
  });
  std::vector<Index> exemplars;
  for (const Index t : order) exemplars.push_back(found[at(t)]);
  return exemplars;
}

}  // namespace fwsr::kmeans
