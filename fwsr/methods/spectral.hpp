// Spectral clustering of sparse codes (Ng, Jordan and Weiss 2002): with W = |C| + |C|^T, every column of C divided by its
// largest entry, and its row sums d, the leading eigenvectors of D^-1/2 W D^-1/2 give every point as many coordinates as
// there are clusters; these, brought to norm 1, are clustered by k-means.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/methods/self_expression.hpp"

namespace fwsr {

/// For every point the number of its cluster, in the order in which the points meet them. The same whatever the seed of
/// a run. Where W falls into as many parts as there are clusters, or more, the largest parts are the clusters, and every
/// further part goes to the smallest.
/// @pre 0 < count <= codes.size()
std::vector<Index> spectral_clusters(const SparseCodes& codes, Index count, int threads,
                                     const KeepGoing& keep_going);

double spectral_bytes(double n, double clusters, double nonzeros);
double spectral_flops(double n, double clusters, double nonzeros);

}  // namespace fwsr
