// The one seam of the solver: everything the Frank-Wolfe loop asks of a representation of (A, X, P).
//
//   paper             code          meaning
//   A, K = A^T A      points        one column a_i of A per point; K any kernel matrix
//   X                 -             the codes, n x n with few non-zero rows, held as a form likes
//   P = K - K X       -             minus half the gradient; its row p_i scores point i
//   j, nu, v          Pick, score   the best row, its dual norm, the direction with <v, p_j> = nu
//   S = beta e_j v^T  -             the oracle's answer
//
// Nothing of length n crosses the seam while the loop runs, so a form may keep its points anywhere.
#pragma once

#include <cstdint>
#include <span>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/exact_step.hpp"
#include "fwsr/solver/run_products.hpp"

namespace fwsr {

/// j and nu of Algorithm 1, line 9.
struct Pick {
  Index point = -1;
  double score = 0;
};

class Form {
 public:
  virtual ~Form() = default;

  /// f(X) = ||A X - A||^2.
  virtual double objective() const = 0;
  /// Goes over to double precision when f has fallen too far for float32. Asked before anything is
  /// decided from f.
  virtual void refine() {}
  /// What the loop is about to do, as far as it can be told: the next `steps` steps (0: not even one) are exact ones
  /// with this radius, unless before one of them f is at most `least_f`, or the gap at most `closed`. A form may go
  /// ahead.
  struct Ahead {
    double beta = 0, closed = 0, least_f = 0;
    Index steps = 0;
  };
  virtual void expect(const Ahead&) {}
  /// From now on best() is that with the largest ||p_i||^2 prices[i], of those whose price is not 0. One for each
  /// point.
  virtual void offer(std::span<const double> prices) = 0;
  /// The point with the largest dual norm ||p_i||; of equal ones the smallest index.
  virtual Pick best() = 0;
  /// @pre `pick` is what best() answered for the present X
  virtual Probe probe(const Pick& pick) = 0;
  /// X <- (1 - gamma) X + length e_j v^T. An ordinary step has length = gamma beta; the
  /// matching-pursuit limit has gamma = 0.
  virtual void step(const Pick& pick, double gamma, double length) = 0;

  // To go on from where another run was (recorder.hpp), without looking at the scores on the way. A form that cannot is
  // run from the start.
  virtual bool can_recall() const { return false; }
  /// best(), where it is known who that is, and whether scores were computed anew for it.
  virtual Pick recall(Index /*point*/, bool /*rescored*/) { return {}; }
  /// step() without the scores, and all scores after such steps.
  virtual void step_unseen(const Pick& /*pick*/, double /*gamma*/, double /*length*/) {}
  virtual void catch_up() {}
  /// Whether the last best() computed all scores anew; and the point it was about, as a number that tells points apart.
  virtual bool rescored() const { return false; }
  virtual std::uint64_t mark_of_pick() const { return 0; }

  /// What the description of the run can use again. The form is of no use afterwards.
  virtual RunProducts take_products() = 0;
};

}  // namespace fwsr
