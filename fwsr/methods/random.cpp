// Random: k points, uniformly and without replacement; what every other method has to beat.
#include "fwsr/base/random.hpp"

#include <algorithm>

#include "fwsr/methods/open_choice.hpp"

namespace fwsr {

namespace {

/// All candidates in a random order, of which every step takes the first that may be chosen.
std::vector<Index> draw_among_open(const Task& task, Rng& rng) {
  const Index count =
      task.terms.candidates.empty() ? task.size() : std::ssize(task.terms.candidates);
  std::vector<Index> order = sample_without_replacement(count, count, rng);
  for (Index& i : order) i = task.terms.point(i);
  OpenChoice open(task);
  std::vector<Index> chosen;
  while (std::ssize(chosen) < task.exemplars) {
    const auto next = std::find_if(order.begin(), order.end(), [&](Index i) { return open(i); });
    if (next == order.end()) break;
    chosen.push_back(*next);
    open.add(*next);
    order.erase(next);
  }
  return chosen;
}

Picks choose(const Task& task) {
  Rng rng(task.seed);
  if (task.open.conditional()) return {.exemplars = draw_among_open(task, rng)};
  return {.exemplars = sample_without_replacement(task.size(), task.exemplars, rng)};
}

}  // namespace

Method random_method() {
  return {.name = "random",
          .title = "random points",
          .about = "uniformly, without replacement",
          .random = true,
          .any_kernel = true,
          .factors = true,  // for exchange behind it
          .streams = true,
          .conditions = {Condition::candidates, Condition::include, Condition::groups},
          .cost =
              [](const Sizes& s, const Settings&) {
                return Cost{
                    .bytes = 8 * s.n, .flops = s.n, .how = "draws numbers, looks at no point"};
              },
          .choose = choose};
}

}  // namespace fwsr
