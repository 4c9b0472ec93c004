// Points and kernel of one request, ready for a form: everything that does not depend on the steps.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fwsr/kernel/factor.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/far_kernel.hpp"
#include "fwsr/solver/form.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr {

/// Points and kernel of one request, alive together.
struct PreparedProblem {
  std::shared_ptr<const void> copy;      // of points that were on a card, where they are copied
  std::unique_ptr<Points> points;        // null: given as a kernel, or not in this process
  std::unique_ptr<KernelMatrix> source;  // computes or borrows K
  std::unique_ptr<KernelMatrix>
      held;  // half of it in memory, or all of it on a card, where the plan says so
  std::unique_ptr<Factor> factor;             // F, where it takes the place of K
  std::unique_ptr<Points> coordinates;        // its rows as points
  std::unique_ptr<KernelMatrix> approximate;  // F F^T
  std::unique_ptr<KernelMatrix> beyond;       // what the included exemplars leave of kernel()
  std::unique_ptr<PointSet> set;              // what the covariance form works on, where it does
  std::unique_ptr<FarKernel> far;             // of points elsewhere, where a factor stands for it
  std::function<std::unique_ptr<Form>()> form_of_set = {};  // where the set steps by itself
  Terms terms = {};                                         // the conditions of the request
  Kernel type = {};                                         // with its gamma
  std::optional<std::string> warning;                       // about the points
  bool single = false;  // K began in float32; a long run may go on in double

  double gamma() const { return type.gamma.value_or(0.0); }
  const KernelMatrix& kernel() const { return approximate ? *approximate : held ? *held : *source; }
  /// What the form works on: kernel(), less what is included.
  const KernelMatrix& form_kernel() const { return beyond ? *beyond : kernel(); }
  /// Of a point; 0 for a given kernel.
  Index features() const {
    return points ? points->features()
           : far  ? far->points().facts().features
           : set  ? set->facts().features
                  : 0;
  }
  /// What the kernel is the inner product of.
  const Points& feature_rows() const { return coordinates ? *coordinates : *points; }

  void make_kernel(const SelectOptions& o, const Plan& plan, bool in_single, bool hold,
                   const KeepGoing& keep_going);
};
Preprocessing preprocessing_of(const SelectOptions& o);
PreparedProblem prepare_problem(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going);
/// The same from points that are there. @pre the kernel is not precomputed
PreparedProblem prepare_problem(std::unique_ptr<Points> points, const SelectOptions& o,
                                const Plan& plan, const KeepGoing& keep_going);
/// Whether points that live anywhere can make a factor of the kernel, and all that a run asks of it beside that: moves to
/// the middle ask the laplacian one about pairs of points.
bool has_far_factor(const SelectOptions& o);
/// Whether a run by a factor asks nothing of the kernel but what points that live anywhere can answer (far_factor.hpp):
/// then it is that run, so that points in one place and in many have the same bits.
bool by_far_factor(const SelectOptions& o, const Plan& plan, bool sparse);
/// The conditions of the request, told to the points. @pre kernel and set are there
void set_terms(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan);
/// The form may replace the kernel of the problem by one in double, and asks `keep_going`: both must outlive it.
std::unique_ptr<Form> make_form(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going);

/// What the loop needs to know of a run that began at `start`. Throws Error when the objective at X = 0 is not finite.
/// @pre the problem outlives it
RunOptions run_options(const SelectOptions& o, const PreparedProblem& prepared, double f_at_zero,
                       int threads, Clock::time_point start);

/// Norms and distances of sparse points come from sums over their entries, less what centring takes away: far from the
/// origin nothing is left of them but rounding. Some points, met as they are, tell. `fetch` writes a_i to its second
/// argument and returns ||a_i||^2 without eta.
void refuse_if_too_far_from_origin(const PointFacts& facts, KernelType type,
                                   const std::function<double(Index i, double* out)>& fetch);

/// The kernel of the options with its gamma filled in; cosine is linear on normalised points.
Kernel kernel_of(const SelectOptions& o, const Points& points, int threads);

/// options.threads, or all cores.
int threads_of(const SelectOptions& o);

}  // namespace fwsr
