// Facility location: k points that stand near all others,
//
//   maximise over S, |S| = k    f(S) = sum_i max_{t in S} s(i, t),    s(i, t) = largest distance - d(i, t),
//
// by the greedy rule (Nemhauser, Wolsey and Fisher 1978), which reaches 1 - 1/e of the best value, and
// lazily (Minoux 1978): what a point would add never grows, so that an old value is a bound, and only
// the points at the head of a queue are looked at again. The choice is that of the plain greedy rule: the
// largest gain, of equal ones the smallest index; equal but for rounding (ties.hpp), because two points that have
// only each other near gain the same. A first point adds most when its distances have the least
// sum; after that a gain is sum_i max(0, c_i - d(i, j)), c_i the distance of i from the nearest chosen.
#include <algorithm>
#include <queue>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/medoids.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index points_at_once = 384;
constexpr Index candidates_at_once = 48;

/// The distances of any candidate from all points, held or computed again and again.
template <class T>
class Candidates {
 public:
  Candidates(const Distances& distances, const Task& task, bool held)
      : distances_(distances), task_(task) {
    if (held) matrix_ = distances.matrix<T>();
  }

  /// Calls use(block, c, first, last, d) with the distances d of candidate c of the list from points
  /// first .. last of a block. In parallel over blocks.
  template <class Use>
  void visit(std::span<const Index> list, const Use& use) const {
    const Index n = task_.size();
    const auto pairs = static_cast<double>(list.size()) * static_cast<double>(n);
    const auto each = static_cast<double>(matrix_.data || !task_.points ? 1 : task_.points->dim());
    for_blocks(
        threads_for(task_.threads, pairs * each), n,
        [&](Index b, Index first, Index last) {
          throw_if_cancelled(task_.keep_going);
          if (matrix_.data) {
            for (std::size_t c = 0; c < list.size(); ++c)
              use(b, c, first, last, matrix_.row(list[c]) + first);
            return;
          }
          const auto width = at(last - first);
          std::vector<double> piece(list.size() * width);
          distances_.between(list, first, last, piece.data(), last - first);
          const std::vector<T> rounded(piece.begin(), piece.end());
          for (std::size_t c = 0; c < list.size(); ++c)
            use(b, c, first, last, rounded.data() + c * width);
        },
        points_at_once);
  }

 private:
  const Distances& distances_;
  const Task& task_;
  DistanceMatrix<T> matrix_;
};

