// Two-stage column subset selection (Boutsidis, Mahoney, Drineas 2009), to make ||A - P_T A||_F
// small with exactly k points T. With V_k the leading k right singular vectors and l_i = ||row i of
// V_k||^2,
//
//   1  c = oversampling k ln(k + 1) points, but at least k, are drawn independently with
//      probabilities p_i = l_i / k; row i of V_k is scaled by 1 / sqrt(c p_i)
//   2  strong rank-revealing QR of those rows (columns of V_k^T S D) keeps k of them
//
// and of some repetitions the one with the smallest error stays. The draws follow the scores of the
// leading space alone. Where those drawn span too little, twice as many are drawn. A point that is
// drawn twice counts once: its second column is a copy, which QR never takes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "fwsr/base/at.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/draw.hpp"
#include "fwsr/methods/orthogonal.hpp"
#include "fwsr/methods/singular_space.hpp"
#include "fwsr/methods/strong_rrqr.hpp"
#include "fwsr/methods/ties.hpp"
#include "fwsr/solver/regression.hpp"

namespace fwsr {

namespace {

double draws_for(double oversampling, double k) {
  return std::max(k, std::ceil(oversampling * k * std::log(k + 1)));
}

/// Independent draws by the scores; every point once, in the order of their numbers.
std::vector<Index> draw(const Lottery& lottery, Index size, Index draws,
                        const KeepGoing& keep_going, Rng& rng) {
  std::vector<bool> taken(at(size));
  for (Index c = 0; c < draws; ++c) {
    if (c % 65536 == 0) throw_if_cancelled(keep_going);
    taken[at(lottery.draw(rng))] = true;
  }
  std::vector<Index> drawn;
  for (Index i = 0; i < size; ++i)
    if (taken[at(i)]) drawn.push_back(i);
  return drawn;
}

/// Strong QR of the scaled rows of V_k.
std::vector<Index> keep(const Task& task, const SingularSpace& space,
                        const std::vector<double>& scores, const std::vector<Index>& drawn) {
  const Index rank = space.rank(), count = static_cast<Index>(drawn.size());
  std::vector<double> rows(at(count * rank));
  for (Index c = 0; c < count; ++c) {
    double* const row = &rows[at(c * rank)];
    space.row(drawn[at(c)], row);
    for (Index r = 0; r < rank; ++r) row[r] /= std::sqrt(scores[at(drawn[at(c)])]);
  }
  const MatrixView<const double> view{rows.data(), count, rank, rank};
  const Points points(view, {}, Preprocessing{.center = Center::none}, task.threads);
  const auto kernel = make_tiled_kernel(points, {}, {.threads = task.threads});
  const Task inner{.points = &points,
                   .kernel = kernel.get(),
                   .threads = task.threads,
                   .keep_going = task.keep_going};
  std::vector<Index> kept;
  for (const Index c : strong_pivots(inner, rank, 2).points) kept.push_back(drawn[at(c)]);
  return kept;
}

Picks choose(const Task& task) {
  const SingularSpace space(task, task.exemplars);
  if (space.rank() == 0) return {};
  const std::vector<double> scores = space.leverage_scores();
  const auto draws = static_cast<Index>(
      draws_for(task.settings.number("oversampling"), static_cast<double>(task.exemplars)));
  const Lottery lottery(scores);
  Rng rng(task.seed);
  Picks best;
  double least = std::numeric_limits<double>::infinity();
  for (Index restart = 0; restart < task.settings.whole("restarts"); ++restart) {
    Rng own = rng.split(static_cast<std::uint64_t>(restart));
    const auto try_with = [&](Index count) {
      return keep(task, space, scores, draw(lottery, task.size(), count, task.keep_going, own));
    };
    std::vector<Index> kept = try_with(draws);
    for (int more = 1; static_cast<Index>(kept.size()) < space.rank() && more < 16; ++more)
      kept = try_with(draws << more);
    const Regression all = regress(*task.kernel, task.linear ? task.points : nullptr, kept, -1,
                                   task.threads, task.keep_going);
    // Below this part of all points together an error is rounding.
    const double clear = all.projection + 1e-12 * all.trace;
    if (clear < least * (1 - sum_width) || restart == 0)
      least = all.projection, best.exemplars = std::move(kept);
  }
  for (const Index i : best.exemplars) best.strength.push_back(scores[at(i)]);
  best.warnings = space.warnings();
  best.facts = {{.name = "residual", .value = least / task.unit() / task.unit()},
                {.name = "drawn", .value = static_cast<double>(draws)}};
  task.report(static_cast<Index>(best.exemplars.size()));
  return best;
}

Cost cost(const Sizes& s, const Settings& settings) {
  const Cost space = singular_space_cost(s, s.k);
  const double draws = draws_for(settings.number("oversampling"), s.k);
  const double drawn = std::min(draws, s.n);  // different ones
  const Sizes inner{.n = drawn, .d = s.k, .k = s.k, .entries = drawn * s.k, .threads = s.threads};
  const Cost pivots = residuals_cost(inner, false), swaps = strong_cost(inner);
  const auto restarts = static_cast<double>(settings.whole("restarts"));
  return {
      .bytes = space.bytes + pivots.bytes + swaps.bytes + 8 * drawn * (s.k + 1) + 9 * s.n +
               8 * s.k * (s.d + s.k) + s.crew(384) * 8 * s.held(384) * (s.d + s.k),
      .flops = space.flops + restarts * (300 * draws + pivots.flops + swaps.flops * (1 + s.k / 4) +
                                         s.n * s.k * (8 * s.d + 2 * s.k)),
      .how = space.how + "; every restart projects all points once"};
}

}  // namespace

Method two_stage_method() {
  return {.name = "two-stage",
          .title = "two-stage column subset selection",
          .about =
              "draws points by their leverage scores, then keeps k by strong QR (Boutsidis, "
              "Mahoney, Drineas 2009)",
          .parameters = {{.name = "oversampling",
                          .value = 4.0,
                          .about = "draws this many times k ln(k + 1) points",
                          .least = 0,
                          .most = 1e4},
                         {.name = "restarts",
                          .value = Index{10},
                          .about = "repeats this often and keeps the set with the smallest error",
                          .least = 1,
                          .most = 1e6}},
          .random = true,
          .any_kernel = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
