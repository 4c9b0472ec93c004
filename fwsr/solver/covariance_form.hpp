// Linear kernel, q = 2: O(n d) a step, no n x n matrix, no copy of the points.
//
// Because X = Theta A_B^T A on the chosen rows, the residual is R = A - A X = E A with one d x d
// matrix E, which starts as I. With C = A A^T:
//
//   w = E^T a_j      nu^2 = w^T C w      A v = C w / nu      R v = E A v
//   <X, P> = tr E C - f                  <X, K X> = tr C - 2 tr E C + f
//   per point x = a_i.a_j, y = a_i.(A v), z = a_i.(R v) feed the scores (scores.hpp)
//   E <- (1 - gamma) E + gamma I - (length / nu) a_j w^T     (residual.hpp)
//
//   cost        set-up n d^2 (C) + n d^2 (r);  each step one pass over the points and O(d^2)
//   memory      3 n + 3 d^2 doubles beside the points
//
// The recursive scores lose digits as f falls. nu^2 is exact, so when it disagrees with the pick's
// recursive score, all scores and f are computed anew from E and the choice is made again. float32
// points start with products in float32; when f has fallen so far that these no longer carry it, C
// and r are computed anew in double.
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/residual.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

class CovarianceForm final : public Form {
 public:
  /// `single`: products of the set-up in float32. `alive` is asked now and then during set-up, and
  /// Interrupted is thrown when it says no.
  CovarianceForm(const Points& points, bool single, int threads, const Alive& alive = {});

  double objective() const override { return f_; }
  Pick best() override;
  Probe probe(const Pick& pick) override;
  void step(const Pick& pick, double gamma, double length) override;

  /// What the raw data alone says: C and r.
  const std::vector<double>& covariance() const { return c_; }
  const std::vector<double>& r() const { return scores_.r; }
  /// What rounding may have done to r.
  double r_error() const { return r_error_; }

 private:
  void set_up(bool single);
  void set_up_double();
  void set_up_single();
  void recompute();
  double exact_score(Index j);

  const Points& points_;
  int threads_;
  Alive alive_;
  Index dim_;
  bool single_ = false;    // C and r come from float32 products
  std::vector<double> c_;  // C, dim x dim
  Residual e_;
  Scores scores_;
  double r_error_ = 0;
  double trace_ = 0, f_ = 0, f_at_zero_ = 0;
  std::vector<double> a_, w_, cw_, av_, rv_;  // a_j, w, C w, A v, R v
  Points::Direction a_pass_, av_pass_, rv_pass_;
  double tr_ec_ = 0;
};

}  // namespace fwsr
