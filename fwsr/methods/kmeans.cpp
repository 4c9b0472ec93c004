// k-means, then the nearest point to each centre:
//
//   minimise over centres c_1 .. c_k    sum_i w_i min_t ||a_i - c_t||^2       (the inertia; w_i = 1 unless given)
//
// by Lloyd's iteration (1982) from greedy k-means++ (Arthur and Vassilvitskii 2007): every further centre
// is the best of 2 + log k points drawn as likely as their squared distance from the centres so far, times w_i.
// It ends when no point changes its cluster, or the centres move by less than `tolerance` times the mean variance of a
// feature (the sum of squares). The exemplars come from the cluster that weighs most to the least, of equal ones the
// smaller index; where two centres have the same nearest point, the later takes the nearest that is left.
//
// Distances are products of blocks of points, less their mean, with the centres; in float32 when the points are. Sparse
// points stay as they are stored: an iteration takes k operations for every stored number, in double. Where
// rounding may be most of a distance, or decide which centre is nearest, it is computed from the differences, in double.
// What is told at the end (inertia, nearest points) is computed in double.
#include <algorithm>
#include <cmath>
#include <optional>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/kmeans_lloyd.hpp"
#include "fwsr/methods/kmeans_nearest.hpp"
#include "fwsr/methods/kmeans_points.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

using namespace kmeans;

/// `exact`: where distances are told in double.
template <class Source, class Exact>
Picks choose_from(const Task& task, const Source& source, const Exact& exact) {
  Lloyd<Source> lloyd(source);
  Rng rng(task.seed);
  std::optional<Clusters> best;
  for (Index r = 0; r < task.settings.whole("restarts"); ++r) {
    Rng own = rng.split(static_cast<std::uint64_t>(r));
    Clusters found = lloyd.run(own);
    if (!best || found.inertia < best->inertia * (1 - sum_width)) best = std::move(found);
  }
  Picks picks{.exemplars = points_near(exact, best->centres, best->mass, Source::epsilon)};
  if (!best->converged) picks.status = Status::iteration_limit;
  picks.facts = {{"inertia", best->inertia / task.unit() / task.unit()},
                 {"iterations", static_cast<double>(best->iterations)}};
  return picks;
}

Picks choose(const Task& task) {
  if (task.points->sparse()) {
    const SparseSource source(task);
    return choose_from(task, source, source);
  }
  const Moved points(task);
  const DenseSource<double> exact(points);
  if (!task.points->single()) return choose_from(task, exact, exact);
  return choose_from(task, DenseSource<float>(points), exact);
}

Cost cost(const Sizes& s, const Settings& settings) {
  const double trials = static_cast<double>(trials_for(s.k));
  const double chunks =
      std::min(static_cast<double>(most_chunks), std::ceil(s.n / static_cast<double>(least_chunk)));
  const double rounds = static_cast<double>(settings.whole("restarts"));
  const double iterations = std::min(60.0, static_cast<double>(settings.whole("max_iterations")));
  const char* const how =
      "passes over all points, k for the first centres and one an iteration; holds sums of every "
      "cluster";
  if (s.sparse) {
    const double padded = std::ceil(s.k / 32) * 32;  // laid out by feature
    return {.bytes = 8 * s.n * (7 + trials) + 8 * s.d * (4 * s.k + padded) +
                     8 * s.crew(least_chunk) * (256 * padded + s.d),
            .flops = rounds * (s.entries * (50 * s.k + iterations * (14 * padded + 60)) +
                               iterations * 40 * s.k * s.d),
            .how = how};
  }
  return {.bytes = s.n * (7 * 8 + s.number * trials) + 8 * s.k * s.d * (chunks + 4) +
                   8 * s.crew(points_at_once) * s.held(points_at_once) * (s.d + s.k),
          .flops = rounds * s.n *
                   (s.k * trials * (2 * s.d + 60) + 20 * s.k * s.d +
                    iterations * (2 * s.d * s.k + 40 * s.d + 100 * s.k)),
          .how = how};
}

}  // namespace

Method kmeans_method() {
  return {.name = "kmeans",
          .title = "k-means, nearest points",
          .about =
              "the point nearest to each centre of k-means from greedy k-means++ (Arthur and "
              "Vassilvitskii 2007)",
          .parameters = {{.name = "restarts",
                          .value = Index{1},
                          .about = "the best of so many runs is taken",
                          .least = 1,
                          .most = 1e6},
                         {.name = "max_iterations",
                          .value = Index{300},
                          .about = "of Lloyd's algorithm, at most",
                          .least = 1,
                          .most = 1e9},
                         {.name = "tolerance",
                          .value = 1e-4,
                          .about = "ends when the centres move by less, in variances of a feature",
                          .least = 0}},
          .random = true,
          .conditions = {Condition::weights},
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
