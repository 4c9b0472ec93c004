#include "fwsr/solver/permitted.hpp"

#include "fwsr/base/at.hpp"

namespace fwsr {

Permitted::Permitted(const SelectOptions& o, const Terms& terms,
                     const std::vector<Index>& exemplars)
    : terms_(&terms) {
  if (!terms.groups.empty()) {
    floors_ = floors_of(o.conditions);
    caps_ = caps_of(o.conditions);
  }
  if (o.budget)
    most_ = within_budget(*o.budget);
  else if (!terms.costs.empty())
    most_ = within_budget(cost_of(exemplars));
}

double Permitted::cost_of(const std::vector<Index>& exemplars) const {
  double sum = 0;
  for (const Index j : exemplars) sum += terms_->cost(j);
  return sum;
}

Partners Permitted::beside(const std::vector<Index>& exemplars) const {
  Partners found;
  if (most_) {
    const double left = *most_ - cost_of(exemplars);
    for (const Index j : exemplars) found.most.push_back(left + terms_->cost(j));
  }
  if (floors_.empty()) return found;
  std::vector<Index> counts(floors_.size());
  for (const Index j : exemplars) found.groups.push_back(terms_->groups[at(j)]);
  for (const Index g : found.groups) ++counts[at(g)];
  for (const Index g : found.groups) found.spare.push_back(counts[at(g)] > floors_[at(g)] ? 1 : 0);
  for (std::size_t g = 0; g < counts.size(); ++g)
    found.room.push_back(counts[g] < caps_[g] ? 1 : 0);
  return found;
}

}  // namespace fwsr
