#include "fwsr/solver/conditions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/at.hpp"
#include "fwsr/base/quoted.hpp"
#include "fwsr/solver/options.hpp"

namespace fwsr {

namespace {

using Problem = std::optional<std::string>;

/// Squares of weights and costs are numbers, too.
constexpr double most_number = 1e100;
constexpr const char* too_large =
    " between 1e-100 and 1e100; multiply all of them (and the budget) by one number: nothing else "
    "changes";

/// Whether the number of exemplars only says where to end at the latest.
bool is_limit(const SelectOptions& o) {
  return o.budget || o.until_error;
}

/// One number for each point, or none.
Problem wrong_length(const char* what, std::size_t given, Index n) {
  if (given == 0 || static_cast<Index>(given) == n) return std::nullopt;
  return fmt::format("there are {} {} for {} points; there must be one for each", given, what, n);
}

}  // namespace

std::optional<std::string> find_problem_with_weights(const std::vector<double>& weights) {
  double all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && weights[i] <= most_number))
      return fmt::format("the weight of point {} is {}; weights are 0 or positive numbers{}", i,
                         weights[i], weights[i] > most_number ? too_large : "");
    all += weights[i];
  }
  if (!weights.empty() && !(all > 0)) return "all weights are zero: nothing is to be represented";
  return std::nullopt;
}

std::optional<std::string> find_problem_with_costs(const std::vector<double>& costs) {
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (!(costs[i] > 0 && costs[i] <= most_number && costs[i] >= 1 / most_number))
      return fmt::format("the cost of point {} is {}; costs are positive numbers{}", i, costs[i],
                         costs[i] > 0 ? too_large : ", and points that cost nothing are included");
  return std::nullopt;
}

namespace {

Problem find_in_included(const Conditions& c, Index n) {
  std::vector<bool> seen(at(n));
  for (const Index i : c.included) {
    if (i < 0 || i >= n)
      return fmt::format("point {} is to be included, but the points are 0 to {}", i, n - 1);
    if (seen[at(i)]) return fmt::format("point {} is to be included twice; name it once", i);
    seen[at(i)] = true;
  }
  return std::nullopt;
}

/// Candidates of every group, by its place among the names.
std::vector<Index> sizes_of(const Conditions& c, Index n) {
  std::vector<Index> sizes(c.groups.names().size());
  for (const Index i : candidates_of(c, n)) ++sizes[at(c.groups.codes()[at(i)])];
  return sizes;
}

Problem find_in_counts(const char* name, const GroupCounts& counts, const Labels& groups) {
  if (counts.each && *counts.each < 0)
    return fmt::format("{} must be 0 or more, got {}", name, *counts.each);
  for (const auto& [group, number] : counts.named) {
    if (number < 0)
      return fmt::format("{} of group {} must be 0 or more, got {}", name, in_quotes(group),
                         number);
    if (std::find(groups.names().begin(), groups.names().end(), group) == groups.names().end())
      return fmt::format("{} names the group {}, of which there is no point", name,
                         in_quotes(group));
  }
  return std::nullopt;
}

/// Floors and caps that no choice of k among the candidates can keep.
Problem find_in_groups(const SelectOptions& o, Index n) {
  const Conditions& c = o.conditions;
  if (c.groups.empty()) {
    if (c.at_least.empty() && c.at_most.empty()) return std::nullopt;
    return "at_least and at_most are numbers of exemplars in a group; give the groups, too";
  }
  if (c.at_least.empty() && c.at_most.empty())
    return "groups are for at_least and at_most; give one of these, too, or leave the groups out";
  for (const auto& [name, counts] :
       {std::pair("at_least", &c.at_least), std::pair("at_most", &c.at_most)})
    if (Problem problem = find_in_counts(name, *counts, c.groups)) return problem;
  if (!c.at_least.empty() && o.budget)
    return "at_least cannot be promised within a budget; leave one of them out";
  const std::vector<Index> sizes = sizes_of(c, n);
  Index floors = 0, room = 0;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    const std::string& name = c.groups.names()[g];
    const Index floor = c.at_least.of(name).value_or(0);
    const Index cap = c.at_most.of(name).value_or(sizes[g]);
    if (floor > sizes[g])
      return fmt::format("group {} is to give at least {} exemplar{}, and has {} candidate{}",
                         in_quotes(name), floor, floor == 1 ? "" : "s", sizes[g],
                         sizes[g] == 1 ? "" : "s");
    if (floor > cap)
      return fmt::format("group {} is to give at least {} exemplar{} and at most {}",
                         in_quotes(name), floor, floor == 1 ? "" : "s", cap);
    floors += floor;
    room += std::min(cap, sizes[g]);
  }
  if (o.exemplars > 0 && floors > o.exemplars)
    return fmt::format(
        "the groups are to give at least {} exemplars together, and {} were asked for; ask for "
        "more, or for less of each group",
        floors, o.exemplars);
  if (o.exemplars > room && !is_limit(o))
    return fmt::format(
        "{} exemplars were asked for, and at_most allows {}; ask for fewer, or allow more of each "
        "group",
        o.exemplars, room);
  return std::nullopt;
}

