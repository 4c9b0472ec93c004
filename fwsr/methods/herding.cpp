// Herding: k points whose mean in the space of the kernel is near that of all points, one after the other,
//
//   minimise over S, |S| = k    MMD^2(S) = || 1/n sum_i phi(a_i) - 1/k sum_{t in S} phi(a_t) ||^2.
//
// With mu_j = 1/n sum_i K_ij and s_j = sum_{t in S} K_tj of the m - 1 points so far, the next one is
//
//   rule = herding    argmax_j  mu_j - s_j / m                 (Chen, Welling and Smola 2010)
//   rule = greedy     argmax_j  mu_j - (s_j + K_jj / 2) / m    (least MMD^2 of the m points: Kim, Khanna and
//                                                              Koyejo 2016 without their criticisms)
//
// among the points not yet chosen. For kernels of constant diagonal, such as rbf, both choose the same.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/methods/task.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index block = 384;

/// K_tj for all j, added to s.
void add_column(const Task& task, Index t, std::vector<double>& s) {
  const Index one[] = {t};
  const auto work =
      static_cast<double>(s.size()) * static_cast<double>(task.points ? task.points->dim() : 1);
  for_blocks(
      threads_for(task.threads, work), static_cast<Index>(s.size()),
      [&](Index, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        const std::vector<double> values = task.kernel->values(one, index_range(first, last));
        for (Index j = first; j < last; ++j) s[at(j)] += values[at(j - first)];
      },
      block);
}

/// The best point not yet chosen, of equal ones the first.
Index best(const Task& task, const std::vector<double>& mu, const std::vector<double>& s,
           const std::vector<bool>& chosen, double m) {
  const double own = task.settings.word("rule") == "greedy" ? 0.5 : 0.0;
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<double> left(at(task.size()), none);
  double largest = 0;  // entry of the kernel: what the sums are rounded by
  for (Index j = 0; j < task.size(); ++j) {
    const double diagonal = task.kernel->diagonal(j);
    largest = std::max(largest, diagonal);
    if (!chosen[at(j)]) left[at(j)] = (s[at(j)] + own * diagonal) / m - mu[at(j)];
  }
  return first_least(left, 1e-12 * largest);
}

/// MMD, from 1^T K 1 / n^2 - 2 sum_t mu_t / m + sum_tu K_tu / m^2.
double mmd(const std::vector<double>& mu, const std::vector<double>& s,
           const std::vector<Index>& picks) {
  const auto n = static_cast<double>(mu.size()), m = static_cast<double>(picks.size());
  const double all = std::accumulate(mu.begin(), mu.end(), 0.0) / n;
  double across = 0, within = 0;
  for (const Index t : picks) across += mu[at(t)], within += s[at(t)];
  return std::sqrt(std::max(0.0, all - 2 * across / m + within / m / m));
}

Picks choose(const Task& task) {
  const Index n = task.size();
  std::vector<double> mu(at(n)), s(at(n));
  task.kernel->multiply(std::vector<double>(at(n), 1.0 / static_cast<double>(n)), mu, task.threads);
  std::vector<bool> chosen(at(n));
  Picks picks;
  while (static_cast<Index>(picks.exemplars.size()) < task.exemplars) {
    const Index t = best(task, mu, s, chosen, static_cast<double>(picks.exemplars.size() + 1));
    chosen[at(t)] = true;
    picks.exemplars.push_back(t);
    add_column(task, t, s);
    task.report(static_cast<Index>(picks.exemplars.size()));
  }
  picks.facts = {{"mmd", mmd(mu, s, picks.exemplars) / task.unit()}};
  return picks;
}

Cost cost(const Sizes& s, const Settings&) {
  const double mean = s.linear ? 4 * s.entries : s.n * s.n * (s.pair() / 2 + 40);
  return {
      .bytes = 8 * 4 * s.n +
               (s.linear ? 0 : 8 * (32 * s.n + s.crew(480) * s.held(480) * (2 * s.d + 2 * 480))),
      .flops = mean + s.k * s.n * (s.pair() + 80),
      .how = s.linear ? "finds the mean of the points, then looks at all of them once a step; "
                        "holds no matrix"
                      : "looks at all pairs of points once, then at one column of the kernel a "
                        "step; holds no "
                        "matrix"};
}

}  // namespace

Method herding_method() {
  return {
      .name = "herding",
      .title = "kernel herding",
      .about =
          "the mean of the exemplars near the mean of all points in the space of a kernel (Chen, "
          "Welling and Smola 2010)",
      .parameters = {{.name = "rule",
                      .value = std::string("herding"),
                      .about =
                          "herding, or greedy: the least distance of the two means at every step",
                      .words = {"herding", "greedy"}}},
      .any_kernel = true,
      .uses_rbf = true,
      .cost = cost,
      .choose = choose};
}

}  // namespace fwsr
