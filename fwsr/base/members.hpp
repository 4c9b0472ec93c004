// Which points of a matrix those of a run are: all, or some.
#pragma once

#include <span>

#include "fwsr/base/at.hpp"

namespace fwsr {

struct AllMembers {
  Index operator()(Index i) const { return i; }
};
struct SomeMembers {
  std::span<const Index> subset;
  Index operator()(Index i) const { return subset[at(i)]; }
};

/// Calls use(source) where source(i) is the row of point i: i, or subset[i] where there is a subset. Two types, so
/// that loops over all points read neighbours.
template <class Use>
void with_members(std::span<const Index> subset, const Use& use) {
  if (subset.empty())
    use(AllMembers{});
  else
    use(SomeMembers{subset});
}

}  // namespace fwsr
