// k-medoids: the k points with the least sum of distances of all points from the nearest of them,
//
//   minimise over S, |S| = k    sum_i min_{j in S} d(i, j),
//
// by FasterPAM: Schubert and Rousseeuw, "Fast and eager k-medoids clustering: O(k) runtime improvement of
// the PAM, CLARA, and CLARANS algorithms", Information Systems 2021. The answer is a local optimum:
// no exchange of one medoid for another point improves it.
#include <type_traits>

#include "fwsr/methods/medoids.hpp"

namespace fwsr {

namespace {

template <class T>
MedoidSearch search(const T* matrix, Index stride, const Task& task) {
  const Index n = task.size();
  return find_medoids(
      DissimilarityTable<T>{.data = matrix, .stride = stride, .candidates = n, .columns = n}, task);
}

/// In a matrix that was given, where it stands.
MedoidSearch search_given(const Task& task) {
  return std::visit(
      [&](const auto& v) -> MedoidSearch {
        if constexpr (requires { v.data; })
          return search<std::remove_const_t<std::remove_pointer_t<decltype(v.data)>>>(
              v.data, v.stride, task);
        else
          return {};  // Distances has refused it
      },
      *task.given);
}

template <class T>
MedoidSearch search_held(const Distances& distances, const Task& task) {
  const LargeArray<T> matrix = distances.matrix<T>();
  return search<T>(matrix.get(), task.size(), task);
}

Picks choose(const Task& task) {
  const Distances distances(task, task.settings.word("metric"));
  const bool in_place = task.given && task.subset.empty();
  return describe_medoids(distances, task,
                          in_place             ? search_given(task)
                          : holds_single(task) ? search_held<float>(distances, task)
                                               : search_held<double>(distances, task));
}

Cost cost(const Sizes& s, const Settings& settings) {
  const bool given = takes_dissimilarities(settings);
  return {.bytes = s.number * s.n * s.n + s.n * (24 + 2 * s.number + 4 * s.threads),
          .flops = 2 * s.n * s.n * (given ? 0 : s.d) + medoid_flops(s.n, s.n, s.k, settings),
          .how = "holds the n x n distances; a step looks at all distances of one point"};
}

}  // namespace

Method kmedoids_method() {
  return {.name = "kmedoids",
          .title = "k-medoids (FasterPAM)",
          .about =
              "the least sum of distances from the nearest exemplar, by eager swaps (Schubert and "
              "Rousseeuw 2021)",
          .knobs = medoid_knobs(),
          .random = true,
          .any_kernel = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
