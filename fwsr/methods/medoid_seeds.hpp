// Where a search for medoids begins.
#pragma once

#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/methods/medoid_search.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// k different candidates, by the setting `init`; one medoid is the best there is.
template <class T>
std::vector<Index> first_medoids(const DissimilarityTable<T>& table, const Task& task, Rng& rng);

}  // namespace fwsr
