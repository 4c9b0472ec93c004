// Decremental SMRS: SMRS again and again on what it left over, after Dornaika & Kamal Aldine,
// "Decremental sparse modeling representative selection for prototype selection", Pattern Recognition
// 2015.
//
// That article could not be consulted. Built is what its name and the articles that cite it say, a sequence
// of nested selections: with S the survivors, at first all points,
//
//   1. solve the program of SMRS (smrs.cpp) with the points of S as dictionary and as data, lambda being
//      largest_lambda / alpha for these points;
//   2. of the rows of X keep the part `keep` with the largest norms, but k at least;
//   3. stop when k are left.
//
// The exemplars are these k by the norms of the last solution, which are their strength. When fewer than k rows are
// not zero they are the answer. The articles mention further parameters and weights of their own, which are not here.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/methods/row_choice.hpp"
#include "fwsr/methods/row_sparse.hpp"

namespace fwsr {

namespace {

Index kept_of(Index survivors, const Task& task) {
  const auto part =
      static_cast<Index>(std::ceil(task.settings.number("keep") * static_cast<double>(survivors)));
  return std::max(task.exemplars, std::min(part, survivors - 1));
}

Picks choose(const Task& task) {
  const Settings& s = task.settings;
  const double unit = task.unit() * task.unit();
  Picks picks;
  std::vector<Index> survivors;  // empty: all
  Index count = task.size(), stages = 0, iterations = 0;
  for (;;) {
    const RowFrame frame = make_row_frame(task, survivors, s.yes("affine"));
    const RowSparseSolution solution =
        solve_row_sparse(frame, {.lambda = largest_lambda(frame) / s.number("alpha"),
                                 .tolerance = s.number("tolerance"),
                                 .max_iterations = s.whole("max_iterations"),
                                 .threads = task.threads,
                                 .keep_going = task.keep_going});
    ++stages;
    iterations += solution.iterations;
    std::vector<Index> order = rows_by_norm(solution.norms);
    const auto rows = static_cast<Index>(order.size());
    order.resize(at(std::min(rows, kept_of(count, task))));
    const auto point = [&](Index row) { return survivors.empty() ? row : survivors[at(row)]; };
    const bool done = static_cast<Index>(order.size()) <= task.exemplars;
    if (done) {
      for (const Index i : order) {
        picks.exemplars.push_back(point(i));
        picks.strength.push_back(solution.norms[at(i)]);
      }
      if (rows < task.exemplars && rows < count)
        picks.warnings.push_back(
            fmt::format("only {} rows of X were not zero in stage {}; a larger alpha gives more",
                        rows, stages));
      picks.facts = {{"stages", static_cast<double>(stages)},
                     {"iterations", static_cast<double>(iterations)},
                     {"objective", solution.objective / unit},
                     {"gap", solution.gap / unit}};
      return picks;
    }
    for (Index& i : order) i = point(i);
    std::sort(order.begin(), order.end());  // as they stand in the data: ties to the first
    survivors = std::move(order);
    count = static_cast<Index>(survivors.size());
    task.report(0);
  }
}

}  // namespace

Method dsmrs_method() {
  std::vector<Parameter> parameters = row_sparse_parameters();
  parameters.resize(4);  // of the program, not of what is done with its rows
  parameters.push_back({.name = "keep",
                        .value = 0.5,
                        .about = "the part of the points that a stage leaves",
                        .least = 0,
                        .most = 1});
  return {.name = "dsmrs",
          .title = "decremental sparse modelling of representatives",
          .about =
              "smrs again and again on the points of the largest rows, until k are left "
              "(after Dornaika, Kamal Aldine 2015)",
          .parameters = std::move(parameters),
          .any_kernel = true,
          .cost =
              [](const Sizes& sizes, const Settings& settings) {
                Cost cost = row_sparse_cost(sizes, true);
                const double keep = std::min(0.99, settings.number("keep"));
                cost.flops /= 1 - keep;
                cost.how = "stages of smrs: " + cost.how;
                return cost;
              },
          .choose = choose};
}

}  // namespace fwsr
