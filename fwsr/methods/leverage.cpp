// Leverage scores (Mahoney, Drineas 2009): with V_r the leading r right singular vectors of the
// points,
//
//   l_i = ||row i of V_r||^2,   between 0 and 1, r in all
//
// says how much of the best approximation of rank r needs point i. Chosen are the k points with the
// largest (Papailiopoulos, Kyrillidis, Boutsidis 2014), or k at random, one after the other, with
// probabilities proportional to l_i.
#include <algorithm>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/draw.hpp"
#include "fwsr/methods/singular_space.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

/// The points with the largest scores; of equal ones the first.
std::vector<Index> largest(const std::vector<double>& scores, Index count) {
  std::vector<Index> order = by_score(scores, tie_width);
  order.resize(std::min(order.size(), at(count)));
  return order;
}

Picks choose(const Task& task) {
  const Index asked = task.settings.whole("rank");
  const SingularSpace space(task, asked > 0 ? asked : task.exemplars);
  const std::vector<double> scores = space.leverage_scores();
  Rng rng(task.seed);
  Picks picks;
  picks.exemplars = task.settings.word("sampling") == "top"
                        ? largest(scores, task.exemplars)
                        : draw_in_turn(scores, task.exemplars, rng);
  for (const Index i : picks.exemplars) picks.strength.push_back(scores[at(i)]);
  picks.warnings = space.warnings();
  if (asked > space.most_rank())
    picks.warnings.push_back(fmt::format(
        "rank is {}, and there are no more than {} singular vectors: these are used; ask for fewer",
        asked, space.most_rank()));
  picks.facts = {{.name = "rank", .value = static_cast<double>(space.rank())}};
  return picks;
}

}  // namespace

Method leverage_method() {
  return {
      .name = "leverage",
      .title = "leverage scores",
      .about = "the points that the leading singular vectors lean on most (Mahoney, Drineas 2009)",
      .parameters = {{.name = "rank",
                      .value = Index{0},
                      .about = "how many singular vectors; 0: as many as exemplars",
                      .least = 0},
                     {.name = "sampling",
                      .value = std::string("top"),
                      .about =
                          "the largest scores, or at random with probabilities proportional to "
                          "them",
                      .words = {"top", "random"}}},
      .random = true,
      .random_if = "sampling=random",
      .any_kernel = true,
      .cost =
          [](const Sizes& s, const Settings& settings) {
            const auto asked = static_cast<double>(settings.whole("rank"));
            return singular_space_cost(s, asked > 0 ? asked : s.k);
          },
      .choose = choose};
}

}  // namespace fwsr
