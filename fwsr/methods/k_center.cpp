// Farthest-first traversal: every step takes the point that is farthest from all taken so far. Its
// largest distance to the nearest exemplar is at most twice the least possible one for k centres.
//
//   min_T max_i min_{t in T} dist(i, t)     |T| = k
//
// T. F. Gonzalez, Clustering to minimize the maximum intercluster distance, 1985.
#include <algorithm>
#include <limits>
#include <vector>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/open_choice.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

/// The point, of those that may be chosen, nearest to the middle of a sample of at most 256 points, by the sum of its
/// distances.
Index central(const Distances& distances, const OpenChoice& open) {
  const Index n = distances.size(), count = std::min<Index>(n, 256);
  std::vector<double> sums(at(n)), column(at(n));
  for (Index s = 0; s < count; ++s) {
    distances.column(s * n / count, column);
    for (Index i = 0; i < n; ++i) sums[at(i)] += column[at(i)];
  }
  for (Index i = 0; i < n; ++i)
    if (!open(i)) sums[at(i)] = std::numeric_limits<double>::infinity();
  return first_least(sums, sum_width * *std::min_element(sums.begin(), sums.end()));
}

Index drawn(const Task& task, const OpenChoice& open) {
  std::vector<Index> who;
  for (Index i = 0; i < task.size(); ++i)
    if (open(i)) who.push_back(i);
  Rng rng(task.seed);
  return who[at(static_cast<Index>(rng.below(who.size())))];
}

Picks choose(const Task& task) {
  const Distances distances(task, task.settings.word("metric"));
  const Index n = task.size();
  OpenChoice open(task);
  std::vector<double> nearest(at(n), std::numeric_limits<double>::infinity()), column(at(n));
  const auto come_near = [&](Index exemplar) {
    distances.column(exemplar, column);
    for (Index i = 0; i < n; ++i) nearest[at(i)] = std::min(nearest[at(i)], column[at(i)]);
  };
  const auto farthest = [&] {  // -1: nobody who may be chosen is away from all that are
    return first_largest(n, [&](Index i) { return open(i) ? nearest[at(i)] : 0.0; });
  };
  const auto radius = [&] {
    const Index most = first_largest(n, [&](Index i) { return nearest[at(i)]; });
    return most < 0 ? 0.0 : nearest[at(most)] * distances.scale();
  };
  for (const Index i : task.terms.included) come_near(i);
  Index next = !task.terms.included.empty()               ? farthest()
               : task.settings.word("first") == "central" ? central(distances, open)
                                                          : drawn(task, open);
  Picks picks;
  while (static_cast<Index>(picks.exemplars.size()) < task.exemplars && next >= 0) {
    picks.exemplars.push_back(next);
    open.add(next);
    come_near(next);
    next = farthest();
    picks.strength.push_back(radius());
    task.report(static_cast<Index>(picks.exemplars.size()));
  }
  picks.facts = {{"radius", radius()}};
  return picks;
}

}  // namespace

Method k_center_method() {
  return {
      .name = "k-center",
      .title = "farthest-first traversal",
      .about = "each step takes the point farthest from all taken so far (Gonzalez 1985)",
      .parameters = {metric_parameter(),
                     {.name = "first",
                      .value = std::string("central"),
                      .about = "where to begin: at the point nearest to the others (of a sample of "
                               "256), or at a random one",
                      .words = {"central", "random"}}},
      .random = true,
      .random_if = "first=random",
      .any_kernel = true,
      .conditions = {Condition::candidates, Condition::include, Condition::groups},
      .cost =
          [](const Sizes& s, const Settings&) {
            return Cost{.bytes = 8 * 3 * s.n,
                        .flops = 60 * (s.k + 256) * s.entries,
                        .how = "three numbers of every point, one pass over them a step"};
          },
      .choose = choose};
}

}  // namespace fwsr