/// sum of term(l) over 0 .. n, in eight partial sums.
template <class Term>
double sum_of(Index n, const Term& term) {
  double sums[8] = {};
  Index i = 0;
  for (; i + 8 <= n; i += 8)
    for (Index l = 0; l < 8; ++l) sums[l] += term(i + l);
  for (; i < n; ++i) sums[0] += term(i);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
class Facility {
 public:
  Facility(const Candidates<T>& candidates, const Task& task)
      : candidates_(candidates), task_(task), covered_(at(task.size())) {}

  Picks run(Index again_at_once) {
    Picks picks;
    add(first(), picks);
    std::vector<Index> others;
    for (Index j = 0; j < task_.size(); ++j)
      if (j != picks.exemplars[0]) others.push_back(j);
    push(others, 1);
    while (static_cast<Index>(picks.exemplars.size()) < task_.exemplars) {
      const auto step = static_cast<Index>(picks.exemplars.size());
      while (queue_.top().step < step) push(stale_heads(step, again_at_once), step);
      if (!(queue_.top().gain > noise_)) break;
      add(take_best(step, again_at_once), picks);
    }
    return picks;
  }

  /// sum_i c_i, and the largest distance there is.
  double cost() const {
    return sum_of(task_.size(), [&](Index i) { return static_cast<double>(covered_[at(i)]); });
  }
  double largest() const { return largest_; }

 private:
  struct Entry {
    double gain = 0;  // as it was after `step` choices
    Index candidate = -1;
    Index step = 0;
    bool operator<(const Entry& other) const {
      return gain != other.gain ? gain < other.gain : candidate > other.candidate;
    }
  };

  /// Sums over all points of term(i, d(i, j)) for candidates j, block by block.
  template <class Term>
  std::vector<double> sums(std::span<const Index> list, const Term& term) {
    std::vector<double> partial(at(block_count(task_.size(), points_at_once)) * list.size());
    candidates_.visit(list, [&](Index b, std::size_t c, Index begin, Index end, const T* d) {
      partial[at(b) * list.size() + c] =
          sum_of(end - begin, [&](Index i) { return term(begin + i, d[i]); });
    });
    std::vector<double> all(list.size());
    for (std::size_t p = 0; p < partial.size(); ++p) all[p % list.size()] += partial[p];
    return all;
  }

  /// The point with the least sum of distances; looks for the largest distance on the way.
  Index first() {
    Index best = -1;
    double least = 0;
    std::vector<T> most(at(block_count(task_.size(), points_at_once)));
    std::vector<Index> slab;
    for (Index begin = 0; begin < task_.size(); begin += candidates_at_once) {
      slab.clear();
      for (Index j = begin; j < std::min(task_.size(), begin + candidates_at_once); ++j)
        slab.push_back(j);
      const std::vector<double> totals = sums(slab, [&](Index i, T d) {
        T& m = most[at(i / points_at_once)];
        m = std::max(m, d);
        return static_cast<double>(d);
      });
      for (std::size_t c = 0; c < slab.size(); ++c)
        if (best < 0 || totals[c] < least * (1 - sum_width)) best = slab[c], least = totals[c];
    }
    largest_ = static_cast<double>(*std::max_element(most.begin(), most.end()));
    return best;
  }

  void add(Index j, Picks& picks) {
    const bool is_first = picks.exemplars.empty();
    const Index one[] = {j};
    candidates_.visit(one, [&](Index, std::size_t, Index begin, Index end, const T* d) {
      for (Index i = begin; i < end; ++i)
        covered_[at(i)] = is_first ? d[i - begin] : std::min(covered_[at(i)], d[i - begin]);
    });
    noise_ = 1e-13 * cost();
    picks.exemplars.push_back(j);
    task_.report(static_cast<Index>(picks.exemplars.size()));
  }

  /// The gains of the candidates as they are now, to the queue.
  void push(const std::vector<Index>& list, Index step) {
    const std::span<const Index> all = list;
    for (std::size_t begin = 0; begin < all.size(); begin += at(candidates_at_once)) {
      const auto slab = all.subspan(begin, std::min(at(candidates_at_once), all.size() - begin));
      const std::vector<double> gains = sums(slab, [&](Index i, T d) {
        return std::max(0.0, static_cast<double>(covered_[at(i)]) - static_cast<double>(d));
      });
      for (std::size_t c = 0; c < slab.size(); ++c) queue_.push({gains[c], slab[c], step});
    }
  }

  /// Takes from the queue the first of the candidates whose gain is the largest, when all that may have it have
  /// been looked at. @pre the head of the queue is of this step
  Index take_best(Index step, Index again_at_once) {
    const double enough = queue_.top().gain * (1 - sum_width) - noise_;
    std::vector<Entry> equal;
    while (!queue_.empty() && queue_.top().gain >= enough) {
      if (queue_.top().step < step) {
        push(stale_heads(step, again_at_once), step);
        continue;
      }
      equal.push_back(queue_.top());
      queue_.pop();
    }
    const auto best =
        std::min_element(equal.begin(), equal.end(),
                         [](const Entry& a, const Entry& b) { return a.candidate < b.candidate; });
    const Index j = best->candidate;
    equal.erase(best);
    for (const Entry& e : equal) queue_.push(e);
    return j;
  }

  /// Takes the first few candidates from the queue up to one whose gain is of this step.
  std::vector<Index> stale_heads(Index step, Index at_most) {
    std::vector<Index> heads;
    while (static_cast<Index>(heads.size()) < at_most && !queue_.empty() &&
           queue_.top().step < step) {
      heads.push_back(queue_.top().candidate);
      queue_.pop();
    }
    return heads;
  }

  const Candidates<T>& candidates_;
  const Task& task_;
  std::vector<T> covered_;  // c_i
  double largest_ = 0;
  double noise_ = 0;  // rounding of a gain: it is a sum of differences of the c_i
  std::priority_queue<Entry> queue_;
};

template <class T>
Picks choose_in(const Task& task) {
  const Distances distances(task, task.settings.word("metric"));
  const bool held = distances.stands_ready() || task.size() <= task.settings.whole("hold");
  const Candidates<T> candidates(distances, task, held);
  Facility<T> facility(candidates, task);
  Picks picks = facility.run(held ? task.threads : candidates_at_once);
  const double cost = facility.cost();
  picks.facts = {{"objective", distances.scale() *
                                   (facility.largest() * static_cast<double>(task.size()) - cost)},
                 {"cost", cost * distances.scale()}};
  return picks;
}

Picks choose(const Task& task) {
  return holds_single(task) ? choose_in<float>(task) : choose_in<double>(task);
}

Cost cost(const Sizes& s, const Settings& settings) {
  const bool held = s.n <= static_cast<double>(settings.whole("hold"));
  const double pair = takes_dissimilarities(settings) ? 0 : s.pair() + distance_flops;
  const double again = s.k * static_cast<double>(candidates_at_once) * s.n;
  const double small = s.n * (s.number + 24 + 8);
  const double slab =
      static_cast<double>(candidates_at_once) * static_cast<double>(points_at_once) * 8;
  if (stands_ready(s, settings))
    return {.bytes = small,
            .flops = 16 * s.n * s.n + 8 * again,
            .how =
                "uses the matrix where it stands; a step looks at the rows of a few points at the "
                "head of a queue"};
  if (held)
    return {.bytes = s.number * s.n * s.n + small,
            .flops = s.n * s.n * (pair + 16) + 8 * again,
            .how =
                "holds the n x n distances; a step looks at those of a few points at the head of a "
                "queue"};
  return {.bytes = small + 3 * s.threads * slab,
          .flops = (2 * s.n * s.n + again) * (pair + 16),
          .how =
              "computes all n x n distances twice and holds none; a step computes those of a few "
              "points at the head of a queue"};
}

}  // namespace

Method facility_method() {
  return {
      .name = "facility",
      .title = "facility location",
      .about = "every point near an exemplar, by the greedy rule with a queue (Minoux 1978)",
      .parameters = {metric_parameter("squared"),
                     {.name = "hold",
                      .value = Index{15000},
                      .about =
                          "up to so many points all their distances are held; for more, computed "
                          "again when needed",
                      .least = 0,
                      .most = 1e9}},
      .any_kernel = true,
      .cost = cost,
      .choose = choose};
}

}  // namespace fwsr
