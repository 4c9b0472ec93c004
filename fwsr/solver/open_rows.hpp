// Who may be picked beside the exemplars that there are: floors and caps of groups, and what is left of a budget.
#pragma once

#include <optional>
#include <vector>

#include "fwsr/solver/options.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

class OpenRows {
 public:
  OpenRows() = default;  // everybody, always
  OpenRows(const SelectOptions& options, const Terms& terms, Index n);

  /// False: everybody may be picked, always.
  bool conditional() const { return !plain_; }
  /// Whether prices stay as they are for the whole run, and are all 1 or 0.
  bool steady() const { return !changes() && costs_.empty(); }
  /// After a change of the exemplars: true when prices are others than before.
  bool update(const std::vector<Index>& exemplars);
  /// For every point 0 where it may not be picked, else 1 / cost^2; its squared score is multiplied with this.
  const std::vector<double>& prices() const { return prices_; }
  double cost(Index point) const { return costs_.empty() ? 1.0 : costs_[place(point)]; }
  /// Why nobody new may be picked, where that is so.
  std::optional<Status> ended() const { return ended_; }

 private:
  static std::size_t place(Index i) { return static_cast<std::size_t>(i); }
  bool changes() const { return !groups_.empty() || budget_.has_value(); }
  double price(Index j) const { return 1 / (cost(j) * cost(j)); }

  bool plain_ = true;
  Index exemplars_ = 0;           // k
  std::vector<char> candidates_;  // of every point
  Index candidate_count_ = 0;
  std::vector<double> costs_;         // empty: 1
  std::vector<Index> groups_;         // of every point; empty: none
  std::vector<Index> floors_, caps_;  // of every group
  std::optional<double> budget_;
  std::vector<double> prices_;
  std::optional<std::vector<Index>> beside_;  // the exemplars that prices are for
  std::optional<Status> ended_;
};

}  // namespace fwsr
