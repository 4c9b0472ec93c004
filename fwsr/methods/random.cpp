// Random: k points, uniformly and without replacement; what every other method has to beat.
#include "fwsr/base/random.hpp"

#include "fwsr/methods/task.hpp"

namespace fwsr {

namespace {

Picks choose(const Task& task) {
  Rng rng(task.seed);
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
          .cost =
              [](const Sizes& s, const Settings&) {
                return Cost{
                    .bytes = 8 * s.n, .flops = s.n, .how = "draws numbers, looks at no point"};
              },
          .choose = choose};
}

}  // namespace fwsr
