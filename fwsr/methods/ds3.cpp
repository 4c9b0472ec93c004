// DS3: representatives from dissimilarities alone (Elhamifar, Sapiro, Sastry, "Dissimilarity-based sparse
// subset selection", IEEE TPAMI 2016).
//
//   min_Z  lambda sum_i ||z_i||_p + sum_ij d_ij z_ij    s.t.  Z >= 0,  1^T Z = 1^T
//
// d_ij says how badly i represents j, row z_i what i represents; p is 2 or infinity. lambda is
// lambda_max / alpha with the article's lambda_max, from which on one row alone is not zero: that of the
// i with the least sum of d_i, called l,
//
//   p = infinity:  max_i ||d_i - d_l||_1 / 2
//   p = 2:         max_i sqrt(n) / 2 ||d_i - d_l||_2^2 / 1^T (d_i - d_l)
//
// alpha = 0 stands for 20, or as many times twice that as it takes to have k rows that are not zero: w goes on
// from where it is. In the case p = 2, i whose sum is that of l count for nothing (there is no such lambda); where that leaves
// none, max_i ||d_i - d_l||_1 / (2 sqrt(n)) is used.
//
// The exemplars are the k rows of largest p-norm of the solution (ds3_admm.hpp), among those that are not zero in X.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/ds3_admm.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 16;
constexpr double same_sum = 1e-12;  // sums of dissimilarities that differ by less are equal

/// The i with the least sum of d_i, but for rounding the first.
Index most_central(const DistanceMatrix<double>& d, Index n, int threads) {
  std::vector<double> sums(at(n));
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        for (Index i = first; i < last; ++i)
          sums[at(i)] = std::accumulate(d.row(i), d.row(i) + n, 0.0);
      },
      rows_at_once);
  const double least = *std::min_element(sums.begin(), sums.end());
  const auto found = std::find_if(sums.begin(), sums.end(),
                                  [&](double sum) { return sum <= least * (1 + same_sum); });
  if (found == sums.end()) throw_not_finite();
  return found - sums.begin();
}

/// The article's lambda_max; 0 when all d_i are equal.
double largest_lambda(const DistanceMatrix<double>& matrix, Index n, Index central, bool infinite) {
  const double* const own = matrix.row(central);
  const double tiny = same_sum * std::accumulate(own, own + n, 0.0);
  const double root = std::sqrt(static_cast<double>(n));
  double most = 0, absolute = 0;
  for (Index i = 0; i < n; ++i) {
    const double* const d = matrix.row(i);
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += d[j] - own[j];
    absolute = std::max(absolute, absolute_distance(d, own, n) / 2);
    if (sum > tiny) most = std::max(most, root / 2 * squared_distance(d, own, n) / sum);
  }
  if (infinite) return absolute;
  return most > 0 ? most : absolute / root;
}

/// All dissimilarities are those of i, to which lambda does not matter: it represents all.
Picks one(const double* d, Index i, Index n, bool infinite, double scale) {
  return {.exemplars = {i},
          .strength = {infinite ? 1.0 : std::sqrt(static_cast<double>(n))},
          .codes = std::vector<double>(at(n), 1.0),
          .facts = {{"objective", scale * std::accumulate(d, d + n, 0.0)},
                    {"gap", 0},
                    {"lambda", 0},
                    {"alpha", 0},
                    {"iterations", 0},
                    {"primal_residual", 0},
                    {"rows", 1}}};
}

/// A point goes to the least dissimilar of those chosen, of equal ones to the first; these to themselves.
std::vector<Index> assign(const std::vector<Index>& exemplars, const DistanceMatrix<double>& d,
                          Index n) {
  const auto k = static_cast<Index>(exemplars.size());
  std::vector<Index> to(at(n), 0);
  for (Index j = 0; j < n; ++j)
    for (Index t = 1; t < k; ++t)
      if (d.row(exemplars[at(t)])[j] < d.row(exemplars[at(to[at(j)])])[j]) to[at(j)] = t;
  for (Index t = 0; t < k; ++t) to[at(exemplars[at(t)])] = t;
  return to;
}

