// Greedy k-means++ and Lloyd's iteration, over any source of points (kmeans_points.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fwsr/base/index_range.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/draw.hpp"
#include "fwsr/methods/kmeans_points.hpp"

namespace fwsr::kmeans {

inline Index trials_for(double k) {
  return 2 + static_cast<Index>(std::log(k));
}

struct Clusters {
  std::vector<double> centres;    // count x dim
  std::vector<double> mass = {};  // what the points of each weigh
  double inertia = 0;
  Index iterations = 0;
  bool converged = false;
};

template <class Source>
class Lloyd {
 public:
  explicit Lloyd(const Source& source)
      : source_(source),
        n_(source.chunks().size()),
        d_(source.dim()),
        norms_(source.norms()),
        spread_(source.spread(norms_)),
        labels_(at(n_)),
        squares_(at(n_)) {}

  Clusters run(Rng& rng) {
    const Task& task = source_.chunks().task();
    Clusters found{.centres = first_centres(rng)};
    const Index most = task.settings.whole("max_iterations");
    const double still = task.settings.number("tolerance") * spread_ /
                         (source_.chunks().weight_of_all() * static_cast<double>(d_));
    std::vector<Index> before;
    bool settled = false;  // labels belong to the centres
    while (!found.converged && found.iterations < most) {
      ++found.iterations;
      before = labels_;
      Sums sums = assign(found.centres);
      settled = found.iterations > 1 && labels_ == before;
      std::vector<double> moved = means(std::move(sums));
      const double shift =
          squared_distance(moved.data(), found.centres.data(), static_cast<Index>(moved.size()));
      found.converged = settled || shift <= still;
      if (!settled) found.centres = std::move(moved);
    }
    if (!settled) assign(found.centres);
    found.mass.assign(found.centres.size() / at(d_), 0.0);
    for (Index i = 0; i < n_; ++i) found.mass[at(labels_[at(i)])] += source_.chunks().weight(i);
    found.inertia = source_.inertia(found.centres, labels_);
    return found;
  }
  /// The cluster of every point, after the last run.
  const std::vector<Index>& labels() const { return labels_; }

 private:
  // ---- Greedy k-means++ ----

  /// Fewer than k when all points that have a weight are copies of those.
  std::vector<double> first_centres(Rng& rng) {
    const Task& task = source_.chunks().task();
    const Index trials = trials_for(static_cast<double>(task.exemplars));
    std::vector<double> weights = task.terms.weights;
    if (!weights.empty()) {
      const double largest = *std::max_element(weights.begin(), weights.end());
      for (double& w : weights) w /= largest;
    }
    std::vector<Index> draws{draw_by_weight(weights, n_, rng)};
    std::vector<double> near(at(n_), std::numeric_limits<double>::infinity()), centres;
    for (Index t = 0; t < task.exemplars; ++t) {
      if (t > 0) {
        std::vector<double> shares = near;
        for (std::size_t i = 0; i < weights.size(); ++i) shares[i] *= weights[i];
        const Lottery lottery(shares);
        if (!(lottery.total() > 0)) break;
        draws.clear();
        for (Index r = 0; r < trials; ++r) draws.push_back(lottery.draw(rng));
      }
      const Index best = add_best(draws, near);
      centres.resize(centres.size() + at(d_));
      source_.load_as_met(best, centres.data() + t * d_);
    }
    return centres;
  }

  /// The draw that leaves the least weighted sum of squared distances from the centres, of equal ones the first;
  /// `near` are those distances.
  Index add_best(const std::vector<Index>& draws, std::vector<double>& near) const {
    const auto count = static_cast<Index>(draws.size());
    const auto drawn = source_.drawn(draws);
    std::vector<typename Source::Held> nearer(at(n_ * count));
    std::vector<double> partial(at(source_.chunks().count() * count));
    source_.visit(drawn, [&](const auto& block) {
      for (Index i = block.first; i < block.last; ++i)
        for (Index r = 0; r < count; ++r) {
          const double terms = norms_[at(i)] + drawn.norms[at(r)];
          const double most = extent(i) + extent(draws[at(r)]);
          double square = terms - 2 * block.product(i, r);
          if (!(square > Source::doubtful * most)) square = block.square(i, r);
          auto& held = nearer[at(i * count + r)];
          held = static_cast<typename Source::Held>(std::min(near[at(i)], square));
          partial[at(block.chunk * count + r)] +=
              source_.chunks().weight(i) * static_cast<double>(held);
        }
    });
    std::vector<double> sums(at(count));
    for (std::size_t p = 0; p < partial.size(); ++p) sums[p % at(count)] += partial[p];
    const double width = Source::width * *std::min_element(sums.begin(), sums.end());
    const Index best = first_least(sums, width);
    for (Index i = 0; i < n_; ++i) near[at(i)] = static_cast<double>(nearer[at(i * count + best)]);
    near[at(draws[at(best)])] = 0;
    return draws[at(best)];
  }

  // ---- Lloyd's iteration ----

