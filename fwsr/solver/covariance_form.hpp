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

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "fwsr/solver/form.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/residual.hpp"

namespace fwsr {

class CovarianceForm final : public Form {
 public:
  /// `single`: products of the set-up in float32. The points are the caller's, who may have other runs on them;
  /// `threads` are for what is small.
  CovarianceForm(PointSet& points, bool single, int threads);

  double objective() const override { return f_; }
  void offer(std::span<const double> prices) override { run_->offer(prices); }
  Pick best() override;
  Probe probe(const Pick& pick) override;
  void step(const Pick& pick, double gamma, double length) override;

  // step() in two halves around the pass, which may serve other forms as well.
  PointUpdate before_pass(const Pick& pick, double gamma, double length);
  void after_pass(const Pick& pick, double gamma, double length);

  void refine() override;

  bool can_recall() const override { return true; }
  Pick recall(Index point, bool rescored) override;
  void step_unseen(const Pick& pick, double gamma, double length) override;
  void catch_up() override;
  bool rescored() const override { return rescored_; }
  std::uint64_t mark_of_pick() const override;

  RunProducts take_products() override { return {.covariance = std::move(covariance_)}; }

 private:
  void recompute();
  void rescore(const std::vector<double>& e);
  double exact_score(Index j);

  PointSet& points_;
  int threads_;
  Index dim_;
  std::shared_ptr<const Covariance> covariance_;
  double trace_ = 0;  // tr C
  Residual e_;
  std::unique_ptr<PointRun> run_;
  double f_ = 0, f_at_zero_ = 0;
  std::vector<double> a_, w_, cw_, av_, rv_;                 // a_j, w, C w, A v, R v
  Probe probe_;                                              // of the step under way
  double square_ = std::numeric_limits<double>::infinity();  // nu^2 of the last pick
  double tr_ec_ = 0;
  bool rescored_ = false;
  // Of steps whose scores nobody has looked at: from which E they were last computed anew, and the steps since.
  struct Unseen {
    std::vector<double> a, av, rv;
    ScoreStep step;
  };
  bool recalling_ = false;
  std::optional<std::vector<double>> unseen_e_;
  std::vector<Unseen> unseen_;
};

}  // namespace fwsr
