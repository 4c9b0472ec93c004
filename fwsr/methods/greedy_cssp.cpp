// Greedy column subset selection: every step takes the point that lowers
//
//   ||A - P_T A||_F^2      (P_T projects onto the span of the points T)
//
// most. With residuals r_i, all of them in R, point i lowers it by ||R^T r_i||^2 / ||r_i||^2;
// numerator and denominator follow recursions (Farahat, Ghodsi, Kamel 2011), computed anew where
// those lose digits.
//
// With a ridge mu the same for
//
//   g(T) = min_X ||A - A_T X||^2 + mu ||X||^2 = tr(P C)      P = (I + A_T A_T^T / mu)^-1   C = A A^T
//
// which point i lowers by a_i^T P C P a_i / (mu + a_i^T P a_i): sequential transductive experimental design (Yu, Bi,
// Tresp 2006).
#include "fwsr/base/at.hpp"
#include "fwsr/methods/greedy_residuals.hpp"

namespace fwsr {

namespace {

Picks choose(const Task& task) {
  const auto residuals =
      make_residuals(task, task.exemplars, 1e-12, true, task.settings.number("mu"));
  const auto score = [&](Index i) {
    const double square = residuals->squares()[at(i)];
    return square > 0 ? residuals->energies()[at(i)] / (residuals->ridge() + square) : 0.0;
  };
  const double unit = task.unit();
  return choose_greedily(task, *residuals, score, [=](double most) { return most / unit / unit; });
}

}  // namespace

Method greedy_cssp_method() {
  return {.name = "greedy-cssp",
          .title = "greedy column subset selection",
          .about =
              "the point that lowers the error of projection most, time and again (Farahat, "
              "Ghodsi, Kamel 2011)",
          .parameters = {ridge_parameter()},
          .any_kernel = true,
          .factors = true,
          .streams = true,
          .conditions = {Condition::candidates, Condition::include, Condition::weights,
                         Condition::groups},
          .cost = [](const Sizes& s, const Settings&) { return residuals_cost(s, true); },
          .choose = choose};
}

}  // namespace fwsr
