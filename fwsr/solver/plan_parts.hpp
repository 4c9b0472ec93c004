// What the forms tell the planner: their ways to do the work, and what these take.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// One way to do the work.
struct Candidate {
  FormKind form = FormKind::none;
  KernelBy kernel_by = KernelBy::none;
  std::string why;
  double bytes = 0;  // beside the data, whatever the number of threads
  double per_thread = 0;
  double setup_flops = 0, step_flops = 0;
  // Over the points, beside those of preprocessing.
  double setup_passes = 0, step_passes = 0, codes_passes = 1, certificate_passes = 0;
  // Bytes more, where the certificate may be found once more in double.
  std::optional<double> again_per_thread = {};
};

/// Sizes as doubles, so that products of absurd numbers stay comparable.
struct PlanSizes {
  double n, d, k, entries, side;
  double threads = 1;
  bool sparse = false;     // rows are used as they are stored
  bool entrywise = false;  // the kernel is no inner product
  double row() const { return entries / std::max(1.0, n); }
};

/// What is asked for.
struct PlanRequest {
  const PlanFacts& facts;
  const SelectOptions& options;
  const KernelFormula& kernel;
  PlanSizes sizes;
  double kernel_flops = 0;     // to compute one entry of K
  bool single = false;         // products may be in float32
  bool holds_on_card = false;  // K itself

  /// What all forms but the gradient form need.
  bool free_two() const { return options.q == Norm::two && !options.nonneg; }
  bool by_factor() const { return kernel.computed() && options.rank > 0; }
  /// Columns of the factor: no more than points.
  Index rank() const { return std::min(options.rank, facts.points); }
};
PlanRequest plan_request(const PlanFacts& facts, const SelectOptions& options);

/// To make a factor of the kernel, and to hold it: beside the work on its rows.
struct FactorCost {
  double bytes = 0, per_thread = 0;
  double flops = 0;
};
/// @pre request.by_factor()
FactorCost factor_cost(const PlanRequest& request);
/// What the user should know about the rank asked for; empty: nothing.
std::string note_on_rank(const PlanFacts& facts, const SelectOptions& options);

/// Of one thread that computes blocks of K, tiles or values between points and exemplars; told for each of all
/// threads, where there are blocks for no more than some.
double blocks_bytes(const PlanSizes& s, bool single);

/// The sizes of a problem, and what its pieces take. What a piece takes per number was measured (bench/plan_seconds.py);
/// how fast that is on this machine, linalg/rates.hpp tells.
class Pieces {
 public:
  Pieces(const PlanFacts& facts, const SelectOptions& o)
      : n(static_cast<double>(facts.points)),
        d(static_cast<double>(facts.features) + (o.eta != 0 ? 1 : 0)),
        k(static_cast<double>(o.exemplars)),
        included(static_cast<double>(o.conditions.included.size())),
        entries(static_cast<double>(facts.entries)),
        number(facts.single ? 4 : 8),
        single(facts.single && !o.precise),
        sparse(facts.sparse),
        kernel(formula_of(o.kernel.type)) {}

  double n, d, k;
  double
      included;  // exemplars that are there already: what is told at the end is about all of them
  double entries;
  double number;  // bytes of a stored one
  bool single, sparse;
  const KernelFormula& kernel;

  Operations product(double flops, bool in_single) const;

  /// So many entries of K, in blocks.
  Operations kernel_entries(double count, bool in_single) const;
  /// A factor of the kernel with so many columns.
  Operations factor(Index rank) const;
  /// One look at all points.
  Operations visit() const;
  /// Least squares of all points on k exemplars, one point after the other.
  Operations least_squares() const;
  /// Closing of a run in the kernel's space: codes, scores and least squares, with a basis of about k points.
  Operations closing_by_kernel() const;
};

}  // namespace fwsr
