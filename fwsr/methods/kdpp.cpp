// The most probable set of a k-determinantal point process with the kernel matrix K, greedily:
//
//   maximise log det K_T  subject to |T| = k;   each step takes the point that raises it most
//
// by the fast greedy algorithm (Chen, Zhang, Zhou 2018). The determinant grows by the square of the
// point's distance from the span of the others in the space of the kernel, so that the steps are
// those of pivoted Cholesky.
#include <cmath>

#include "fwsr/methods/orthogonal.hpp"

namespace fwsr {

namespace {

Picks choose(const Task& task) {
  Pivots pivots = largest_residuals(task, task.exemplars);
  double log_determinant = 0;
  for (double& gain : pivots.norms) {
    gain = gain / task.unit() * (gain / task.unit());
    log_determinant += std::log(gain);
  }
  return {.exemplars = std::move(pivots.points),
          .strength = std::move(pivots.norms),
          .facts = {{.name = "log_determinant", .value = log_determinant}}};
}

}  // namespace

Method kdpp_method() {
  return {.name = "kdpp",
          .title = "greedy maximum of a k-DPP",
          .about =
              "the point that makes the determinant of the kernel matrix of the chosen largest, "
              "time and again (Chen, Zhang, Zhou 2018)",
          .any_kernel = true,
          .uses_rbf = true,
          .streams = true,
          .cost = [](const Sizes& s, const Settings&) { return residuals_cost(s, false); },
          .choose = choose};
}

}  // namespace fwsr
