// How well some points stand for all of them, by every measure that people judge exemplars by.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "fwsr/base/index.hpp"
#include "fwsr/base/keep_going.hpp"
#include "fwsr/base/labels.hpp"
#include "fwsr/solver/options.hpp"

namespace fwsr {

/// All in the user's units, of the points as centred and scaled. Distances are Euclidean.
struct Quality {
  double reconstruction_error = 0;          // ||A - P_T A||^2 / ||A||^2
  std::optional<double> boolean_objective;  // paper Eq. (1), for the lambda and rho of the options
  double medoid_cost = 0;      // sum over all points of the distance to the nearest exemplar
  double coverage_radius = 0;  // the largest of these distances
  /// Maximum mean discrepancy between exemplars and points: sqrt(mean k(x, x') - 2 mean k(x, e) + mean k(e, e')) over
  /// all pairs, those of a point and itself included, with k(x, y) = exp(-mmd_gamma() ||x - y||^2); the points x are
  /// the mmd_points() of the judge. Of a given kernel matrix, with its entries for k.
  double mmd = 0;
  std::optional<double> class_coverage;  // share of the classes that have an exemplar
  std::optional<double>
      nearest_accuracy;  // share of the other points whose nearest exemplar has their class
};

/// Looks at the data once, then judges any number of answers.
class Judge {
 public:
  /// Uses center, scale, lambda, rho and threads of `options`; of its kernel only whether the matrix given is
  /// one. `labels` may be empty. The points and `options` must outlive the judge.
  Judge(const PointsView& view, Labels labels, const SelectOptions& options,
        const KeepGoing& keep_going = {});
  ~Judge();

  Quality of(std::span<const Index> exemplars) const;

  /// The width of the Gaussian kernel of the discrepancy (1 / median squared distance); 0: a given kernel.
  double mmd_gamma() const;
  /// How many points, evenly spaced, the discrepancy is measured against.
  Index mmd_points() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fwsr