double cheapest(const Conditions& c, Index n) {
  if (c.costs.empty()) return 1;
  double least = std::numeric_limits<double>::infinity();
  for (const Index i : candidates_of(c, n)) least = std::min(least, c.costs[at(i)]);
  return least;
}

/// What only some problems have a meaning for.
Problem find_in_combinations(const SelectOptions& o) {
  const Conditions& c = o.conditions;
  const bool free_two = o.q == Norm::two && !o.nonneg;
  if (!c.included.empty() && !free_two)
    return "include is for q = 2 without a sign constraint: codes of what is there already are "
           "free";
  if (o.rank > 0 && o.rank <= std::ssize(c.included))
    return fmt::format(
        "rank {} is used up by {} exemplars that are included: what they leave would be nothing; "
        "choose a rank larger than their number and that of the new ones",
        o.rank, c.included.size());
  if (!c.weights.empty() && o.q != Norm::two)
    return "weights are for q = 2: only there a weight of 2 is the same as two points";
  return std::nullopt;
}

}  // namespace

std::optional<Index> GroupCounts::of(const std::string& name) const {
  const auto found = named.find(name);
  return found == named.end() ? each : std::optional(found->second);
}

std::vector<Index> floors_of(const Conditions& c) {
  std::vector<Index> floors;
  for (const std::string& name : c.groups.names())
    floors.push_back(c.at_least.of(name).value_or(0));
  return floors;
}

std::vector<Index> caps_of(const Conditions& c) {
  std::vector<Index> caps;
  for (const std::string& name : c.groups.names())
    caps.push_back(c.at_most.of(name).value_or(std::numeric_limits<Index>::max()));
  return caps;
}

double within_budget(double budget) {
  return budget * (1 + 1e-12);
}

std::vector<Index> candidates_of(const Conditions& c, Index n) {
  std::vector<bool> open = c.candidates.empty() ? std::vector<bool>(at(n), true) : c.candidates;
  for (const Index i : c.included) open[at(i)] = false;
  std::vector<Index> found;
  for (Index i = 0; i < n; ++i)
    if (open[at(i)]) found.push_back(i);
  return found;
}

Index candidate_count(const Conditions& c, Index n) {
  if (c.candidates.empty()) return n - std::ssize(c.included);
  return std::ssize(candidates_of(c, n));
}

SelectOptions with_limit(const SelectOptions& o, Index n) {
  SelectOptions own = o;
  if (o.until_error) own.exemplars = std::min(own.exemplars, n);
  if (o.exemplars > 0 || !o.budget) return own;
  // One more than it can pay: that the budget is spent is then what ends the run.
  const double most = within_budget(*o.budget) / cheapest(o.conditions, n) + 1;
  const Index open = candidate_count(o.conditions, n);
  own.exemplars = most < static_cast<double>(open) ? static_cast<Index>(most) : open;
  return own;
}

