// Conditions (conditions.hpp) as the forms meet them: what every point counts, who may be picked, at what cost.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/conditions.hpp"

namespace fwsr {

/// Lists that are empty say: 1 each, all points, nobody.
struct Terms {
  std::vector<double> weights = {};    // s_i of every point
  std::vector<Index> candidates = {};  // ascending
  std::vector<double> costs = {};      // of every point
  std::vector<Index> included = {};    // B_0

  bool weighted() const { return !weights.empty(); }
  double weight(Index i) const { return weighted() ? weights[static_cast<std::size_t>(i)] : 1.0; }
  double cost(Index i) const { return costs.empty() ? 1.0 : costs[static_cast<std::size_t>(i)]; }
  /// The place of candidate c among all points.
  Index point(Index c) const {
    return candidates.empty() ? c : candidates[static_cast<std::size_t>(c)];
  }
  bool plain() const {
    return weights.empty() && candidates.empty() && costs.empty() && included.empty();
  }
};

/// Of n points. Conditions that ask nothing become empty lists: weights and costs that are all 1, candidates that are all.
Terms terms_of(const Conditions& conditions, Index n);
/// Those of points first .. first + size.
Terms terms_of(const Terms& terms, Index first, Index size);

/// For every point 1 where it is a candidate, else 0; empty: all are.
std::vector<char> candidate_marks(const Terms& terms, Index n);

}  // namespace fwsr
