// k-medoids: the k points with the least sum of distances of all points from the nearest of them,
//
//   minimise over S, |S| = k    sum_i w_i min_{j in S} d(i, j),      w_i = 1 unless weights are given,
//
// by FasterPAM: Schubert and Rousseeuw, "Fast and eager k-medoids clustering: O(k) runtime improvement of
// the PAM, CLARA, and CLARANS algorithms", Information Systems 2021. The answer is a local optimum:
// no exchange of one medoid for another point improves it. With algorithm=alternating by turns, as k-means:
// points to their nearest medoid, then the best medoid of each cluster (Maranzana, "On the location of supply
// points to minimize transport costs", 1964), which ends earlier and at larger sums.
#include "fwsr/methods/medoids.hpp"

namespace fwsr {

namespace {

bool alternates(const Settings& settings) {
  return settings.word("algorithm") == "alternating";
}

template <class T>
MedoidSearch search(const Distances& distances, const Task& task) {
  const Index n = task.size();
  const DistanceMatrix<T> matrix = distances.matrix<T>();
  const std::vector<double> weights = table_weights(task);
  const DissimilarityTable<T> table{.data = matrix.data,
                                    .stride = matrix.stride,
                                    .candidates = n,
                                    .columns = n,
                                    .weights = weights};
  return alternates(task.settings) ? alternate_medoids(table, task) : find_medoids(table, task);
}

Picks choose(const Task& task) {
  const Distances distances(task, task.settings.word("metric"));
  return describe_medoids(
      distances, task,
      holds_single(task) ? search<float>(distances, task) : search<double>(distances, task));
}

Cost cost(const Sizes& s, const Settings& settings) {
  const bool given = takes_dissimilarities(settings), ready = stands_ready(s, settings);
  return {.bytes = (ready ? 0 : s.number * s.n * s.n) + s.n * (40 + 2 * s.number + 4 * s.threads) +
                   8 * s.threads * 384 * s.k,
          .flops = s.n * s.n * (given ? 0 : s.pair() + distance_flops) +
                   medoid_flops(s.n, s.n, s.k, settings),
          .how = ready ? "uses the matrix where it stands; a step looks at one row of it"
                       : "holds the n x n distances; a step looks at all distances of one point"};
}

}  // namespace

Method kmedoids_method() {
  Method method = medoid_method(
      "kmedoids", "k-medoids (FasterPAM)",
      "the least sum of distances from the nearest exemplar, by eager swaps (Schubert and "
      "Rousseeuw 2021)",
      {.name = "algorithm",
       .value = std::string("fasterpam"),
       .about = "fasterpam (swaps), or alternating (nearest medoids, then the "
                "best medoid of each cluster, in turns): sooner done, larger sums",
       .words = {"fasterpam", "alternating"}});
  method.cost = cost;
  method.choose = choose;
  return method;
}

}  // namespace fwsr
