// Greedy choice by what is left of the points: the one of largest score, then all others less their projection on it,
// time and again.
#pragma once

#include "fwsr/methods/open_choice.hpp"
#include "fwsr/methods/orthogonal.hpp"

namespace fwsr {

/// `score(i)` of a point that may be chosen, from `residuals` as they are; nobody is taken for 0. `strength(score)` is what
/// the answer says of a pick. What is included is projected on first.
template <class Score, class Strength>
Picks choose_greedily(const Task& task, Residuals& residuals, const Score& score,
                      const Strength& strength) {
  OpenChoice open(task);
  for (const Index i : task.terms.included) residuals.take_free(i);
  const auto open_score = [&](Index i) { return open(i) ? score(i) : 0.0; };
  Picks picks;
  while (static_cast<Index>(picks.exemplars.size()) < task.exemplars) {
    const Index best = residuals.best(open_score);
    if (best < 0) break;
    const double most = open_score(best);
    if (residuals.take(best) == 0) continue;
    picks.exemplars.push_back(best);
    open.add(best);
    picks.strength.push_back(strength(most));
    task.report(static_cast<Index>(picks.exemplars.size()));
  }
  return picks;
}

}  // namespace fwsr
