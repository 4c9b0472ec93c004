// Coresets for k-means: points that stand for all others in the cost of any set Q of centres,
//
//   cost(Q) = sum_i w_i min_{q in Q} ||a_i - q||^2       about equal to       sum_t u_t min_{q in Q} ||a_t - q||^2,
//
// t over the exemplars with their importance u_t (w_i = 1 unless given). Points are drawn one after the other, each
// of those left as likely as its p_i, so that all are distinct. Given those before, the t-th draw alone estimates the cost
// without bias (Raj 1956), y_i = w_i min_q ||a_i - q||^2:
//
//   e_t = y_1 + ... + y_{t-1} + y_t (1 - p_1 - ... - p_{t-1}) / p_t,      so     u_t / w_t = ((1 - p_1 - ... -
//   p_{t-1}) / p_t + k - t) / k    for the mean of all k of them. Their errors are uncorrelated and none is larger
//   than that of the first, whose variance is sum_i y_i^2 / p_i - cost(Q)^2.
//
// variant = sensitivity (Feldman and Langberg 2011, as Bachem, Lucic and Krause 2017 write it): p_i proportional to
// a bound s_i of what point i can be of any cost. With c centres B drawn as k-means++ does (Arthur and Vassilvitskii
// 2007), whose expected cost is at most 8 (ln c + 2) times the least, alpha = 16 (ln c + 2), B_i the cluster of i and
// mass(B_i), cost(B_i) the sums of w and of w ||a - b||^2 over it:
//
//   s_i / w_i = (alpha ||a_i - b_i||^2 + 2 alpha cost(B_i) / mass(B_i)) / cost(B) + 4 / mass(B_i),   S = sum_i s_i
//
// y_i <= s_i cost(Q) for any Q of at most c centres, so that the standard deviation of the relative error is at most
// sqrt((S - 1) / k): the fact `error`.
//
// variant = lightweight (Bachem, Lucic and Krause 2018): p_i = w_i / 2 (1 / W + ||a_i - mean||^2 / cost(mean)), W = sum_i
// w_i. Then y_i <= 8 p_i (cost(Q) + cost(mean)), and with `error` = sqrt(7 / k) the standard deviation is at most error
// (cost(Q) + cost(mean)) for any Q of any size.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/draw.hpp"

