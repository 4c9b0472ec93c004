#include "fwsr/solver/frank_wolfe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fwsr {

// Departures from the paper's Algorithm 1, all in docs/algorithm.md:
//  - delta may be 0: the gap is closed when gap <= delta, not gap < delta;
//  - `grow`: instead of returning r < k exemplars, double beta and go on from the present X when the
//    gap closes, or when patience(k) steps in a row bring no new exemplar;
//  - beta = infinity is the matching-pursuit limit, X <- X + (nu / K_jj) e_j v^T.

namespace {

/// Nothing is left to represent.
constexpr double exhausted_below = 1e-12;

/// Steps without a new exemplar before beta is doubled; part of the answer.
Index patience(Index k) {
  return std::max<Index>(50, 2 * k);
}

/// The non-zero rows of X, in the order in which they became so.
struct Chosen {
  std::vector<Index> rows;

  /// True when j is new. A full step (gamma = 1) empties X except for row j.
  bool add(Index j, bool full_step) {
    const bool known = std::find(rows.begin(), rows.end(), j) != rows.end();
    if (full_step) rows.clear();
    if (j >= 0 && (full_step || !known)) rows.push_back(j);
    return !known;
  }
};

}  // namespace

Move exact_step(const Probe& probe, double beta) {
  Move move;
  if (std::isinf(beta)) {
    move.gap = move.curvature = std::numeric_limits<double>::infinity();
    move.length = probe.self > 0 ? probe.score / probe.self : 0.0;
    return move;
  }
  const double descent = beta * probe.score - probe.xp;  // <S - X, P>
  move.gap = 2 * descent;
  move.curvature = beta * beta * probe.self - 2 * beta * probe.cross + probe.xkx;
  if (move.curvature > 0) move.gamma = std::clamp(descent / move.curvature, 0.0, 1.0);
  move.length = move.gamma * beta;
  return move;
}

Run frank_wolfe(Form& form, const RunOptions& options, const Observer& observer) {
  const bool pursuit = std::isinf(options.beta);
  const bool grow = options.when_converged == WhenConverged::grow && !pursuit;
  Run run{.exemplars = {}, .trace = {}, .f_at_zero = form.objective(), .beta = options.beta};
  Chosen chosen;
  Index idle = 0;
  const auto end = [&](Status status) {
    run.status = status;
    run.exemplars = chosen.rows;
    return run;
  };

  for (Index t = 1; t <= options.max_iterations; ++t) {
    const double f = form.objective();
    if (grow && f <= exhausted_below * run.f_at_zero) return end(Status::exhausted);
    if (pursuit && f <= options.delta) return end(Status::converged);

    const Pick pick = form.best();         // line 9
    const Probe probe = form.probe(pick);  // lines 10-12
    if (pursuit && !(probe.score > 0)) return end(Status::exhausted);
    if (grow && idle >= patience(options.exemplars)) run.beta *= 2, idle = 0;

    Move move = exact_step(probe, run.beta);
    while (move.gap <= options.delta || !(move.curvature > 0)) {  // line 13
      if (!grow) return end(Status::converged);
      if (!(probe.score > 0) || run.beta > 1e150) return end(Status::exhausted);
      run.beta *= 2, idle = 0;
      move = exact_step(probe, run.beta);
    }
    form.step(pick, move.gamma, move.length);  // lines 7, 15, 16

    const Index picked = probe.score > 0 ? pick.point : -1;  // S = 0 adds no row (X >= 0 only)
    idle = chosen.add(picked, move.gamma == 1) && picked >= 0 ? 0 : idle + 1;
    run.trace.push_back({.pick = pick.point,
                         .f = form.objective(),
                         .gap = move.gap,
                         .gamma = move.gamma,
                         .beta = run.beta,
                         .score = probe.score,
                         .rows = static_cast<Index>(chosen.rows.size())});
    if (static_cast<Index>(chosen.rows.size()) == options.exemplars)  // line 6
      return end(Status::exemplars_reached);
    if (observer && !observer({.step = t,
                               .exemplars = static_cast<Index>(chosen.rows.size()),
                               .wanted = options.exemplars,
                               .f = form.objective(),
                               .gap = move.gap,
                               .f_at_zero = run.f_at_zero}))
      return end(Status::interrupted);
  }
  return end(Status::iteration_limit);
}

}  // namespace fwsr
