// k-medoids on a table of dissimilarities: where to begin, and the swaps or turns; and what is said about the
// medoids found. The problem, for candidates j = 1 .. n and points o that count:
//
//   minimise over k candidates m_1 .. m_k    TD = sum_o w_o min_t d(m_t, o)
#pragma once

#include <vector>

#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/medoid_search.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// k-medoids by whatever table: a method with the parameters and conditions that all have, and one parameter of its own.
/// `cost` and `choose` are to be set.
Method medoid_method(std::string name, std::string title, std::string about, Parameter own);

/// What find_medoids takes, in operations of a matrix product.
double medoid_flops(double candidates, double columns, double k, const Settings& settings);

/// Whether the task's distances are held in float32: its numbers are.
bool holds_single(const Task& task);

/// The best of `restarts` searches, all settings from the task's. @pre k <= columns <= candidates
template <class T>
MedoidSearch find_medoids(const DissimilarityTable<T>& table, const Task& task);

/// The same by turns: points to their nearest medoid, then to each cluster its best member as medoid, until
/// nothing changes. Fewer points are looked at, and the ends are worse. @pre column o is candidate o
template <class T>
MedoidSearch alternate_medoids(const DissimilarityTable<T>& table, const Task& task);

/// The weights of all points for a table, the largest of them 1: sums of weights times dissimilarities are then no larger
/// than those of dissimilarities. Empty: 1 each.
std::vector<double> table_weights(const Task& task);

/// The medoids in the order of what their clusters weigh, largest first, of equal ones the smaller index;
/// a medoid at distance 0 from one of smaller index is left out. Every point is given to its
/// nearest medoid, of equal ones to the one of smallest index. Facts: cost, swaps, iterations.
Picks describe_medoids(const Distances& distances, const Task& task, const MedoidSearch& search);

}  // namespace fwsr