namespace fwsr {

namespace {

/// What every point is drawn by, and what that promises.
struct Shares {
  std::vector<double> p;  // adds up to 1
  double error = 0;
  std::vector<Fact> facts = {};
};

std::vector<double> weights_of(const Task& task) {
  return task.terms.weighted() ? task.terms.weights : std::vector<double>(at(task.size()), 1.0);
}

Index centres_for(double asked, double exemplars) {
  return static_cast<Index>(asked > 0 ? asked : std::max(1.0, std::floor(exemplars / 10)));
}

/// Centres drawn by k-means++: the squared distance of every point from the nearest, and which that is.
struct Nearest2 {
  std::vector<double> square;
  std::vector<Index> centre;
  Index centres = 0;
};
Nearest2 draw_centres(const Task& task, const Distances& distances, const std::vector<double>& w,
                      Rng& rng) {
  const Index n = task.size();
  const Index wanted = centres_for(static_cast<double>(task.settings.whole("clusters")),
                                   static_cast<double>(task.exemplars));
  Nearest2 found{.square = std::vector<double>(at(n), std::numeric_limits<double>::infinity()),
                 .centre = std::vector<Index>(at(n))};
  std::vector<double> shares = w, column(at(n));
  while (found.centres < std::min(wanted, n)) {
    const Lottery lottery(shares);
    if (!(lottery.total() > 0)) break;  // all others are copies of centres
    distances.column(lottery.draw(rng), column);
    throw_if_cancelled(task.keep_going);
    for (Index i = 0; i < n; ++i) {
      if (column[at(i)] < found.square[at(i)])
        found.square[at(i)] = column[at(i)], found.centre[at(i)] = found.centres;
      shares[at(i)] = w[at(i)] * found.square[at(i)];
    }
    ++found.centres;
    task.report(0);
  }
  return found;
}

Shares by_sensitivity(const Task& task, const std::vector<double>& w, Rng& rng) {
  const Distances distances(task, "squared");
  const Nearest2 near = draw_centres(task, distances, w, rng);
  std::vector<double> mass(at(near.centres)), cost(at(near.centres));
  for (std::size_t i = 0; i < w.size(); ++i) {
    mass[at(near.centre[i])] += w[i];
    cost[at(near.centre[i])] += w[i] * near.square[i];
  }
  const double all = total(cost);
  const double alpha = 16 * (std::log(static_cast<double>(near.centres)) + 2);
  Shares shares{.p = w};
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::size_t b = at(near.centre[i]);
    if (w[i] == 0) continue;
    const double of_cost = all > 0 ? alpha * (near.square[i] + 2 * cost[b] / mass[b]) / all : 0.0;
    shares.p[i] *= of_cost + 4 / mass[b];
  }
  const double sum = total(shares.p);
  for (double& p : shares.p) p /= sum;
  shares.error = std::sqrt((sum - 1) / static_cast<double>(task.exemplars));
  shares.facts = {{"total_sensitivity", sum},
                  {"cost", all * distances.scale()},
                  {"centres", static_cast<double>(near.centres)}};
  return shares;
}

/// ||a_i - mean||^2 in the space of the kernel; points that are vectors less the mean itself, so that no digits are lost.
std::vector<double> squares_from_mean(const Task& task, const std::vector<double>& w) {
  const Index n = task.size();
  std::vector<double> part = w, squares(at(n));
  const double mass = total(w);
  for (double& v : part) v /= mass;
  if (task.linear && task.points && !task.points->sparse()) {
    const Index d = task.points->dim();
    const std::vector<double> mean = task.points->combine(part, task.threads);
    for_blocks(task.threads, n, [&](Index, Index first, Index last) {
      throw_if_cancelled(task.keep_going);
      std::vector<double> row(at(d));
      for (Index i = first; i < last; ++i) {
        task.points->row(i, row.data());
        squares[at(i)] = squared_distance(row.data(), mean.data(), d);
      }
    });
    return squares;
  }
  task.kernel->multiply(part, squares, task.threads);
  double own = 0;
  for (std::size_t i = 0; i < part.size(); ++i) own += part[i] * squares[i];
  for (Index i = 0; i < n; ++i)
    squares[at(i)] = std::max(0.0, task.kernel->diagonal(i) - 2 * squares[at(i)] + own);
  return squares;
}

Shares lightweight(const Task& task, const std::vector<double>& w) {
  const std::vector<double> squares = squares_from_mean(task, w);
  const double mass = total(w);
  double cost = 0;
  for (std::size_t i = 0; i < w.size(); ++i) cost += w[i] * squares[i];
  Shares shares{.p = w, .error = std::sqrt(7 / static_cast<double>(task.exemplars))};
  for (std::size_t i = 0; i < w.size(); ++i)
    shares.p[i] *= cost > 0 ? (1 / mass + squares[i] / cost) / 2 : 1 / mass;
  shares.facts = {{"cost", cost / task.unit() / task.unit()}, {"centres", 1.0}};
  return shares;
}

/// u_t of points in the order in which they were drawn. All that have a weight count as they are.
std::vector<double> importance_of(const std::vector<Index>& drawn, const std::vector<double>& p,
                                  const std::vector<double>& w) {
  const auto k = static_cast<double>(drawn.size());
  const bool all = std::count_if(w.begin(), w.end(), [](double v) { return v > 0; }) ==
                   static_cast<Index>(drawn.size());
  std::vector<double> importance;
  double left = 1;  // of the probability
  for (std::size_t t = 0; t < drawn.size(); ++t) {
    const std::size_t i = at(drawn[t]);
    const double later = k - 1 - static_cast<double>(t);
    importance.push_back(all ? w[i] : w[i] * (std::max(left, p[i]) / p[i] + later) / k);
    left -= p[i];
  }
  return importance;
}

Picks choose(const Task& task) {
  const std::vector<double> w = weights_of(task);
  Rng rng(task.seed);
  const Shares shares = task.settings.word("variant") == "sensitivity"
                            ? by_sensitivity(task, w, rng)
                            : lightweight(task, w);
  Picks picks{.exemplars = draw_in_turn(shares.p, task.exemplars, rng)};
  for (const Index i : picks.exemplars) picks.strength.push_back(shares.p[at(i)]);
  picks.importance = importance_of(picks.exemplars, shares.p, w);
  if (static_cast<Index>(picks.exemplars.size()) < task.exemplars)
    picks.warnings.push_back("all points that have a weight were drawn");
  picks.facts = shares.facts;
  picks.facts.push_back({"error", shares.error});
  return picks;
}

Cost cost(const Sizes& s, const Settings& settings) {
  const bool rough = settings.word("variant") == "sensitivity";
  const double centres =
      static_cast<double>(centres_for(static_cast<double>(settings.whole("clusters")), s.k));
  const double mean = s.linear ? 8 * s.entries : s.n * s.n * (s.pair() / 2 + 40);
  return {.bytes = 8 * 9 * s.n + (rough || s.linear ? 0 : 8 * 32 * s.n),
          .flops = rough ? 60 * (centres + 1) * s.entries : mean,
          .how = rough ? "one pass over all points for each of the centres; a few numbers of every "
                         "point"
                       : "one pass over all points for their mean and one for the distances from "
                         "it"};
}

}  // namespace

Method coreset_method() {
  return {.name = "coreset",
          .title = "coreset for k-means",
          .about =
              "drawn by what a point can be of the cost of any centres, with importance weights "
              "that keep that cost (Feldman and Langberg 2011)",
          .parameters = {{.name = "variant",
                          .value = std::string("sensitivity"),
                          .about = "sensitivity: a relative error for as many centres as "
                                   "`clusters`; lightweight: by the distance from the mean, faster",
                          .words = {"sensitivity", "lightweight"}},
                         {.name = "clusters",
                          .value = Index{0},
                          .about = "of sensitivity: how many centres the cost is kept for; 0: a "
                                   "tenth of the exemplars",
                          .least = 0,
                          .most = 1e9}},
          .random = true,
          .any_kernel = true,
          .conditions = {Condition::weights},
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
