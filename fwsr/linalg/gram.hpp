// Sums of outer products over all points, and quadratic forms of every point: the matrix products of
// the covariance form's set-up. All cut the work into blocks of constant size.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"

namespace fwsr {

/// Writes rows first .. last of some n x d matrix to `out`, row by row. Called from many threads.
template <class T>
using FillRows = std::function<void(Index first, Index last, T* out)>;

/// Sums over the rows b_i of the matrix that `fill` writes: of b_i b_i^T (d x d, the upper triangle,
/// zeros below) and of b_i. Products in T over a thousand rows, added in double, segment by segment (blocks.hpp).
struct Gram {
  std::vector<double> products, rows;
};
template <class T>
Gram gram_of_rows(Index n, Index d, int threads, const FillRows<T>& fill);
/// The same as a portion of the rows tells it.
template <class T>
SegmentSums<Gram> gram_in_segments(const Portion& portion, Index d, int threads,
                                   const FillRows<T>& fill);
/// One added to the other; `to` may be empty.
void add_gram(Gram& to, const Gram& more);

/// What a thread holds of sums in it, in bytes, in addition to the rows and one product.
double gram_sum_bytes(const Portion& rows, Index d);

/// Copies the upper triangle of a d x d matrix to the lower.
void mirror(Index d, std::vector<double>& m);

/// a_i^T M a_i for every row a_i of the matrix that `fill` writes; M symmetric, d x d, of which
/// the upper triangle is read. Products in T, with that triangle only, in blocks whose height depends on
/// the number of all rows. Tells them block by block, in parallel.
using VisitForms = std::function<void(Index first, Index last, const double* forms)>;
template <class T>
void quadratic_forms(const Portion& portion, Index d, int threads, const FillRows<T>& fill,
                     std::span<const double> m, const VisitForms& visit);

/// Calls visit(i, a_i, y_i, z_i) for every row a_i of the matrix that `fill` writes, with
/// y_i = a_i^T M and z_i = y_i^T N (M, N are d x d). Rows of a block come in order; blocks in
/// parallel.
using VisitProducts =
    std::function<void(Index i, const double* a, const double* y, const double* z)>;
void visit_products(const Portion& portion, Index d, int threads, const FillRows<double>& fill,
                    std::span<const double> m, std::span<const double> second,
                    const VisitProducts& visit);

}  // namespace fwsr
