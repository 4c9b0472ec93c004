#include "fwsr/methods/faster_pam.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/methods/draw.hpp"

namespace fwsr {

namespace {

/// Candidates that take about a millisecond to look at: between two of them it is safe to be deaf.
Index between_checks(Index columns) {
  return std::max<Index>(1, (Index{1} << 20) / std::max<Index>(1, columns));
}

/// FasterPAM (Schubert and Rousseeuw 2021): all k swaps of a candidate are tried in one
/// look at its row, and the best of them is made at once when it improves TD. Candidates come in random
/// order: in the order of the data, searches from different beginnings tend to end in the same place.
///
/// Every sum counts o as often as its weight says; left out here.
///
/// With n(o), s(o) the nearest and second nearest medoid of o, and d_n, d_s their distances, TD changes by
///   removing t                  loss_t = sum over n(o) = t of d_s - d_n
///   adding j                    shared = sum_o min(d_oj - d_n, 0)
///   adding j and removing t     shared + loss_t + sum over n(o) = t, d_oj < d_s of max(d_oj, d_n) - d_s
template <class T>
class Swaps {
 public:
  Swaps(const DissimilarityTable<T>& table, const Task& task, std::vector<Index> medoids, Rng& rng)
      : table_(table),
        task_(task),
        order_(sample_without_replacement(table.candidates, table.candidates, rng)),
        nearest_(at(table.columns)),
        second_(at(table.columns)),
        near_(at(table.columns)),
        far_(at(table.columns)),
        is_medoid_(at(table.candidates)),
        room_(at(task.threads)) {
    found_.medoids = std::move(medoids);
    for (const Index m : found_.medoids) is_medoid_[at(m)] = true;
    for (Room& r : room_) r.hits.resize(at(table.columns)), r.change.resize(found_.medoids.size());
    for (Index o = 0; o < table.columns; ++o) find_two_nearest(o);
    add_up();
  }

  MedoidSearch run(Index max_iterations) {
    const Index n = table_.candidates;
    Index quiet = 0;  // candidates in a row that did not improve
    for (Index tried = 0; quiet < n;) {
      if (tried >= n * max_iterations) break;
      found_.iterations = tried / n + 1;
      const Index first = tried % n;
      const Index last = std::min(n, first + std::min(n - quiet, batch(quiet)));
      const Swap swap = first_improvement(first, last);
      const Index looked_at = (swap.place >= 0 ? swap.place + 1 : last) - first;
      quiet = swap.place >= 0 && make(swap) ? 0 : quiet + looked_at;
      tried += looked_at;
    }
    found_.converged = quiet >= n;
    return std::move(found_);
  }

 private:
  struct Swap {
    Index place = -1;   // of the candidate in the order
    Index medoid = -1;  // which of them it replaces
    double change = 0;  // of TD
  };
  struct Room {  // of a thread
    std::vector<std::int32_t> hits;
    std::vector<double> change;
  };

  Index size() const { return static_cast<Index>(found_.medoids.size()); }

  /// How many candidates to look at side by side. Those behind the first that improves are looked at in
  /// vain, so few at first; the answer does not depend on it.
  Index batch(Index quiet) const {
    return std::clamp<Index>(quiet, 1, 16 * between_checks(table_.columns));
  }

  bool improves(const Swap& s) const { return found_.cost + s.change < found_.cost * clearly_less; }

  Swap first_improvement(Index first, Index last) {
    throw_if_cancelled(task_.keep_going);
    const double work = static_cast<double>(last - first) * static_cast<double>(table_.columns);
    const int threads = threads_for(task_.threads, work);
    if (threads == 1) {
      for (Index p = first; p < last; ++p) {
        if ((p - first + 1) % between_checks(table_.columns) == 0)
          throw_if_cancelled(task_.keep_going);
        const Swap s = best_swap(p, room_[0]);
        if (improves(s)) return s;
      }
      return {};
    }
    std::vector<Swap> swaps(at(last - first));
    for_tasks(threads, last - first,
              [&](int thread, Index t) { swaps[at(t)] = best_swap(first + t, room_[at(thread)]); });
    for (const Swap& s : swaps)
      if (improves(s)) return s;
    return {};
  }

