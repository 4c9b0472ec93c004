// Points that span the others in the kernel's space: the pivots of a pivoted Cholesky factorisation
// of K among a sample of evenly spaced points.
//
//   s, m      a point of the sample, and their number
//   W         m x t: the Cholesky factor after t pivots
//   left_s    K_ss - ||w_s||^2: what the pivots so far leave of point s
//
// A pivot p is drawn in proportion to left_s, and then
//
//   w_st = (K_sp - <w_s, w_p>) / sqrt(left_p)      left_s <- left_s - w_st^2
//
// (Chen, Epperly, Tropp, Webber: Randomly pivoted Cholesky, 2022). Drawn, not the largest: the
// largest are outliers, which stand for nobody but themselves. The draws are not random but
// multiples of the golden ratio modulo 1, which spread evenly however many there are. A batch of
// pivots is drawn at once, so that the work is matrix products; those of which the others of the
// batch leave nothing are passed over.
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"

namespace fwsr {

/// L and G with K_LL = G G^T, one row of G (zeros behind its diagonal) per landmark.
struct Landmarks {
  std::vector<Index> points;  // in the order of choosing
  std::vector<double> lower;
};

/// At least one, at most `rank`; fewer when those chosen leave no more than `least`, relative to the
/// largest K_ii, of any point of the sample. Without the eta term. The same for any number of
/// threads. @pre 1 <= rank <= n
Landmarks choose_landmarks(const KernelMatrix& kernel, Index rank, double least, int threads,
                           const KeepGoing& keep_going = {});

/// m: how many points they are chosen from.
Index landmark_sample(Index n, Index rank);

}  // namespace fwsr
