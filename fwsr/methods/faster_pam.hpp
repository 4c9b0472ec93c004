// FasterPAM: the swaps of k-medoids (Schubert and Rousseeuw, "Fast and eager k-medoids clustering", 2021).
#pragma once

#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/medoid_search.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// Swaps medoids for candidates until no swap improves TD, or all candidates were tried `max_iterations` times.
/// @pre two medoids at least
template <class T>
MedoidSearch swap_search(const DissimilarityTable<T>& table, const Task& task,
                         std::vector<Index> medoids, Rng& rng);

}  // namespace fwsr
