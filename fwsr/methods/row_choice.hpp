// Exemplars from the rows of X: what the methods of the row-sparse program (row_sparse.hpp) share.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// The non-zero rows, largest norm first. Of norms that are equal but for rounding (ties.hpp) the smaller index goes
/// first: those of copies of a point are.
std::vector<Index> rows_by_norm(const std::vector<double>& norms);

/// What smrs and kernel-smrs share: the settings, the cost, and the choice of the k largest rows.
std::vector<Parameter> row_sparse_parameters();
Cost row_sparse_cost(const Sizes& sizes, bool by_features);
Picks choose_row_sparse(const Task& task);

}  // namespace fwsr
