// Points in the memory of this process, mapped from a file, or streamed from one: the plain PointSet, and the oracle
// of others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/point_set.hpp"

namespace fwsr {

class LocalPoints final : public PointSet {
 public:
  /// `points` are the caller's. `alive` is asked now and then during set-up, and Interrupted is thrown when it says
  /// no.
  LocalPoints(const Points& points, int threads, Alive alive = {});
  /// The points of `without`, which has no eta, with one: C and r come from those without, and one pass serves runs of
  /// both.
  LocalPoints(const Points& points, LocalPoints& without);

  PointFacts facts() const override;
  std::shared_ptr<const Covariance> covariance(bool single) override;
  std::unique_ptr<PointRun> begin(const Covariance& covariance) override;
  void row(Index i, double* out) const override { points_.row(i, out); }
  void advance(std::span<const PointUpdate> updates) override;

  LinearSums describe(const Covariance& covariance, const CodesOf& x, const Wanted& wanted,
                      Selection& selection) const override;
  double residual_sum(const CodesOf& x) const override;
  double score_of(Index i, const CodesOf& x) const override;
  ScoreBound largest_score(const CodesOf& x) const override;
  Regression project(std::span<const Index> exemplars) const override;

 private:
  class Run;

  const Points& points_;
  LocalPoints* without_ = nullptr;
  int threads_;
  Alive alive_;
  std::weak_ptr<const Covariance> known_[2];     // in double, in single
  std::shared_ptr<const Covariance> shared_[2];  // held for the sets with an eta
};

}  // namespace fwsr
