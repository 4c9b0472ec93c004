// Rank-revealing QR: column-pivoted QR, cut after k steps (Businger, Golub 1965; norms down-dated
// safely, Drmac, Bujanovic 2008).
//
//   A P = Q R,   pivot t = argmax_i ||a_i - its projection on pivots 1 .. t - 1||
//
// the point that the others represent worst comes next. In the space of a kernel the same pivots
// come from the pivoted Cholesky factorisation of its matrix.
#include "fwsr/methods/orthogonal.hpp"

namespace fwsr {

namespace {

Picks choose(const Task& task) {
  Pivots pivots = largest_residuals(task, task.exemplars);
  for (double& norm : pivots.norms) norm /= task.unit();
  return {.exemplars = std::move(pivots.points), .strength = std::move(pivots.norms)};
}

}  // namespace

Method rrqr_method() {
  return {.name = "rrqr",
          .title = "column-pivoted QR",
          .about =
              "the point farthest from the span of those before, time and again (Businger, "
              "Golub 1965)",
          .any_kernel = true,
          .streams = true,
          .conditions = {Condition::candidates, Condition::include, Condition::groups},
          .cost = [](const Sizes& s, const Settings&) { return residuals_cost(s, false); },
          .choose = choose};
}

}  // namespace fwsr
