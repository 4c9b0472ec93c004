// What is said about the picks of a method, whatever the method.
#pragma once

#include "fwsr/methods/task.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// Those that were there already, then those that were chosen.
void list_exemplars(const Task& task, std::vector<Index> chosen, Selection& result);

/// Exemplars, weights, assignment, codes, warnings and certificate from the picks; fills up, where the options
/// say so. `prepared`: what the task was made of; empty, where the data are dissimilarities. `result` has its plan.
void describe_picks(const Task& task, const PreparedProblem& prepared, Picks picks,
                    const SelectOptions& options, Selection& result);

}  // namespace fwsr
