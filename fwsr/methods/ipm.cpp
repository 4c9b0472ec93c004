// Iterative projection and matching (Zaeemzadeh, Joneidi, Rahnavard, Shah 2019):
//
//   v = the leading singular direction (of length 1) of what is left of the points
//   pick argmax_i |<v, r_i>| / ||r_i||, the point whose residual is best aligned with it
//   project all points onto the complement of its residual, and repeat
//
// Points whose residual is rounding have no direction and are left out. The leading direction is
// found by Lanczos iterations, from products with A A^T (features x features) where there are fewer
// features than points, else by passes over the points. Written from the formulation above alone.
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/linalg/lanczos.hpp"
#include "fwsr/methods/orthogonal.hpp"

namespace fwsr {

namespace {

constexpr double enough = 1e-11;  // residual of the eigenvector
constexpr double products = 40;   // that it takes, about
// The direction is as good as its residual divided by the distance of the next eigenvalue.
constexpr double width = 1e4 * enough;

std::vector<double> leading_direction(const Task& task, const VectorResiduals& residuals) {
  Rng rng(0);  // where to begin, not part of the answer
  std::vector<double> start(at(task.points->dim()));
  for (double& v : start) v = rng.normal();
  residuals.project(start);
  const ApplyMatrix apply = [&](std::span<const double> v) {
    throw_if_cancelled(task.keep_going);
    return residuals.image(v);
  };
  return leading_eigen(apply, std::move(start), enough).vector;
}

Picks choose(const Task& task) {
  VectorResiduals residuals(task, task.exemplars, 1e-12, VectorResiduals::Keep::covariance);
  std::vector<double> with(at(task.size()));
  const auto alignment = [&](Index i) {
    const double square = residuals.squares()[at(i)];
    return square > 0 ? with[at(i)] * with[at(i)] / square : 0.0;
  };
  Picks picks;
  while (static_cast<Index>(picks.exemplars.size()) < task.exemplars) {
    const std::vector<double> v = leading_direction(task, residuals);
    if (v.empty()) break;
    residuals.products(v, with);
    const Index best = residuals.best(alignment, width);
    if (best < 0) break;
    const double most = alignment(best);
    if (residuals.take(best) == 0) continue;
    picks.exemplars.push_back(best);
    picks.strength.push_back(std::sqrt(most));
    task.report(static_cast<Index>(picks.exemplars.size()));
  }
  return picks;
}

Cost cost(const Sizes& s, const Settings&) {
  const Cost base = residuals_cost(s, false);
  const double vectors = 8 * 100 * s.d;
  if (s.d < s.n)
    return {.bytes = base.bytes + vectors + 8 * s.d * s.d * (1 + 2 * s.threads),
            .flops = 2 * base.flops + 2 * s.n * s.d * s.d + s.k * products * 16 * s.d * s.d,
            .how = "holds a matrix of features x features; two passes over the points a step"};
  return {.bytes = base.bytes + vectors + 8 * 16 * s.d,
          .flops = base.flops * (2 + 2 * products),
          .how = "some dozens of passes over the points a step"};
}

}  // namespace

Method ipm_method() {
  return {.name = "ipm",
          .title = "iterative projection and matching",
          .about =
              "the point best aligned with the leading singular direction of what is left, time "
              "and again (Zaeemzadeh, Joneidi, Rahnavard, Shah 2019)",
          .streams = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
