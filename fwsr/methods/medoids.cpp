#include "fwsr/methods/medoids.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/methods/draw.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// What is not less by this part of a sum is rounding: two points that have only each other near are equal
/// candidates.
constexpr double clear = 1 - sum_width;

/// Candidates that take about a millisecond to look at: between two of them it is safe to be deaf.
Index between_checks(Index columns) {
  return std::max<Index>(1, (Index{1} << 20) / std::max<Index>(1, columns));
}

// ---- Where to begin ----

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
  const std::vector<double>& near() const { return near_; }
  std::vector<Index> take() { return std::move(medoids_); }

  void add(Index j) {
    stop_unless(task_.alive);
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
    for (; o + 8 <= table_.columns; o += 8)
      for (Index l = 0; l < 8; ++l)
        sums[l] += std::min(near_[at(o + l)], static_cast<double>(row[o + l]));
    for (; o < table_.columns; ++o) sums[0] += std::min(near_[at(o)], static_cast<double>(row[o]));
    return std::accumulate(sums, sums + 8, 0.0);
  }
  double cost_with(Index j, std::span<const Index> columns) const {
    const T* const row = table_.row(j);
    double sum = 0;
    for (const Index o : columns) sum += std::min(near_[at(o)], static_cast<double>(row[o]));
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
        stop_unless(task.alive);
        for (Index j = first; j < last; ++j) {
          if (seeds.has(j)) continue;
          const double cost = seeds.cost_with(j);
          if (best[at(b)].candidate < 0 || cost < best[at(b)].cost * clear) best[at(b)] = {cost, j};
        }
      },
      block);
  Best least;
  for (const Best& b : best)
    if (least.candidate < 0 || b.cost < least.cost * clear) least = b;
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
  std::vector<Index> left(at(m));  // columns that are no medoids
  std::iota(left.begin(), left.end(), Index{0});
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
      if (cost < least * clear) least = cost, best = s;
    }
    seeds.add(table.point(left[best]));
    left.erase(left.begin() + static_cast<Index>(best));
  }
  return seeds.take();
}

/// k-means++ (Arthur and Vassilvitskii 2007) for sums of distances: a point is drawn as likely as it is
/// far from the medoids.
template <class T>
std::vector<Index> draw_by_distance(const DissimilarityTable<T>& table, const Task& task,
                                    Rng& rng) {
  Seeds<T> seeds(table, task);
  seeds.add_column(static_cast<Index>(rng.below(at(table.columns))));
  while (seeds.size() < task.exemplars) {
    const Lottery lottery(seeds.near());
    Index column = 0;
    if (lottery.total() > 0)
      column = lottery.draw(rng);
    else  // only copies of medoids are left
      while (seeds.has(table.point(column))) ++column;
    seeds.add_column(column);
  }
  return seeds.take();
}

template <class T>
std::vector<Index> first_medoids(const DissimilarityTable<T>& table, const Task& task, Rng& rng) {
  const std::string& init = task.settings.word("init");
  if (init == "build" || task.exemplars == 1) return build(table, task);
  if (init == "lab") return linear_build(table, task, rng);
  if (init == "kmeans++") return draw_by_distance(table, task, rng);
  return sample_without_replacement(table.candidates, task.exemplars, rng);
}

// ---- The swaps ----

