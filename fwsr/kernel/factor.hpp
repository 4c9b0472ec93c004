// A low-rank factor F (n x rank) of a kernel matrix, K ~ F F^T: what takes the place of the points
// when neither n x n memory nor n^2 time a step is to be had.
//
//   L              landmarks: `rank` of the points
//   K_LL = G G^T   their kernel matrix and its Cholesky factor
//   F = K_nL G^-T  so that F F^T = K_nL K_LL^-1 K_Ln (Nystroem), exact in the rows of L
//
// Row i of F holds the coordinates of point i, projected in the kernel's space on the span of the
// landmarks. So ||f_i||^2 <= K_ii, what is lost of point i is K_ii - ||f_i||^2, and the sum of
// these, tr(K - F F^T), is known exactly once F is there.
//
// When the landmarks (landmarks.hpp) lose no more than rounding of any point they were chosen from,
// there are no more of them, and F has fewer columns than asked for. Nothing is random, and no bit
// depends on the number of threads.
//
//   cost    choosing m rank^2 for a sample of m points;  then one sweep over all points:
//           2 n d rank (products with the landmarks) + n rank (exponentials) + n rank^2 (G^-T)
//   memory  n rank numbers (float32 for float32 points), the sample's m rank doubles while choosing
#pragma once

#include <memory>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/landmarks.hpp"

namespace fwsr {

class Factor {
 public:
  /// Without the eta term. `single`: F in float32, else in double.
  /// `kernel` is that of `exact`, and `points` those it is computed from. `keep_going` is asked at every
  /// block. @pre 1 <= rank <= n
  Factor(const KernelMatrix& exact, const Points& points, const Kernel& kernel, Index rank,
         bool single, int threads, const KeepGoing& keep_going = {});

  /// Of points that are somewhere else, and so are the rows: landmarks, the largest K_ii, and what it leaves out once
  /// that is known.
  Factor(Index size, Landmarks chosen, double largest);
  void tell_error(double lost, double trace);
  /// Landmarks that add less than this to any point of the sample, relative to the largest K_ii, are rounding.
  static double least_pivot(bool single);

  Index size() const { return size_; }
  Index rank() const { return static_cast<Index>(landmarks_.size()); }
  const std::vector<Index>& landmarks() const { return landmarks_; }
  /// F F^T = unit()^2 x the kernel in its own scaled units: a power of two that brings the largest
  /// ||f_i|| near 1, however large the eta beside which the kernel was scaled.
  double unit() const { return unit_; }
  /// tr(K - F F^T) / tr K, between 0 and 1.
  double error() const { return error_; }
  /// G, one row after the other.
  const std::vector<double>& lower() const { return lower_; }
  /// F, one row per point, as points to select from. @pre they are here
  PointsView rows() const;

  /// Theta G^-1, for a matrix Theta of `rows` rows of rank() numbers: combinations of the
  /// coordinates in F as combinations of the kernel values with the landmarks.
  void to_landmarks(double* theta, Index rows) const;

 private:
  template <class T>
  void fill(const KernelMatrix& exact, const Points& points, const Kernel& kernel, T* out,
            int threads, const KeepGoing& keep_going);

  Index size_ = 0;
  std::vector<Index> landmarks_;
  std::vector<double> lower_;  // G, rank x rank
  double unit_ = 1;
  std::unique_ptr<float[]> single_;
  std::unique_ptr<double[]> double_;
  double error_ = 0;
};

/// F F^T (+ eta^2) as a kernel matrix, equal to `exact` up to the factor's error and its units.
/// `rows`: inner products of the factor's rows, with exact.eta() * factor.unit() as their eta.
std::unique_ptr<KernelMatrix> make_factor_kernel(const Factor& factor,
                                                 std::unique_ptr<KernelMatrix> rows,
                                                 const KernelMatrix& exact);

}  // namespace fwsr
