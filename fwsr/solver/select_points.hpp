// One selection on some of the points, and its parts: what every front door (all points, class by
// class, many settings) is made of.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fwsr/kernel/factor.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/covariance_form.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/gradient_form.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/representer_form.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// `subset` chooses points by index; empty means all. Indices in the result refer to all points,
/// except `assignment` and `codes`, which follow the subset. @pre find_problem found none
Selection select_points(const PointsView& view, std::span<const Index> subset,
                        const SelectOptions& options, const Plan& plan, const Observer& observer);

/// How one problem is planned and solved: by make_plan and select_points, or by another method.
struct Chooser {
  std::function<Plan(const PlanFacts& facts, const SelectOptions& options)> plan;
  std::function<Selection(const PointsView& view, std::span<const Index> subset,
                          const SelectOptions& options, const Plan& plan, const Observer& observer)>
      run;
};
/// plan_per_class and select_per_class (select.hpp), by any method.
std::vector<ClassPlan> plan_per_class(const PointsView& points,
                                      const std::vector<std::string>& labels,
                                      const ClassCounts& counts, const SelectOptions& options,
                                      const Chooser& chooser);
std::vector<ClassSelection> select_per_class(const PointsView& points,
                                             const std::vector<std::string>& labels,
                                             const ClassCounts& counts,
                                             const SelectOptions& options, const Chooser& chooser,
                                             const Observer& observer);

/// Points and kernel of one request, alive together.
struct Space {
  std::unique_ptr<Points> points;             // null for a given kernel
  std::unique_ptr<KernelMatrix> source;       // computes or borrows K
  std::unique_ptr<KernelMatrix> held;         // half of it in memory, where the plan says so
  std::unique_ptr<Factor> factor;             // F, where it takes the place of K
  std::unique_ptr<Points> coordinates;        // its rows as points
  std::unique_ptr<KernelMatrix> approximate;  // F F^T
  std::unique_ptr<PointSet> set;              // what the covariance form works on, where it does
  Kernel type = {};                           // with its gamma
  bool single = false;                        // K began in float32; a long run may go on in double

  double gamma() const { return type.gamma.value_or(0.0); }
  const KernelMatrix& kernel() const { return approximate ? *approximate : held ? *held : *source; }
  /// What the kernel is the inner product of.
  const Points& linear() const { return coordinates ? *coordinates : *points; }

  void make_kernel(const SelectOptions& o, const Plan& plan, bool in_single, bool hold,
                   const Alive& alive);
};
Preprocessing preprocessing_of(const SelectOptions& o);
Space make_space(const PointsView& view, std::span<const Index> subset, const SelectOptions& o,
                 const Plan& plan, const Alive& alive);
/// The same from points that are there. @pre the kernel is not precomputed
Space make_space(std::unique_ptr<Points> points, const SelectOptions& o, const Plan& plan,
                 const Alive& alive);
/// The form may replace the kernel of `space` by one in double, and asks `alive`: both must outlive it.
std::unique_ptr<Form> make_form(Space& space, const SelectOptions& o, const Plan& plan,
                                const Alive& alive);

/// What the loop needs to know. Throws Error when the objective at X = 0 is not finite.
RunOptions run_options(const SelectOptions& o, const KernelMatrix& kernel, double f_at_zero);

/// What outlives the form of a run: all that is left to say needs no more of it.
struct Remains {
  std::shared_ptr<const Covariance> covariance;  // of the covariance form
  std::optional<KernelProducts> products;        // of the representer form
  ExplicitRows rows;                             // of the gradient form
};
Remains remains_of(std::unique_ptr<Form> form);

/// All that is said about a run that has ended: exemplars, codes, weights, certificate, warnings.
/// Throws Interrupted when `alive` says no. Of a run that was interrupted itself only exemplars and
/// trace are told.
void describe_run(Run run, const Remains& remains, const Space& space, const SelectOptions& options,
                  const Alive& alive, Selection& result);

/// Points of `subset` by their number among all points. An empty subset is all of them.
void number_among_all(std::span<const Index> subset, Selection& result);

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// options.threads, or all cores.
int threads_of(const SelectOptions& o);

/// Theta k_basis(a) for every point of `fresh`, row by row.
std::vector<double> encode_points(const Points& trained, const Kernel& kernel, double eta,
                                  bool eta_relative, const Coefficients& theta, Index exemplars,
                                  const Points& fresh);

}  // namespace fwsr
