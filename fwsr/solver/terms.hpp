// Conditions (conditions.hpp) as the forms meet them: what every point counts, who may be picked, at what cost.
#pragma once

#include <algorithm>
#include <numeric>
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
  std::vector<Index> groups = {};      // of every point, where they have floors or caps

  bool weighted() const { return !weights.empty(); }
  double weight(Index i) const { return weighted() ? weights[static_cast<std::size_t>(i)] : 1.0; }
  double cost(Index i) const { return costs.empty() ? 1.0 : costs[static_cast<std::size_t>(i)]; }
  /// The place of candidate c among all points.
  Index point(Index c) const {
    return candidates.empty() ? c : candidates[static_cast<std::size_t>(c)];
  }
  /// The place of a point among the candidates. @pre it is one
  Index place(Index point) const {
    return candidates.empty()
               ? point
               : std::lower_bound(candidates.begin(), candidates.end(), point) - candidates.begin();
  }
  /// sum_i s_i of n points.
  double weight_of_all(Index n) const {
    return weighted() ? std::accumulate(weights.begin(), weights.end(), 0.0)
                      : static_cast<double>(n);
  }
  bool plain() const {
    return weights.empty() && candidates.empty() && costs.empty() && included.empty() &&
           groups.empty();
  }
};

/// Of n points. Conditions that ask nothing become empty lists: weights and costs that are all 1, candidates that are all.
Terms terms_of(const Conditions& conditions, Index n);
/// Those of points first .. first + size.
Terms terms_of(const Terms& terms, Index first, Index size);

/// For every point 1 where it is a candidate, else 0; empty: all are.
std::vector<char> candidate_marks(const Terms& terms, Index n);

}  // namespace fwsr
