// Sums of outer products over all points, and quadratic forms of every point: the two matrix
// products of the covariance form's set-up. Both cut the work into blocks of constant size.
#pragma once

#include <functional>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Writes rows first .. last of some n x d matrix to `out`, row by row. Called from many threads.
template <class T>
using FillRows = std::function<void(Index first, Index last, T* out)>;

/// sum_i b_i b_i^T (d x d, full) over the rows b_i of the matrix that `fill` writes. Products in T
/// on blocks of 1024 rows (64 for float), blocks added in double, first to last.
template <class T>
std::vector<double> gram_of_rows(Index n, Index d, int threads, const FillRows<T>& fill);

/// Calls visit(i, a_i, y_i, z_i) for every row a_i of the matrix that `fill` writes, with
/// y_i = a_i^T M and z_i = y_i^T N (M, N are d x d; without N, z_i is null). Products in T. Rows of
/// a block come in order; blocks in parallel.
template <class T>
using VisitProducts = std::function<void(Index i, const T* a, const T* y, const T* z)>;
template <class T>
void visit_products(Index n, Index d, int threads, const FillRows<T>& fill,
                    const std::vector<double>& m, const std::vector<double>* second,
                    const VisitProducts<T>& visit);

}  // namespace fwsr