std::optional<std::string> find_problem_per_class(const SelectOptions& o) {
  if (o.budget)
    return "a budget is for all points together; choose without classes, or class by class";
  if (!o.conditions.groups.empty())
    return "groups are for all points together, and classes are groups already: leave one of them "
           "out";
  return std::nullopt;
}

Index missing_of_floors(const Conditions& c, std::span<const Index> exemplars) {
  if (c.groups.empty() || c.at_least.empty()) return 0;
  std::map<std::string, Index> found;
  for (const Index i : exemplars) ++found[c.groups[at(i)]];
  Index missing = 0;
  for (const std::string& name : c.groups.names())
    missing += std::max<Index>(0, c.at_least.of(name).value_or(0) - found[name]);
  return missing;
}

double mean_cost(const Conditions& c, Index n) {
  if (c.costs.empty()) return 1;
  double sum = 0;
  const std::vector<Index> candidates = candidates_of(c, n);
  for (const Index i : candidates) sum += c.costs[at(i)];
  return sum / static_cast<double>(candidates.size());
}

double weight_of_all(const Conditions& c, Index n) {
  return c.weights.empty() ? static_cast<double>(n)
                           : std::accumulate(c.weights.begin(), c.weights.end(), 0.0);
}

Conditions conditions_of(const Conditions& c, std::span<const Index> members) {
  Conditions own{.at_least = c.at_least, .at_most = c.at_most};
  for (std::size_t m = 0; m < members.size(); ++m) {
    const std::size_t i = at(members[m]);
    if (!c.candidates.empty()) own.candidates.push_back(c.candidates[i]);
    if (!c.weights.empty()) own.weights.push_back(c.weights[i]);
    if (!c.costs.empty()) own.costs.push_back(c.costs[i]);
    if (!c.groups.empty()) own.groups.add(c.groups[i]);
  }
  for (const Index i : c.included) {
    const auto found = std::lower_bound(members.begin(), members.end(), i);
    if (found != members.end() && *found == i) own.included.push_back(found - members.begin());
  }
  return own;
}

std::optional<std::string> find_problem_with_conditions(const SelectOptions& o, Index n) {
  const Conditions& c = o.conditions;
  for (const Problem& problem :
       {wrong_length("marks of candidates", c.candidates.size(), n),
        wrong_length("weights", c.weights.size(), n), wrong_length("costs", c.costs.size(), n),
        wrong_length("groups", c.groups.size(), n), find_problem_with_weights(c.weights),
        find_problem_with_costs(c.costs), find_in_included(c, n), find_in_combinations(o)})
    if (problem) return problem;
  if (o.budget && !(*o.budget > 0 && std::isfinite(*o.budget)))
    return fmt::format("the budget must be a positive number, got {}", *o.budget);
  if (o.until_error && !(*o.until_error >= 0 && *o.until_error < 1))
    return fmt::format(
        "until_error is the share that may stay unexplained, from 0 up to (but not) 1, got {}",
        *o.until_error);
  if (o.time_limit && !(*o.time_limit > 0))
    return fmt::format("the time limit must be a positive number of seconds, got {}",
                       *o.time_limit);
  if (c.empty() && !o.budget) return std::nullopt;
  const Index open = candidate_count(c, n);
  if (open < 1)
    return "no point may be chosen: all are left out or included already; leave out fewer";
  if (o.exemplars > open && !is_limit(o))
    return fmt::format(
        "{} exemplars were asked for, but only {} of {} points may be chosen; ask for at most {}",
        o.exemplars, open, n, open);
  if (o.budget && cheapest(c, n) > within_budget(*o.budget))
    return fmt::format("a budget of {} pays for nobody: the cheapest candidate costs {}", *o.budget,
                       cheapest(c, n));
  return find_in_groups(o, n);
}

}  // namespace fwsr
