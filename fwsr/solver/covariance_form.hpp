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

#include <functional>
#include <memory>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/residual.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

/// What the points alone say, whatever the radius: every run on them can share it.
struct Covariance {
  std::vector<double> c;  // C = sum_i a_i a_i^T, dim x dim
  std::vector<double> r;  // r_i = a_i^T C a_i
  double r_error = 0;     // what rounding may have done to r
  bool single = false;    // from float32 products
};
/// `alive` is asked now and then, and Interrupted is thrown when it says no.
Covariance covariance_of(const Points& points, bool single, int threads, const Alive& alive = {});

/// Covariance of `points` from that of `plain`, which are the same without eta: eta borders C by one
/// row and column, and with s = sum_i a_i
///   r_i <- r_i + 2 eta^2 a_i.s + n eta^4.
Covariance border(const Covariance& without, const Points& plain, const Points& points,
                  int threads);

class CovarianceForm final : public Form {
 public:
  /// `single`: products of the set-up in float32. `alive` is asked now and then during set-up, and
  /// Interrupted is thrown when it says no.
  CovarianceForm(const Points& points, bool single, int threads, const Alive& alive = {});
  /// The same with a set-up that others may hold too. `supply` is asked for it, single or not, and
  /// once more when float32 no longer carries the picks.
  using Supply = std::function<std::shared_ptr<const Covariance>(bool single)>;
  CovarianceForm(const Points& points, bool single, int threads, Supply supply);

  double objective() const override { return f_; }
  Pick best() override;
  Probe probe(const Pick& pick) override;
  void step(const Pick& pick, double gamma, double length) override;

  // step() in two halves around the pass, which may serve other forms as well.
  Points::Update before_pass(const Pick& pick, double gamma, double length);
  void after_pass(const Pick& pick, double gamma, double length);

  void refine() override;

  /// What the raw data alone says.
  const std::shared_ptr<const Covariance>& covariance() const { return covariance_; }

 private:
  void find_trace();
  void recompute();
  double exact_score(Index j);

  const Points& points_;
  int threads_;
  Supply supply_;
  Index dim_;
  std::shared_ptr<const Covariance> covariance_;
  double trace_ = 0;  // tr C
  Residual e_;
  Scores scores_;  // its r is the covariance's
  double f_ = 0, f_at_zero_ = 0;
  std::vector<double> a_, w_, cw_, av_, rv_;  // a_j, w, C w, A v, R v
  Points::Direction a_pass_, av_pass_, rv_pass_;
  Probe probe_;  // of the step under way
  double tr_ec_ = 0;
};

}  // namespace fwsr
