// Which exchanges of one exemplar for one other point keep the conditions of a choice: floors and caps of groups, and
// what all exemplars together may cost.
//
// Floors and caps are kept by every exchange within a group; one between groups takes an exemplar from a group that has
// more than its floor, to one that has less than its cap. The cost of all may not rise above the budget, and where there
// are costs but no budget not above what the choice costs that the exchanges begin with.
#pragma once

#include <optional>
#include <vector>

#include "fwsr/solver/options.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// For the exemplars of the moment: who may take whose place. Small, and the same wherever the points live.
struct Partners {
  std::vector<Index> groups;  // of every exemplar; empty: there are none
  std::vector<Index> spare;   // of every exemplar: 1 where its group has more than its floor
  std::vector<Index> room;    // of every group: 1 where it has less than its cap
  std::vector<double>
      most;  // of every exemplar: what another in its place may cost; empty: anything
  std::vector<Index>
      refused;  // exemplar, point, exemplar, point ...: exchanges that are not permitted besides

  /// Whether groups or costs decide.
  bool decide() const { return !groups.empty() || !most.empty(); }
  /// Whether point j may take the place of exemplar p, by its group and its cost: those of `terms`.
  bool allow(Index p, Index j, const Terms& terms) const {
    const auto at = [](Index i) { return static_cast<std::size_t>(i); };
    if (!most.empty() && terms.cost(j) > most[at(p)]) return false;
    if (groups.empty()) return true;
    const Index g = terms.groups[at(j)];
    return g == groups[at(p)] || (spare[at(p)] == 1 && room[at(g)] == 1);
  }
};

class Permitted {
 public:
  Permitted() = default;  // everything
  /// `exemplars`: those that the exchanges begin with. @pre `terms` outlives it
  Permitted(const SelectOptions& options, const Terms& terms, const std::vector<Index>& exemplars);

  Partners beside(const std::vector<Index>& exemplars) const;
  /// Whether point j may take the place of exemplar p of those that `partners` are for.
  bool allow(const Partners& partners, Index p, Index j) const {
    return !partners.decide() || partners.allow(p, j, *terms_);
  }
  double cost(Index point) const { return terms_ ? terms_->cost(point) : 1.0; }

 private:
  double cost_of(const std::vector<Index>& exemplars) const;

  const Terms* terms_ = nullptr;
  std::vector<Index> floors_, caps_;  // of every group; empty: none
  std::optional<double> most_;        // what all may cost
};

}  // namespace fwsr