Picks picks_of(const Ds3Admm& admm, const DistanceMatrix<double>& d, double scale,
               const Task& task) {
  const Index n = task.size();
  Picks picks;
  picks.exemplars = admm.rows_in_order();
  const auto rows = static_cast<Index>(picks.exemplars.size());
  if (rows < task.exemplars && rows < n)
    picks.warnings.push_back(
        fmt::format("only {} rows of Z are not zero; a larger alpha gives more", rows));
  picks.exemplars.resize(at(std::min(rows, task.exemplars)));
  const auto k = static_cast<Index>(picks.exemplars.size());
  picks.codes.resize(at(k * n));
  for (Index t = 0; t < k; ++t) {
    const Index i = picks.exemplars[at(t)];
    picks.strength.push_back(admm.norm(i));
    admm.row_of_y(i, picks.codes.data() + t * n);
  }
  picks.assignment = assign(picks.exemplars, d, n);
  if (!admm.converged()) {
    picks.status = Status::iteration_limit;
    picks.warnings.push_back(
        fmt::format("the ADMM stopped after {} iterations with a gap of {:.2g} of the objective",
                    admm.iterations(), admm.gap() / admm.objective()));
  }
  picks.facts = {{"objective", scale * admm.objective()},
                 {"gap", scale * admm.gap()},
                 {"lambda", scale * admm.lambda()},
                 {"alpha", admm.alpha()},
                 {"iterations", static_cast<double>(admm.iterations())},
                 {"primal_residual", admm.primal_residual()},
                 {"rows", static_cast<double>(rows)}};
  return picks;
}

Picks choose(const Task& task) {
  const Settings& s = task.settings;
  const Distances distances(task, s.word("metric"));
  const DistanceMatrix<double> d = distances.matrix<double>();
  const Index n = task.size(), central = most_central(d, n, task.threads);
  const bool infinite = s.word("p") == "inf";
  const double most = largest_lambda(d, n, central, infinite);
  if (!(most > 0)) return one(d.row(central), central, n, infinite, distances.scale());
  Ds3Admm admm(d, n,
               {.infinite = infinite,
                .most_lambda = most,
                .alpha = s.number("alpha"),
                .rows = task.exemplars,
                .tolerance = s.number("tolerance"),
                .max_iterations = s.whole("max_iterations"),
                .threads = task.threads,
                .keep_going = task.keep_going});
  admm.run();
  return picks_of(admm, d, distances.scale(), task);
}

Cost cost(const Sizes& s, const Settings&) {
  constexpr double steps = 300, passes = 12, flops_a_number = 10;
  return {.bytes = 16 * s.n * s.n + 8 * s.n * (8 + 66 * s.threads),
          .flops = steps * passes * flops_a_number * s.n * s.n + s.n * s.n * s.pair(),
          .how = "holds two n x n matrices; a step passes over both about ten times"};
}

}  // namespace

Method ds3_method() {
  return {
      .name = "ds3",
      .title = "dissimilarity-based sparse subset selection",
      .about =
          "few points that represent all others at little dissimilarity, as a convex "
          "program (Elhamifar, Sapiro, Sastry 2016)",
      .parameters =
          {{.name = "alpha",
            .value = 0.0,
            .about = "lambda is the one that leaves one exemplar divided by this; 0: 20, "
                     "doubled until k rows are not zero",
            .least = 0},
           {.name = "p",
            .value = std::string("inf"),
            .about = "the norm of the rows, 2 or inf",
            .words = {"2", "inf"}},
           {.name = "tolerance",
            .value = 1e-3,
            .about = "stop when the objective is within this part of the optimum, for "
                     "certain",
            .least = 0,
            .most = 1},
           {.name = "max_iterations", .value = Index{10000}, .about = "of the ADMM", .least = 1},
           metric_parameter()},
      .any_kernel = true,
      .codes = true,
      .cost = cost,
      .choose = choose};
}

}  // namespace fwsr
