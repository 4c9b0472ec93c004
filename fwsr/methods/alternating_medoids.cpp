#include "fwsr/methods/alternating_medoids.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"

namespace fwsr {

namespace {

/// Every point goes to its nearest medoid, of equal ones to the first; then the medoid of each cluster becomes
/// the member with the least sum of distances from the others, of equal ones the first; until no medoid
/// moves. Neither half makes TD larger.
template <class T>
class Alternation {
 public:
  Alternation(const DissimilarityTable<T>& table, const Task& task, std::vector<Index> medoids)
      : table_(table),
        task_(task),
        cluster_of_(at(table.columns)),
        near_(at(table.columns)),
        sums_(at(table.columns)),
        members_(medoids.size()) {
    found_.medoids = std::move(medoids);
    assign();
  }

  MedoidSearch run(Index max_iterations) {
    while (!found_.converged && found_.iterations < max_iterations) {
      ++found_.iterations;
      found_.converged = !move();
      assign();
    }
    return std::move(found_);
  }

 private:
  void assign() {
    const Index n = table_.columns, k = static_cast<Index>(found_.medoids.size());
    for_blocks(threads_for(task_.threads, static_cast<double>(n) * static_cast<double>(k)), n,
               [&](Index, Index first, Index last) {
                 throw_if_cancelled(task_.keep_going);
                 std::fill(near_.begin() + first, near_.begin() + last,
                           std::numeric_limits<T>::infinity());
                 for (Index t = 0; t < k; ++t) {
                   const T* const row = table_.row(found_.medoids[at(t)]);
                   for (Index o = first; o < last; ++o)
                     if (row[o] < near_[at(o)] * nearer)
                       near_[at(o)] = row[o], cluster_of_[at(o)] = t;
                 }
               });
    found_.cost = 0;
    for (std::vector<Index>& m : members_) m.clear();
    for (Index o = 0; o < n; ++o) {
      found_.cost += table_.weight(o) * static_cast<double>(near_[at(o)]);
      members_[at(cluster_of_[at(o)])].push_back(o);
    }
  }

  /// Whether any medoid moved.
  bool move() {
    constexpr Index block = 64;
    for_blocks(
        task_.threads, table_.columns,
        [&](Index, Index first, Index last) {
          throw_if_cancelled(task_.keep_going);
          for (Index j = first; j < last; ++j)
            sums_[at(j)] = sum_from(j, members_[at(cluster_of_[at(j)])]);
        },
        block);
    const Index before = found_.swaps;
    for (std::size_t t = 0; t < members_.size(); ++t) {
      double least = sum_from(found_.medoids[t], members_[t]);
      Index best = found_.medoids[t];
      for (const Index j : members_[t])
        if (sums_[at(j)] < least * clearly_less) least = sums_[at(j)], best = j;
      found_.swaps += best != found_.medoids[t] ? 1 : 0;
      found_.medoids[t] = best;
    }
    return found_.swaps > before;
  }

  double sum_from(Index j, const std::vector<Index>& members) const {
    const T* const row = table_.row(j);
    double sum = 0;
    for (const Index o : members) sum += table_.weight(o) * static_cast<double>(row[o]);
    return sum;
  }

  static constexpr T nearer = static_cast<T>(1 - (sizeof(T) == 4 ? rough_width : tie_width));

  const DissimilarityTable<T>& table_;
  const Task& task_;
  MedoidSearch found_;
  std::vector<Index> cluster_of_;
  std::vector<T> near_;
  std::vector<double> sums_;                 // of each point's distances from those of its cluster
  std::vector<std::vector<Index>> members_;  // of each cluster, in order
};

}  // namespace

template <class T>
MedoidSearch alternating_search(const DissimilarityTable<T>& table, const Task& task,
                                std::vector<Index> medoids) {
  return Alternation<T>(table, task, std::move(medoids)).run(task.settings.whole("max_iterations"));
}
template MedoidSearch alternating_search(const DissimilarityTable<float>&, const Task&,
                                         std::vector<Index>);
template MedoidSearch alternating_search(const DissimilarityTable<double>&, const Task&,
                                         std::vector<Index>);

}  // namespace fwsr