  /// The best swap with the candidate at a place, of equal ones the first medoid.
  Swap best_swap(Index place, Room& room) const {
    const Index j = order_[at(place)];
    if (is_medoid_[at(j)]) return {};
    const T* const row = table_.row(j);
    std::int32_t* const hits = room.hits.data();
    std::size_t count = 0;  // of points to which the candidate is nearer than the second nearest
    for (Index o = 0; o < table_.columns; ++o) {
      hits[count] = static_cast<std::int32_t>(o);
      count += row[o] < far_[at(o)] ? 1u : 0u;
    }
    std::vector<double>& change = room.change;
    change = loss_;
    double shared = 0;
    const auto add_changes = [&](auto weight) {
      for (std::size_t h = 0; h < count; ++h) {
        const auto o = static_cast<std::size_t>(hits[h]);
        const auto d = static_cast<double>(row[o]), near = static_cast<double>(near_[o]);
        change[static_cast<std::size_t>(nearest_[o])] +=
            weight(o) * (std::max(d, near) - static_cast<double>(far_[o]));
        shared += weight(o) * std::min(d - near, 0.0);
      }
    };
    if (table_.weights.empty())
      add_changes([](std::size_t) { return 1.0; });
    else
      add_changes([&](std::size_t o) { return table_.weights[o]; });
    const Index best = first_least(change, sum_width * found_.cost);
    return {.place = place, .medoid = best, .change = change[at(best)] + shared};
  }

  /// False, and all as it was, when TD is not less after all: its change is a sum of numbers as large as the loss,
  /// which may be much larger than TD, and has their rounding.
  bool make(const Swap& s) {
    const Index before = found_.medoids[at(s.medoid)];
    const double cost = found_.cost;
    move(s.medoid, order_[at(s.place)]);
    if (found_.cost < cost * clearly_less) {
      ++found_.swaps;
      return true;
    }
    move(s.medoid, before);
    return false;
  }

  /// Medoid t becomes point j.
  void move(Index t, Index j) {
    is_medoid_[at(found_.medoids[at(t)])] = false;
    is_medoid_[at(j)] = true;
    found_.medoids[at(t)] = j;
    const T* const row = table_.row(j);
    for (Index o = 0; o < table_.columns; ++o) put(o, static_cast<std::int32_t>(t), row[o]);
    add_up();
  }

  /// Medoid t stands elsewhere now, at distance d from o.
  void put(Index o, std::int32_t t, T d) {
    std::int32_t &nearest = nearest_[at(o)], &second = second_[at(o)];
    T &near = near_[at(o)], &far = far_[at(o)];
    const bool was_one = nearest == t || second == t;
    if (was_one && d > far) {  // some third one may be nearer
      find_two_nearest(o);
    } else if (nearest == t) {
      near = d;
    } else if (d < near) {
      second = nearest, far = near;
      nearest = t, near = d;
    } else if (d < far || second == t) {
      second = t, far = d;
    }
  }

  void find_two_nearest(Index o) {
    T near = std::numeric_limits<T>::infinity(), far = near;
    std::int32_t nearest = 0, second = 0;
    for (Index t = 0; t < size(); ++t) {
      const T d = table_.row(found_.medoids[at(t)])[o];
      if (d < near)
        far = near, second = nearest, near = d, nearest = static_cast<std::int32_t>(t);
      else if (d < far)
        far = d, second = static_cast<std::int32_t>(t);
    }
    near_[at(o)] = near, far_[at(o)] = far;
    nearest_[at(o)] = nearest, second_[at(o)] = second;
  }

  /// TD, and what it costs to remove each medoid.
  void add_up() {
    loss_.assign(at(size()), 0.0);
    found_.cost = 0;
    for (std::size_t o = 0; o < near_.size(); ++o) {
      const auto near = static_cast<double>(near_[o]);
      const double weight = table_.weight(static_cast<Index>(o));
      loss_[static_cast<std::size_t>(nearest_[o])] +=
          weight * (static_cast<double>(far_[o]) - near);
      found_.cost += weight * near;
    }
  }

  const DissimilarityTable<T>& table_;
  const Task& task_;
  std::vector<Index> order_;  // of the candidates
  MedoidSearch found_;
  std::vector<std::int32_t> nearest_, second_;  // n(o) and s(o), counted as in found_.medoids
  std::vector<T> near_, far_;                   // d_n and d_s
  std::vector<double> loss_;
  std::vector<bool> is_medoid_;
  std::vector<Room> room_;
};

}  // namespace

template <class T>
MedoidSearch swap_search(const DissimilarityTable<T>& table, const Task& task,
                         std::vector<Index> medoids, Rng& rng) {
  return Swaps<T>(table, task, std::move(medoids), rng).run(task.settings.whole("max_iterations"));
}
template MedoidSearch swap_search(const DissimilarityTable<float>&, const Task&, std::vector<Index>,
                                  Rng&);
template MedoidSearch swap_search(const DissimilarityTable<double>&, const Task&,
                                  std::vector<Index>, Rng&);

}  // namespace fwsr
