// k-medoids of large data without the n x n distances: candidates are all points, but the sum of
// distances,
//
//   minimise over S, |S| = k    sum_{b in B} w_b min_{j in S} d(b, j),
//
// is taken over one random batch B of m = 100 log(k n) points (at least 4 k), where w_b counts the
// points that are nearest to b, or adds up their weights. The idea is that of OneBatchPAM (de Mathelin et al., AAAI
// 2025); built from the formula above, with the swaps of `kmedoids`. The assignment and the cost told are of all
// points. With m >= n it is `kmedoids`.
#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/medoids.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index points_at_once = 384;
constexpr Index batch_at_once = 96;

double batch_size(double n, double k, const Settings& settings) {
  const auto asked = static_cast<double>(settings.whole("batch"));
  return std::min(n, std::max(asked > 0 ? asked : std::ceil(100 * std::log(k * n)), 4 * k));
}

/// Distances of all points from those of the batch, n x m. They are symmetric.
template <class T>
LargeArray<T> table_of(const Distances& distances, const Task& task,
                       const std::vector<Index>& batch) {
  const Index n = task.size(), m = static_cast<Index>(batch.size());
  LargeArray<T> table = make_large_array<T>(n * m);
  for_blocks(
      task.threads, n,
      [&](Index, Index first, Index last) {
        const Index width = last - first;
        std::vector<double> piece(at(batch_at_once * width));
        for (Index begin = 0; begin < m; begin += batch_at_once) {
          throw_if_cancelled(task.keep_going);
          const Index end = std::min(m, begin + batch_at_once);
          distances.between(std::span(batch).subspan(at(begin), at(end - begin)), first, last,
                            piece.data(), width);
          for (Index i = 0; i < width; ++i)
            for (Index b = begin; b < end; ++b)
              table[at((first + i) * m + b)] = static_cast<T>(piece[at((b - begin) * width + i)]);
        }
      },
      points_at_once);
  return table;
}

/// The first of the least of m numbers, but for rounding; one of them even when some are no numbers.
template <class T>
Index first_within(const T* row, Index m) {
  const T* const least = std::min_element(row, row + m);
  const T enough = *least * static_cast<T>(1 + (sizeof(T) == 4 ? rough_width : tie_width));
  return std::find_if(row, least, [&](T v) { return v <= enough; }) - row;
}

/// w_b: how many points are nearest to b, of equal ones to the first, or what they weigh together.
template <class T>
std::vector<T> weights_of(const T* table, Index m, const Task& task) {
  std::vector<Index> nearest(at(task.size()));
  for_blocks(task.threads, task.size(), [&](Index, Index first, Index last) {
    throw_if_cancelled(task.keep_going);
    for (Index i = first; i < last; ++i) nearest[at(i)] = first_within(table + i * m, m);
  });
  const std::vector<double> weights = table_weights(task);
  std::vector<double> counts(at(m));  // in float32, 2^24 + 1 is 2^24
  for (std::size_t i = 0; i < nearest.size(); ++i)
    counts[at(nearest[i])] += weights.empty() ? 1.0 : weights[i];
  return {counts.begin(), counts.end()};
}

template <class T>
MedoidSearch search(const Distances& distances, const Task& task, const std::vector<Index>& batch) {
  const Index m = static_cast<Index>(batch.size());
  const LargeArray<T> table = table_of<T>(distances, task, batch);
  const std::vector<T> weights = weights_of(table.get(), m, task);
  for_blocks(task.threads, task.size(), [&](Index, Index first, Index last) {
    throw_if_cancelled(task.keep_going);
    for (Index i = first; i < last; ++i)
      for (Index b = 0; b < m; ++b) table[at(i * m + b)] *= weights[at(b)];
  });
  return find_medoids(DissimilarityTable<T>{.data = table.get(),
                                            .stride = m,
                                            .candidates = task.size(),
                                            .columns = m,
                                            .points = batch},
                      task);
}

Picks choose(const Task& task) {
  const Distances distances(task, task.settings.word("metric"));
  const auto m = static_cast<Index>(batch_size(static_cast<double>(task.size()),
                                               static_cast<double>(task.exemplars), task.settings));
  Rng rng(~task.seed);  // `kmedoids` draws from the seed itself
  std::vector<Index> batch = sample_without_replacement(task.size(), m, rng);
  std::sort(batch.begin(), batch.end());
  Picks picks = describe_medoids(distances, task,
                                 holds_single(task) ? search<float>(distances, task, batch)
                                                    : search<double>(distances, task, batch));
  picks.facts.push_back({"batch", static_cast<double>(m)});
  return picks;
}

Cost cost(const Sizes& s, const Settings& settings) {
  const double m = batch_size(s.n, s.k, settings);
  const double pair = takes_dissimilarities(settings) ? 0 : s.pair() + distance_flops;
  return {.bytes = s.number * s.n * m + 32 * s.n + m * (16 + 12 * s.threads) +
                   8 * s.threads * static_cast<double>(points_at_once) *
                       (s.k + static_cast<double>(batch_at_once)),
          .flops = s.n * m * (pair + 8) + medoid_flops(s.n, m, s.k, settings) + s.n * s.k * pair,
          .how = "holds the distances of all points from a random batch of them"};
}

}  // namespace

Method kmedoids_batch_method() {
  Method method = medoid_method(
      "kmedoids-batch", "k-medoids on one batch",
      "k-medoids with the sum of distances estimated on a random batch, for many points "
      "(de Mathelin et al. 2025)",
      {.name = "batch",
       .value = Index{0},
       .about = "points that the sum is taken over; 0: 100 log(k n), and never fewer than 4 k",
       .least = 0,
       .most = 1e9});
  method.cost = cost;
  method.choose = choose;
  return method;
}

}  // namespace fwsr
