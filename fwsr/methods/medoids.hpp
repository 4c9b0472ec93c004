// k-medoids on a table of dissimilarities: where to begin, and the swaps or turns; and what is said about the
// medoids found. The problem, for candidates j = 1 .. n and points o that count:
//
//   minimise over k candidates m_1 .. m_k    TD = sum_o min_t d(m_t, o)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/base/random.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// d(j, o): one row for each candidate, one column for each point that counts. Points that count more
/// have larger dissimilarities.
template <class T>
struct DissimilarityTable {
  const T* data = nullptr;
  Index stride = 0;  // from one row to the next
  Index candidates = 0;
  Index columns = 0;
  std::span<const Index> points = {};  // the candidate that each column is; empty: column o is o

  const T* row(Index j) const { return data + j * stride; }
  Index point(Index column) const {
    return points.empty() ? column : points[static_cast<std::size_t>(column)];
  }
};

/// The knobs that k-medoids has whatever the table.
std::vector<Knob> medoid_knobs();

/// What find_medoids takes, in operations of a matrix product.
double medoid_flops(double candidates, double columns, double k, const Settings& settings);

/// Whether the task's distances are held in float32: its numbers are.
bool holds_single(const Task& task);

/// How the medoids of one run were found.
struct MedoidSearch {
  std::vector<Index> medoids;
  double cost = 0;         // TD, as the table has it
  Index swaps = 0;         // medoids that became another point
  Index iterations = 0;    // times that all candidates were tried, begun ones included
  bool converged = false;  // no swap improves TD; for alternate_medoids: no medoid moves
};

/// The best of `restarts` searches, all settings from the task's. @pre k <= columns <= candidates
template <class T>
MedoidSearch find_medoids(const DissimilarityTable<T>& table, const Task& task);

/// The same by turns: points to their nearest medoid, then to each cluster its best member as medoid, until
/// nothing changes. Fewer points are looked at, and the ends are worse. @pre column o is candidate o
template <class T>
MedoidSearch alternate_medoids(const DissimilarityTable<T>& table, const Task& task);

/// The medoids in the order of their clusters' sizes, largest first, of equal ones the smaller index;
/// a medoid at distance 0 from one of smaller index is left out. Every point is given to its
/// nearest medoid, of equal ones to the one of smallest index. Facts: cost, swaps, iterations.
Picks describe_medoids(const Distances& distances, const Task& task, const MedoidSearch& search);

}  // namespace fwsr
