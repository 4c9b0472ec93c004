// The middle: exemplars go from where exchange left them to the middle of the points that they stand for.
//
// Every point belongs to the exemplar nearest to it (nearest_exemplar.hpp). For the linear kernel m_p is the mean of the
// points that exemplar p stands for, and the one of them nearest to m_p is the one with the least sum of squared distances
// from all of them. With W_p their number it lowers, in the place of the exemplar t,
//
//   h(T) = sum_i min_t ||a_i - a_t||^2      by at least      W_p (||a_t - m_p||^2 - ||a_i - m_p||^2)
//
// Then every point is given to the exemplar nearest to it anew, which lowers h too, until none moves. Two visits to the
// points are a round.
//
// For kernels of squared distances (rbf) h is that of the kernel's space, sum_i min_t 2 (1 - K_it), and a_i are the points
// themselves. Where k(||x - y||^2) is convex, a sum of kernel values lies above what its slopes say, so that the same holds
// with points that count by their value with their exemplar, whose slope is gamma times that:
//
//   m_p = sum_i K_it a_i / W_p      W_p = sum_i K_it      h falls by at least      2 gamma W_p (||a_t - m_p||^2 - ...)
//
// Who is far from his exemplar hardly counts; means of all points alike would be those of the outliers. For other kernels
// everything is in the kernel's space,
//
//   ||a_i - m_p||^2 - ||m_p||^2 = K_ii - 2 sum_j K_ij / n_p      j of the same group
//
// Nothing is in the space of a factor: points that its landmarks leave out are near to nothing there, or to everything.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/exchange.hpp"

namespace fwsr {

class PointSet;
struct PreparedProblem;

/// For every exemplar the point in the middle of those it stands for, and by how much h falls; no more than `least` is
/// rounding.
struct Middles {
  std::vector<Offer> offers;
  double least = 0;
};

/// What a point counts in the mean of its group: 1, or the kernel's value with its exemplar.
struct MiddleWeights {
  KernelType kernel = KernelType::linear;
  double gamma = 0;  // for points as they are here, scaled
  double of(double squared_distance) const {
    if (formula_of(kernel).linear) return 1;
    return formula_of(kernel).value({.gamma = gamma}, squared_distance);
  }
};

/// Points in whose space exemplars move, wherever they live.
class MiddlePoints {
 public:
  virtual ~MiddlePoints() = default;
  virtual Middles middles(const std::vector<Index>& exemplars) = 0;
};
/// Whether they are the points themselves.
inline bool middle_of_points(KernelType type) {
  const KernelFormula& kernel = formula_of(type);
  return kernel.linear || kernel.of == KernelOf::squared_distances;
}
/// Those of a problem. @pre it outlives them
std::unique_ptr<MiddlePoints> middle_points(const PreparedProblem& prepared, int threads,
                                            const KeepGoing& keep_going);
struct Moved {
  std::vector<Index> exemplars;  // each in the place of the one it was
  Index moves = 0;               // how often one of them moved
  Index rounds = 0;
  bool interrupted = false;  // the exemplars are those of the last whole round
  bool ended = false;        // none would move any more
};
/// `rounds` at most; 0: until none moves. `moved`: where they are, and what it took. Told after every round.
using TellMoved = std::function<void(const Moved& so_far)>;
Moved move_to_middles(MiddlePoints& points, Moved moved, Index rounds, const TellMoved& tell = {});
inline Moved move_to_middles(MiddlePoints& points, std::vector<Index> exemplars, Index rounds) {
  Moved from;
  from.exemplars = std::move(exemplars);
  return move_to_middles(points, std::move(from), rounds);
}

/// What the points are held against: small, and the same wherever they live. All of it less `shift`, the mean of the
/// exemplars, so that a place far from the origin costs no digits.
struct MiddleTables {
  Index dim = 0;
  MiddleWeights weights;
  double least = 0;
  std::vector<Index> exemplars;
  std::vector<double> shift;
  std::vector<double> rows;        // the exemplars, k x dim
  std::vector<double> means;       // m_p, k x dim
  std::vector<double> weight, at;  // W_p and ||a_t - m_p||^2
};
/// What is known before the points have been asked. `rows`: the exemplars.
MiddleTables middle_tables(const std::vector<Index>& exemplars, std::vector<double> rows, Index dim,
                           const MiddleWeights& weights);
/// ... and what follows from group_sums of all of them.
void add_means(MiddleTables& z, std::span<const double> sums);

/// Which points an exemplar stands for, of those at hand: k x (dim + 1) numbers in every segment, the sum of its points
/// and W_p. `groups`: the place of its exemplar for every point at hand.
SegmentSums<std::vector<double>> group_sums(const Points& points, const MiddleTables& z,
                                            std::vector<Index>& groups, int threads,
                                            const KeepGoing& keep_going);
/// For every exemplar the best of the points at hand, and by how much h falls.
std::vector<Offer> nearest_to_means(const Points& points, const MiddleTables& z,
                                    const std::vector<Index>& groups, int threads,
                                    const KeepGoing& keep_going);

}  // namespace fwsr
