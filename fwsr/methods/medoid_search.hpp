// What the parts of k-medoids (medoids.hpp) have in common: the table they look at, and what a search finds.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

/// d(j, o): one row for each candidate, one column for each point that counts. Points that count more
/// have a weight, or larger dissimilarities.
template <class T>
struct DissimilarityTable {
  const T* data = nullptr;
  Index stride = 0;  // from one row to the next
  Index candidates = 0;
  Index columns = 0;
  std::span<const Index> points = {};    // the candidate that each column is; empty: column o is o
  std::span<const double> weights = {};  // what each column counts, 1 at most; empty: 1 each

  const T* row(Index j) const { return data + j * stride; }
  Index point(Index column) const {
    return points.empty() ? column : points[static_cast<std::size_t>(column)];
  }
  double weight(Index column) const {
    return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(column)];
  }
};

/// How the medoids of one run were found.
struct MedoidSearch {
  std::vector<Index> medoids;
  double cost = 0;         // TD, as the table has it
  Index swaps = 0;         // medoids that became another point
  Index iterations = 0;    // times that all candidates were tried, begun ones included
  bool converged = false;  // no swap improves TD; for alternate_medoids: no medoid moves
};

/// What is not less by this part of a sum is rounding: two points that have only each other near are equal
/// candidates.
inline constexpr double clearly_less = 1 - sum_width;

}  // namespace fwsr
