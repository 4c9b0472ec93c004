#include "fwsr/solver/open_rows.hpp"

#include <algorithm>

namespace fwsr {

OpenRows::OpenRows(const SelectOptions& o, const Terms& terms, Index n)
    : exemplars_(o.exemplars), costs_(terms.costs), budget_(o.budget) {
  const Conditions& c = o.conditions;
  const bool quotas = !terms.groups.empty();
  plain_ = terms.candidates.empty() && costs_.empty() && !quotas && !budget_;
  if (plain_) return;
  candidates_ = candidate_marks(terms, n);
  if (candidates_.empty()) candidates_.assign(place(n), 1);
  candidate_count_ = std::count(candidates_.begin(), candidates_.end(), char{1});
  if (!quotas) return;
  groups_ = terms.groups;
  floors_ = floors_of(c);
  caps_ = caps_of(c);
}

bool OpenRows::update(const std::vector<Index>& exemplars) {
  if (plain_ || beside_ == exemplars) return false;
  const bool first = !beside_;
  beside_ = exemplars;
  if (!first && !changes()) {  // prices stay; whether somebody is left is a matter of counting
    if (std::ssize(exemplars) == candidate_count_) ended_ = Status::candidates_exhausted;
    return false;
  }
  double spent = 0;
  std::vector<Index> missing = floors_, room = caps_;
  for (const Index j : exemplars) {
    spent += cost(j);
    if (groups_.empty()) continue;
    const auto g = place(groups_[place(j)]);
    missing[g] = std::max<Index>(0, missing[g] - 1);
    room[g] = std::max<Index>(0, room[g] - 1);
  }
  Index all_missing = 0;
  for (const Index m : missing) all_missing += m;
  const bool only_missing = exemplars_ - std::ssize(exemplars) <= all_missing && all_missing > 0;
  const double left = budget_ ? within_budget(*budget_) - spent : 0;

  std::vector<char> open = candidates_;
  for (const Index j : exemplars) open[place(j)] = 0;
  prices_.assign(open.size(), 0.0);
  bool anybody = false, too_dear = false;
  for (Index j = 0; j < std::ssize(open); ++j) {
    if (!open[place(j)]) continue;
    const std::size_t g = groups_.empty() ? 0 : place(groups_[place(j)]);
    if (!groups_.empty() && (room[g] == 0 || (only_missing && missing[g] == 0))) continue;
    const bool dear = budget_ && cost(j) > left;
    too_dear = too_dear || dear;
    anybody = anybody || !dear;
    if (!dear) prices_[place(j)] = price(j);
  }
  for (const Index j : exemplars) prices_[place(j)] = price(j);  // steps may come back to them
  ended_.reset();
  if (!anybody) ended_ = too_dear ? Status::budget_spent : Status::candidates_exhausted;
  return true;
}

}  // namespace fwsr
