// Assignment and new medoids in turns: k-medoids in the manner of k-means.
#pragma once

#include <vector>

#include "fwsr/methods/medoid_search.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// Takes turns until no medoid moves, or `max_iterations` times. @pre column o is candidate o
template <class T>
MedoidSearch alternating_search(const DissimilarityTable<T>& table, const Task& task,
                                std::vector<Index> medoids);

}  // namespace fwsr
