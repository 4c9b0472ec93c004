// What else is asked of a choice: who may be chosen, who is there already, what counts more, what it costs. The problem
// that is solved under all of them, for points a_1 .. a_n with weights s_i, candidates j with costs, and exemplars B_0 that
// are there already (docs/algorithm.md):
//
//   min over X and Y of  sum_i s_i ||a_i - B_0 y_i - A_C x_i||^2     s.t.  sum_j cost_j ||X^(j)|| <= beta
//
// The norm of a row of codes counts every point by its weight, so that a weight of 2 is the same as two points.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/labels.hpp"

namespace fwsr {

/// A number for every group, or for those that are named.
struct GroupCounts {
  std::optional<Index> each = {};
  std::map<std::string, Index> named = {};  ///< these go before `each`

  bool empty() const { return !each && named.empty(); }
  std::optional<Index> of(const std::string& name) const;
};

/// Conditions that are empty ask nothing.
struct Conditions {
  std::vector<bool> candidates = {};  ///< for every point whether it may be chosen; empty: all may
  std::vector<Index> included = {};   ///< exemplars that are there already; they are not counted
  std::vector<double> weights = {};   ///< of the points, 0 or more; empty: 1 each
  std::vector<double> costs = {};     ///< of the points as exemplars, positive; empty: 1 each
  Labels groups = {};                 ///< of the points, for the next two
  GroupCounts at_least = {};          ///< so many exemplars of a group
  GroupCounts at_most = {};           ///< no more than so many

  bool empty() const {
    return candidates.empty() && included.empty() && weights.empty() && costs.empty() &&
           groups.empty() && at_least.empty() && at_most.empty();
  }
};

struct SelectOptions;

/// The first thing wrong with the conditions of `o` for n points, as a sentence a user can act on.
std::optional<std::string> find_problem_with_conditions(const SelectOptions& o, Index n);

/// The first thing wrong with weights, or with costs, alone.
std::optional<std::string> find_problem_with_weights(const std::vector<double>& weights);
std::optional<std::string> find_problem_with_costs(const std::vector<double>& costs);

/// The options with a number of exemplars, where a budget stands for it: as many as it can pay, of the cheapest. One that
/// is only a limit, beside until_error, is no larger than n.
SelectOptions with_limit(const SelectOptions& o, Index n);

/// Why conditions cannot be kept class by class, where they cannot.
std::optional<std::string> find_problem_per_class(const SelectOptions& o);

/// Of every group, in the order of their names: so many exemplars at least, and at most.
std::vector<Index> floors_of(const Conditions& conditions);
std::vector<Index> caps_of(const Conditions& conditions);
/// What may be spent of a budget: sums of costs are right to within rounding.
double within_budget(double budget);

/// The points that may be chosen, ascending: candidates that are not there already.
std::vector<Index> candidates_of(const Conditions& conditions, Index n);
/// How many these are.
Index candidate_count(const Conditions& conditions, Index n);
/// Of the candidates.
double mean_cost(const Conditions& conditions, Index n);
/// How many exemplars the groups lack of what they are to give at least.
Index missing_of_floors(const Conditions& conditions, std::span<const Index> exemplars);
/// sum_i s_i.
double weight_of_all(const Conditions& conditions, Index n);
/// The conditions of some of the points, in their order. @pre members are ascending
Conditions conditions_of(const Conditions& conditions, std::span<const Index> members);

}  // namespace fwsr
