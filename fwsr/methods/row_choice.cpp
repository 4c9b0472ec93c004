#include "fwsr/methods/row_choice.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/row_sparse.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

double square(double v) {
  return v * v;
}

/// The rule for representatives that are too close to others: going through the rows from the largest
/// norm down, a point is left out when it is nearer than `radius` to one that was taken.
std::vector<Index> without_duplicates(const Task& task, const std::vector<Index>& order,
                                      double squared_radius, Index wanted) {
  std::vector<Index> taken;
  for (const Index i : order) {
    if (static_cast<Index>(taken.size()) == wanted) break;
    throw_if_cancelled(task.keep_going);
    const Index one[] = {i};
    const std::vector<double> products = task.kernel->values(one, taken);
    bool far = true;
    for (std::size_t t = 0; t < taken.size() && far; ++t)
      far = task.kernel->diagonal(i) + task.kernel->diagonal(taken[t]) - 2 * products[t] >
            squared_radius;
    if (far) taken.push_back(i);
  }
  return taken;
}

}  // namespace

std::vector<Index> rows_by_norm(const std::vector<double>& norms) {
  return by_score(norms, rough_width);
}

std::vector<Parameter> row_sparse_parameters() {
  return {{.name = "alpha",
           .value = 20.0,
           .about = "lambda is the largest useful one divided by this; 2 to 50 as a rule, more "
                    "for more non-zero rows",
           .least = 1},
          {.name = "affine", .value = true, .about = "the codes of every point sum to 1"},
          {.name = "tolerance",
           .value = 1e-4,
           .about = "stop when the objective is within this part of the optimum, for certain",
           .least = 0,
           .most = 1},
          {.name = "max_iterations", .value = Index{10000}, .about = "of the ADMM", .least = 1},
          {.name = "remove_duplicates",
           .value = false,
           .about = "leave out points that are close to one chosen before"},
          {.name = "closeness",
           .value = 0.05,
           .about = "what close means, in root-mean-square distances of two points",
           .least = 0}};
}

Cost row_sparse_cost(const Sizes& s, bool by_features) {
  constexpr double steps = 300;
  const bool lean = by_features && s.d < s.n;
  const double m = lean ? s.d : s.n, r = m + 1;
  const double rows = 256, rooms = s.threads * (std::min(rows, s.n) * r + 3 * rows * 256);
  // The frame and its eigenvectors, with what LAPACK holds beside them; then the ADMM with four matrices r x r.
  const double making = s.n * r + 6 * m * m + s.threads * (1024 + rows + m) * m;
  const double solving = 2 * s.n * r + 4 * r * r + rooms;
  return {.bytes = 8 * std::max(lean ? making : 4 * m * m, solving),
          .flops = steps * 4 * s.n * r * (r + 20) + 25 * m * m * m + 4 * s.n * m * m,
          .how = lean ? "solves for n x d numbers; a step costs O(n d^2)"
                      : "holds five n x n matrices; a step costs O(n^3)"};
}

Picks choose_row_sparse(const Task& task) {
  const Settings& s = task.settings;
  const RowFrame frame = make_row_frame(task, {}, s.yes("affine"));
  const double most = largest_lambda(frame), unit = square(task.unit());
  const RowSparseSolution solution =
      solve_row_sparse(frame, {.lambda = most / s.number("alpha"),
                               .tolerance = s.number("tolerance"),
                               .max_iterations = s.whole("max_iterations"),
                               .threads = task.threads,
                               .keep_going = task.keep_going});
  std::vector<Index> order = rows_by_norm(solution.norms);
  const auto rows = static_cast<Index>(order.size());
  Picks picks;
  if (s.yes("remove_duplicates"))
    order = without_duplicates(
        task, order, square(s.number("closeness")) * frame.mean_squared_distance(), task.exemplars);
  if (rows < task.exemplars && rows < task.size())
    picks.warnings.push_back(
        fmt::format("only {} rows of X are not zero; a larger alpha gives more", rows));
  else if (static_cast<Index>(order.size()) < task.exemplars)
    picks.warnings.push_back(fmt::format(
        "only {} of the {} points whose rows of X are not zero are not close to another; a smaller "
        "closeness or a larger alpha gives more",
        order.size(), rows));
  order.resize(std::min(order.size(), at(task.exemplars)));
  for (const Index i : order) picks.strength.push_back(solution.norms[at(i)]);
  picks.codes = codes_of(frame, solution, order, task.threads);
  picks.exemplars = std::move(order);
  if (!solution.converged) {
    picks.status = Status::iteration_limit;
    picks.warnings.push_back(
        fmt::format("the ADMM stopped after {} iterations with a gap of {:.2g} of the objective",
                    solution.iterations, solution.gap / solution.objective));
  }
  picks.facts = {{"objective", solution.objective / unit},
                 {"gap", solution.gap / unit},
                 {"lambda", most / s.number("alpha") / unit},
                 {"iterations", static_cast<double>(solution.iterations)},
                 {"primal_residual", solution.primal_residual},
                 {"dual_residual", solution.dual_residual},
                 {"rows", static_cast<double>(rows)}};
  return picks;
}

}  // namespace fwsr
