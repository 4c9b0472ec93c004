// The second seam of the solver: the points of the covariance form and the three numbers r, c, h of each
// (scores.hpp), wherever they live. The form keeps C, E and f, which are small, and asks a PointSet for everything of
// length n:
//
//   covariance    C = sum_i a_i a_i^T; r_i = a_i^T C a_i          d^2 numbers are told
//   begin         a run at X = 0, c = h = r                       none
//   leader        the best score and whose it is                  2
//   row           a_i                                             d
//   offer         who may be picked                               n
//   advance       c and h of all points after one step each       3 d for every run
//   rescore       c and h from E and C alone                      d^2
//
// and, when a run has ended, what its codes X = Theta A_B^T A say about the points:
//
//   describe      weights, strength, sums of the certificate      a few for every exemplar; n where asked for
//   residual_sum, score_of, largest_score, project                 one or two numbers
//   offers        who would be best in the place of each exemplar  two numbers for every exemplar
//   middles       who is in the middle of what each stands for     d for every exemplar
//   distances      who is farthest from all exemplars               d for every one that is added
//
// One run and the many of a sweep make the same calls.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/linear_sweep.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/regression.hpp"
#include "fwsr/solver/residual_rows.hpp"
#include "fwsr/solver/selection.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// What a set says about itself.
struct PointFacts {
  Index size = 0;
  Index dim = 0;                           // length of a row ...
  Index features = 0;                      // ... without the one for eta
  bool single = false;                     // stored in float32
  bool in_double = false;                  // all products are in double all the same
  double unit = 1, eta = 0, rms_norm = 0;  // points.hpp
};

/// c and h of all points in one run.
class PointRun {
 public:
  struct Leader {
    Index point = -1;
    double square = 0;  // c_j = ||p_j||^2, by recursion
  };

  virtual ~PointRun() = default;
  /// The smallest index among the points whose square is within a relative `tie` of the largest. Runs may be asked
  /// from several threads, each from one.
  virtual Leader leader(double tie) const = 0;
  /// From now on squares are compared times these, one for each point; 0: not to be picked.
  virtual void offer(std::span<const double> prices) = 0;
  /// c_i = ||C^(1/2) E^T a_i||^2 and h_i = a_i^T E C a_i anew; E is dim x dim.
  virtual void rescore(const Covariance& covariance, const std::vector<double>& e) = 0;
};

/// How far points are from all exemplars, squared (fill.hpp).
class PointDistances {
 public:
  virtual ~PointDistances() = default;
  /// From now on these are exemplars, too. Before anything else is asked, be it with none.
  virtual void lower(std::span<const Index> exemplars) = 0;
  /// `prices`: one for each point; from now on those with 0 are not to be added.
  virtual void permit(std::span<const double> prices) = 0;
  /// The smallest index among those that are farthest of all that may be added; -1: there is none.
  virtual Index farthest() = 0;
};

/// One step of one run: x = a_i.a, y = a_i.av and z = a_i.rv feed the scores of point i.
struct PointUpdate {
  PointRun* run = nullptr;
  const Covariance* covariance = nullptr;
  std::span<const double> a, av, rv;
  ScoreStep step;
};

class PointSet {
 public:
  PointSet() = default;
  PointSet(const PointSet&) = delete;
  PointSet& operator=(const PointSet&) = delete;
  virtual ~PointSet() = default;

  virtual PointFacts facts() const = 0;
  /// What the points count, who may be picked, and what is there already. Before anything else is asked.
  virtual void narrow(const Terms& terms) = 0;
  /// `single`: from products in float32. The same one as long as somebody holds it.
  virtual std::shared_ptr<const Covariance> covariance(bool single) = 0;
  virtual std::unique_ptr<PointRun> begin(const Covariance& covariance) = 0;
  /// a_i, or what the included exemplars leave of it, dim numbers. May be asked from several threads.
  virtual void row(Index i, double* out) const = 0;
  /// a_i as it is.
  virtual void whole_row(Index i, double* out) const = 0;
  /// row() and whole_row() of several points, one after the other: one question to points that are far.
  virtual void rows_of(std::span<const Index> points, double* out) const {
    for (const Index i : points) row(i, out), out += facts().dim;
  }
  virtual void whole_rows_of(std::span<const Index> points, double* out) const {
    for (const Index i : points) whole_row(i, out), out += facts().dim;
  }
  /// One pass over the points for all of them. The runs are of this set, or of sets of the same points with
  /// another eta.
  virtual void advance(std::span<const PointUpdate> updates) = 0;
  /// Steps of one run, one after the other, in one pass.
  virtual void advance_in_turn(std::span<const PointUpdate> updates) {
    for (const PointUpdate& update : updates) advance({&update, 1});
  }

  /// Fills weights and strength of `selection`, and assignment and codes where wanted (linear_sweep.hpp).
  virtual LinearSums describe(const Covariance& covariance, const CodesOf& x, const Wanted& wanted,
                              Selection& selection) const = 0;
  /// ||A - A X||^2 from the residuals of the points themselves.
  virtual double residual_sum(const CodesOf& x) const = 0;
  /// ||p_i|| from the points themselves, and the largest of all from their residuals.
  virtual double score_of(Index i, const CodesOf& x) const = 0;
  virtual ScoreBound largest_score(const CodesOf& x) const = 0;
  /// For every exemplar the best point in its place (exchange.hpp). @pre a covariance of this set, in double
  virtual std::vector<Offer> offers(const Covariance& covariance,
                                    const ExchangeTables& tables) const = 0;
  /// K and K K of a few points, from where these are; nothing where that takes longer than here.
  virtual std::optional<Among> among(const Covariance& /*covariance*/,
                                     std::span<const Index> /*points*/) const {
    return std::nullopt;
  }
  /// For every exemplar the point in the middle of those it stands for (middle.hpp).
  virtual Middles middles(const std::vector<Index>& exemplars, const MiddleWeights& weights) = 0;
  /// Of all points, whatever is included, from nobody so far.
  virtual std::unique_ptr<PointDistances> distances() = 0;
  /// What is left of the points beyond the span of some of them, without the eta row.
  virtual Regression project(std::span<const Index> exemplars, int threads) const = 0;
};

}  // namespace fwsr
