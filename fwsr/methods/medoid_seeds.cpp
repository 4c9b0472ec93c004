#include "fwsr/methods/medoid_seeds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/methods/draw.hpp"

namespace fwsr {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The medoids so far, with the distance of every column from the nearest.
template <class T>
class Seeds {
 public:
  Seeds(const DissimilarityTable<T>& table, const Task& task)
      : table_(table), task_(task), near_(at(table.columns), infinity) {}

  Index size() const { return static_cast<Index>(medoids_.size()); }
  bool has(Index j) const {
    return std::find(medoids_.begin(), medoids_.end(), j) != medoids_.end();
  }
  /// What every column adds to TD.
  std::vector<double> shares() const {
    std::vector<double> shares = near_;
    for (Index o = 0; o < table_.columns; ++o) shares[at(o)] *= table_.weight(o);
    return shares;
  }
  std::vector<Index> take() { return std::move(medoids_); }

  void add(Index j) {
    throw_if_cancelled(task_.keep_going);
    medoids_.push_back(j);
    const T* const row = table_.row(j);
    for (Index o = 0; o < table_.columns; ++o)
      near_[at(o)] = std::min(near_[at(o)], static_cast<double>(row[o]));
  }
  /// The point of a column, which is at distance 0 from itself whatever the rounding of the table.
  void add_column(Index o) {
    add(table_.point(o));
    near_[at(o)] = 0;
  }

  /// Sum of min(near, d(j, o)) over all columns: TD with j beside the others. Eight partial sums.
  double cost_with(Index j) const {
    const T* const row = table_.row(j);
    double sums[8] = {};
    Index o = 0;
    if (table_.weights.empty())
      for (; o + 8 <= table_.columns; o += 8)
        for (Index l = 0; l < 8; ++l)
          sums[l] += std::min(near_[at(o + l)], static_cast<double>(row[o + l]));
    for (; o < table_.columns; ++o)
      sums[0] += table_.weight(o) * std::min(near_[at(o)], static_cast<double>(row[o]));
    return std::accumulate(sums, sums + 8, 0.0);
  }
  double cost_with(Index j, std::span<const Index> columns) const {
    const T* const row = table_.row(j);
    double sum = 0;
    for (const Index o : columns)
      sum += table_.weight(o) * std::min(near_[at(o)], static_cast<double>(row[o]));
    return sum;
  }

 private:
  const DissimilarityTable<T>& table_;
  const Task& task_;
  std::vector<Index> medoids_;
  std::vector<double> near_;
};

/// The candidate beside the others that makes TD least, of equal ones the first.
template <class T>
Index best_addition(const DissimilarityTable<T>& table, const Task& task, const Seeds<T>& seeds) {
  constexpr Index block = 64;
  struct Best {
    double cost = infinity;
    Index candidate = -1;
  };
  std::vector<Best> best(at(block_count(table.candidates, block)));
  const double work = static_cast<double>(table.candidates) * static_cast<double>(table.columns);
  for_blocks(
      threads_for(task.threads, work), table.candidates,
      [&](Index b, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        for (Index j = first; j < last; ++j) {
          if (seeds.has(j)) continue;
          const double cost = seeds.cost_with(j);
          if (best[at(b)].candidate < 0 || cost < best[at(b)].cost * clearly_less)
            best[at(b)] = {cost, j};
        }
      },
      block);
  Best least;
  for (const Best& b : best)
    if (least.candidate < 0 || b.cost < least.cost * clearly_less) least = b;
  return least.candidate;
}

/// PAM's BUILD (Kaufman and Rousseeuw 1987): greedy.
template <class T>
std::vector<Index> build(const DissimilarityTable<T>& table, const Task& task) {
  Seeds<T> seeds(table, task);
  while (seeds.size() < task.exemplars) seeds.add(best_addition(table, task, seeds));
  return seeds.take();
}

/// LAB, the linear approximation of BUILD (Schubert and Rousseeuw 2019): each step looks at 10 + sqrt n
/// random points only, as candidates and as points.
template <class T>
std::vector<Index> linear_build(const DissimilarityTable<T>& table, const Task& task, Rng& rng) {
  const Index m = table.columns;
  const Index wanted = 10 + static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(m))));
  std::vector<Index> left = index_range(0, m);  // columns that are no medoids
  Seeds<T> seeds(table, task);
  while (seeds.size() < task.exemplars) {
    const Index size = std::min(wanted, static_cast<Index>(left.size()));
    for (Index s = 0; s < size; ++s)
      std::swap(left[at(s)], left[at(s) + rng.below(left.size() - at(s))]);
    const std::span<const Index> sample(left.data(), at(size));
    double least = infinity;
    std::size_t best = 0;
    for (std::size_t s = 0; s < sample.size(); ++s) {
      const double cost = seeds.cost_with(table.point(sample[s]), sample);
      if (cost < least * clearly_less) least = cost, best = s;
    }
    seeds.add(table.point(left[best]));
    left.erase(left.begin() + static_cast<Index>(best));
  }
  return seeds.take();
}

/// k-means++ (Arthur and Vassilvitskii 2007) for sums of distances: a point is drawn as likely as it is
/// far from the medoids, times its weight.
template <class T>
std::vector<Index> draw_by_distance(const DissimilarityTable<T>& table, const Task& task,
                                    Rng& rng) {
  Seeds<T> seeds(table, task);
  seeds.add_column(draw_by_weight(table.weights, table.columns, rng));
  while (seeds.size() < task.exemplars) {
    const Lottery lottery(seeds.shares());
    Index column = 0;
    if (lottery.total() > 0)
      column = lottery.draw(rng);
    else  // only copies of medoids are left, and what counts nothing
      while (seeds.has(table.point(column))) ++column;
    seeds.add_column(column);
  }
  return seeds.take();
}

}  // namespace

template <class T>
std::vector<Index> first_medoids(const DissimilarityTable<T>& table, const Task& task, Rng& rng) {
  const std::string& init = task.settings.word("init");
  if (init == "build" || task.exemplars == 1) return build(table, task);
  if (init == "lab") return linear_build(table, task, rng);
  if (init == "kmeans++") return draw_by_distance(table, task, rng);
  return sample_without_replacement(table.candidates, task.exemplars, rng);
}
template std::vector<Index> first_medoids(const DissimilarityTable<float>&, const Task&, Rng&);
template std::vector<Index> first_medoids(const DissimilarityTable<double>&, const Task&, Rng&);

}  // namespace fwsr