  /// Every point to its nearest centre, of equal ones the first; the sums of the clusters.
  Sums assign(const std::vector<double>& from) {
    const auto centres = source_.centres(from);
    typename Source::Adding adding(source_, centres.count);
    source_.visit(centres, [&](const auto& block) {
      for (Index i = block.first; i < block.last; ++i) {
        label(i, block);
        adding.add(block, i, labels_[at(i)]);
      }
    });
    return adding.finish(labels_);
  }

  template <class Block>
  void label(Index i, const Block& block) {
    const auto& centres = block.with;
    double least = std::numeric_limits<double>::infinity(), second = least;
    Index nearest = 0;
    const auto far = [&](Index t) {  // ||a - c||^2 less ||a||^2
      return centres.norms[at(t)] - 2 * block.product(i, t);
    };
    for (Index t = 0; t < centres.count; ++t) {
      const double f = far(t);
      second = std::min(second, std::max(f, least));
      if (f < least) least = f, nearest = t;
    }
    labels_[at(i)] = nearest;
    squares_[at(i)] = norms_[at(i)] + least;
    const double doubt = 2 * Source::noise * (extent(i) + centres.norms[at(nearest)]);
    if (squares_[at(i)] > doubt && second > least + doubt) return;
    squares_[at(i)] = std::numeric_limits<double>::infinity();
    for (Index t = 0; t < centres.count; ++t) {
      if (far(t) > least + doubt) continue;
      const double square = block.square(i, t);
      if (square < squares_[at(i)] * (1 - Source::width))
        squares_[at(i)] = square, labels_[at(i)] = t;
    }
  }

  /// The means of the clusters. An empty one gets the point farthest from its centre, which leaves its
  /// own cluster. Points without a weight count nowhere.
  std::vector<double> means(Sums sums) const {
    const std::size_t k = sums.sizes.size();
    std::vector<Index> empty;
    for (std::size_t t = 0; t < k; ++t)
      if (sums.sizes[t] == 0) empty.push_back(static_cast<Index>(t));
    const std::vector<Index> farthest = farthest_points(empty.size());
    std::vector<double> row(at(d_));
    std::vector<bool> gone(empty.empty() ? 0 : at(n_));
    for (std::size_t e = 0; e < farthest.size(); ++e) {
      const Index from = labels_[at(farthest[e])], to = empty[e];
      if (sums.sizes[at(from)] == 1) continue;
      source_.load(farthest[e], row.data());
      const double weight = source_.chunks().weight(farthest[e]);
      for (Index l = 0; l < d_; ++l) sums.rows[at(to * d_ + l)] = weight * row[at(l)];
      sums.mass[at(to)] = weight;
      --sums.sizes[at(from)], ++sums.sizes[at(to)];
      gone[at(farthest[e])] = true;
      take_away(from, weight, row, gone, sums);
    }
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t l = 0; l < at(d_); ++l)
        sums.rows[t * at(d_) + l] /= sums.sizes[t] > 0 ? sums.mass[t] : 1.0;
    return std::move(sums.rows);
  }

  /// What a cluster adds up to without a point. Where weights differ, that of the others may be lost in the rounding of
  /// the sum: these are then added up again.
  void take_away(Index from, double weight, const std::vector<double>& row,
                 const std::vector<bool>& gone, Sums& sums) const {
    double* const sum = sums.rows.data() + from * d_;
    if (!source_.chunks().task().terms.weighted()) {
      for (Index l = 0; l < d_; ++l) sum[l] -= row[at(l)];
      sums.mass[at(from)] -= weight;
      return;
    }
    std::fill_n(sum, d_, 0.0);
    sums.mass[at(from)] = 0;
    std::vector<double> other(at(d_));
    for (Index i = 0; i < n_; ++i) {
      const double w = source_.chunks().weight(i);
      if (w == 0 || labels_[at(i)] != from || gone[at(i)]) continue;
      source_.load(i, other.data());
      for (Index l = 0; l < d_; ++l) sum[l] += w * other[at(l)];
      sums.mass[at(from)] += w;
    }
  }

  /// Of those that have a weight from the farthest down, of equal ones the smaller index first.
  std::vector<Index> farthest_points(std::size_t count) const {
    if (count == 0) return {};
    std::vector<Index> order = index_range(0, n_);
    std::erase_if(order, [&](Index i) { return source_.chunks().weight(i) == 0; });
    count = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<Index>(count), order.end(),
                      [&](Index a, Index b) {
                        const double x = squares_[at(a)], y = squares_[at(b)];
                        return x != y ? x > y : a < b;
                      });
    order.resize(count);
    return order;
  }

  double extent(Index i) const { return source_.extent(i, norms_[at(i)]); }

  const Source& source_;
  Index n_, d_;
  std::vector<double> norms_;  // ||a_i||^2
  double spread_;              // sum of squared distances from the mean of all
  std::vector<Index> labels_;
  std::vector<double> squares_;  // of the distances from the centres
};

}  // namespace fwsr::kmeans