/// FasterPAM (Schubert and Rousseeuw 2021): all k swaps of a candidate are tried in one
/// look at its row, and the best of them is made at once when it improves TD. Candidates come in random
/// order: in the order of the data, searches from different beginnings tend to end in the same place.
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

  bool improves(const Swap& s) const { return found_.cost + s.change < found_.cost * clear; }

  Swap first_improvement(Index first, Index last) {
    stop_unless(task_.alive);
    const double work = static_cast<double>(last - first) * static_cast<double>(table_.columns);
    const int threads = threads_for(task_.threads, work);
    if (threads == 1) {
      for (Index p = first; p < last; ++p) {
        if ((p - first + 1) % between_checks(table_.columns) == 0) stop_unless(task_.alive);
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
    for (std::size_t h = 0; h < count; ++h) {
      const auto o = static_cast<std::size_t>(hits[h]);
      const auto d = static_cast<double>(row[o]), near = static_cast<double>(near_[o]);
      change[static_cast<std::size_t>(nearest_[o])] +=
          std::max(d, near) - static_cast<double>(far_[o]);
      shared += std::min(d - near, 0.0);
    }
    const Index best = first_least(change, sum_width * found_.cost);
    return {.place = place, .medoid = best, .change = change[at(best)] + shared};
  }

  /// False, and all as it was, when TD is not less after all: its change is a sum of numbers as large as the loss,
  /// which may be much larger than TD, and has their rounding.
  bool make(const Swap& s) {
    const Index before = found_.medoids[at(s.medoid)];
    const double cost = found_.cost;
    move(s.medoid, order_[at(s.place)]);
    if (found_.cost < cost * clear) {
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
      loss_[static_cast<std::size_t>(nearest_[o])] += static_cast<double>(far_[o]) - near;
      found_.cost += near;
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

// ---- Assignment and new medoids in turns ----

/// Every point goes to its nearest medoid, of equal ones to the first; then the medoid of each cluster becomes
/// the member with the least sum of distances from the others, of equal ones the first; until no medoid
/// moves. Neither half makes TD larger.
template <class T>
class Turns {
 public:
  Turns(const DissimilarityTable<T>& table, const Task& task, std::vector<Index> medoids)
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
                 stop_unless(task_.alive);
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
      found_.cost += static_cast<double>(near_[at(o)]);
      members_[at(cluster_of_[at(o)])].push_back(o);
    }
  }

  /// Whether any medoid moved.
  bool move() {
    constexpr Index block = 64;
    for_blocks(
        task_.threads, table_.columns,
        [&](Index, Index first, Index last) {
          stop_unless(task_.alive);
          for (Index j = first; j < last; ++j)
            sums_[at(j)] = sum_from(j, members_[at(cluster_of_[at(j)])]);
        },
        block);
    const Index before = found_.swaps;
    for (std::size_t t = 0; t < members_.size(); ++t) {
      double least = sum_from(found_.medoids[t], members_[t]);
      Index best = found_.medoids[t];
      for (const Index j : members_[t])
        if (sums_[at(j)] < least * clear) least = sums_[at(j)], best = j;
      found_.swaps += best != found_.medoids[t] ? 1 : 0;
      found_.medoids[t] = best;
    }
    return found_.swaps > before;
  }

  double sum_from(Index j, const std::vector<Index>& members) const {
    const T* const row = table_.row(j);
    double sum = 0;
    for (const Index o : members) sum += static_cast<double>(row[o]);
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

/// The best of `restarts` searches; search(first, rng) goes on from first medoids.
template <class T, class Search>
MedoidSearch best_search(const DissimilarityTable<T>& table, const Task& task,
                         const Search& search) {
  Rng rng(task.seed);
  MedoidSearch best;
  for (Index r = 0; r < task.settings.whole("restarts"); ++r) {
    Rng own = rng.split(static_cast<std::uint64_t>(r));
    std::vector<Index> first = first_medoids(table, task, own);
    if (task.exemplars == 1) return {.medoids = std::move(first), .converged = true};
    MedoidSearch found = search(std::move(first), own);
    if (r == 0 || found.cost < best.cost * clear) best = std::move(found);
  }
  return best;
}

// ---- What is said about them ----

/// The places of medoids from the largest cluster to the smallest, of equal ones the first.
std::vector<Index> by_size(const std::vector<Index>& to, std::size_t k) {
  std::vector<Index> sizes(k), order(k);
  for (const Index t : to) ++sizes[at(t)];
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return sizes[at(a)] > sizes[at(b)]; });
  return order;
}

}  // namespace

std::vector<Knob> medoid_knobs() {
  return {
      metric_knob(),
      {.name = "init",
       .value = std::string("random"),
       .about = "where to begin: random points, build (greedy, slow), lab (greedy on samples) or "
                "kmeans++ (drawn by distance)",
       .words = {"random", "build", "lab", "kmeans++"}},
      {.name = "restarts",
       .value = Index{1},
       .about = "the best of so many searches is taken",
       .least = 1,
       .most = 1e6},
      {.name = "max_iterations",
       .value = Index{100},
       .about = "how often all candidates are tried, at most",
       .least = 0,
       .most = 1e9}};
}

double medoid_flops(double candidates, double columns, double k, const Settings& settings) {
  constexpr double passes = 8, slower = 8;  // a pass waits for memory
  const double build = settings.word("init") == "build" ? k : 0;
  return static_cast<double>(settings.whole("restarts")) * slower * candidates * columns *
         (passes + build);
}

bool holds_single(const Task& task) {
  return task.given ? is_single(*task.given) : task.points && task.points->single();
}

template <class T>
MedoidSearch find_medoids(const DissimilarityTable<T>& table, const Task& task) {
  return best_search(table, task, [&](std::vector<Index> first, Rng& rng) {
    return Swaps<T>(table, task, std::move(first), rng).run(task.settings.whole("max_iterations"));
  });
}
template MedoidSearch find_medoids(const DissimilarityTable<float>&, const Task&);
template MedoidSearch find_medoids(const DissimilarityTable<double>&, const Task&);

template <class T>
MedoidSearch alternate_medoids(const DissimilarityTable<T>& table, const Task& task) {
  return best_search(table, task, [&](std::vector<Index> first, const Rng&) {
    return Turns<T>(table, task, std::move(first)).run(task.settings.whole("max_iterations"));
  });
}
template MedoidSearch alternate_medoids(const DissimilarityTable<float>&, const Task&);
template MedoidSearch alternate_medoids(const DissimilarityTable<double>&, const Task&);

Picks describe_medoids(const Distances& distances, const Task& task, const MedoidSearch& search) {
  std::vector<Index> medoids = search.medoids;
  std::sort(medoids.begin(), medoids.end());
  Nearest found = nearest_of(distances, medoids, task.threads, task.alive);
  std::vector<Index> distinct;
  for (std::size_t t = 0; t < medoids.size(); ++t)
    if (found.which[at(medoids[t])] >= static_cast<Index>(t)) distinct.push_back(medoids[t]);
  if (distinct.size() < medoids.size()) {
    medoids = std::move(distinct);
    found = nearest_of(distances, medoids, task.threads, task.alive);
  }
  const std::vector<Index> order = by_size(found.which, medoids.size());
  Picks picks;
  std::vector<Index> place(order.size());
  for (std::size_t t = 0; t < order.size(); ++t) {
    picks.exemplars.push_back(medoids[at(order[t])]);
    place[at(order[t])] = static_cast<Index>(t);
  }
  for (Index& t : found.which) t = place[at(t)];
  picks.assignment = std::move(found.which);
  const double cost =
      block_sum(task.threads, task.size(), [&](Index i) { return found.distance[at(i)]; });
  if (!search.converged) picks.status = Status::iteration_limit;
  picks.facts = {{"cost", cost * distances.scale()},
                 {"swaps", static_cast<double>(search.swaps)},
                 {"iterations", static_cast<double>(search.iterations)}};
  return picks;
}

}  // namespace fwsr
