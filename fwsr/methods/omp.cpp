// Simultaneous orthogonal matching pursuit of all points by the points themselves (Tropp, Gilbert,
// Strauss 2006): with R the residual of all points after projection on the picks,
//
//   pick argmax_i ||a_i^T R||_2   (normalize = yes: / ||a_i||),   project, repeat.
//
// Without normalising it is the limit of Frank-Wolfe selection for an unbounded radius and steps
// that project orthogonally.
//
// With a ridge mu, R = P A with P = (I + A_T A_T^T / mu)^-1 takes the place of the residual of projection.
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/greedy_residuals.hpp"

namespace fwsr {

namespace {

Picks choose(const Task& task) {
  const bool normalize = task.settings.yes("normalize");
  const auto residuals =
      make_residuals(task, task.exemplars, 1e-12, true, task.settings.number("mu"));
  const std::vector<double> norms(residuals->squares().begin(), residuals->squares().end());
  const auto score = [&](Index i) {
    const double energy = residuals->energies()[at(i)];
    return normalize && energy > 0 ? energy / norms[at(i)] : energy;
  };
  const double unit = task.unit();
  return choose_greedily(task, *residuals, score, [=](double most) {
    return std::sqrt(most) / unit / (normalize ? 1 : unit);
  });
}

}  // namespace

Method omp_method() {
  return {.name = "omp",
          .title = "simultaneous orthogonal matching pursuit",
          .about =
              "the point most correlated with all residuals, then projection (Tropp, Gilbert, "
              "Strauss 2006)",
          .parameters = {{.name = "normalize",
                          .value = false,
                          .about = "divide the correlations by the norm of the point"},
                         ridge_parameter()},
          .any_kernel = true,
          .factors = true,
          .streams = true,
          .conditions = {Condition::candidates, Condition::include, Condition::weights,
                         Condition::groups},
          .cost = [](const Sizes& s, const Settings&) { return residuals_cost(s, true); },
          .choose = choose};
}

}  // namespace fwsr
