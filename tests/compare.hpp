// A selection of the library beside a run of the oracle on the same problem.
#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fwsr/solver/selection.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace compare {

using fwsr::Index;

/// What rounding may do. Scores carry the rounding of the first score; as squares that are updated
/// from step to step they carry it (first score / score)^2 times, until that is seen to pass
/// `drift` and they are computed anew. An index is compared while the oracle's choice led by more
/// than this, and by more than `lead`. f, gap and what follows from them agree to `value` times
/// f(0).
struct Tolerance {
  double lead = 0;
  double rounding = 0;
  double drift = 0;
  double value = 0;
  double score = 0;          // dual norms, in units of f(0)
  bool copies_part = false;  // near the end of the digits copies may differ by rounding
};
/// float64 points, or float32 points whose products are in double; and float32 products.
inline constexpr Tolerance fine{1e-9, 1e-14, 1e-6, 1e-9, 1e-12};
inline constexpr Tolerance coarse{1e-5, 1e-7, 1e-3, 1e-6, 1e-9};
/// A kernel matrix in float32: each of the n entries of a row may be off by 1e-6 of the largest
/// one, which is 1e-6 / sqrt(n) of f(0) for the row.
inline constexpr Tolerance coarse_kernel{1e-5, 1e-7, 1e-3, 1e-6, 1e-7};

/// What `plan` promises for points in float32 (`single`) or float64.
Tolerance tolerance_of(bool single, bool precise, const fwsr::Plan& plan);
Tolerance tolerance_of(const problems::Problem& problem, const fwsr::Selection& selection);

struct Outcome {
  Index steps = 0;     // compared one by one
  bool whole = false;  // no decision up to and including the ending was within rounding
};

/// Steps, ending, exemplars and radius, as far as the oracle's decisions were clear. `shadow` is
/// the same run in double precision: where the literal algorithm parts from itself by a tenth of
/// the tolerance, so may any other form of it, and the comparison ends.
template <class T>
Outcome expect_same_run(const fwsr::Selection& selection, const oracle::Run<T>& run,
                        const Tolerance& tolerance, bool grow,
                        const oracle::Run<double>* shadow = nullptr);

/// The codes of the selection are the X of the run, of points whose weight is not 0. @pre the outcome was whole
void expect_same_codes(const fwsr::Selection& selection, const oracle::Run<oracle::Real>& run,
                       const Tolerance& tolerance, const std::vector<double>& weights = {});

/// Whatever the picks: strength, coefficients and certificate belong to the codes and to the raw data, assignment and
/// weights to the picks and to the raw data. Needs options.codes and options.assignment.
void expect_consistent(const fwsr::Selection& selection, const fwsr::SelectOptions& options,
                       const problems::Reference& reference, const Tolerance& tolerance);

/// The forms that can serve a problem with q = 2 and free signs, whatever the planner would choose.
std::vector<std::pair<fwsr::FormKind, fwsr::KernelBy>> forms_for(fwsr::KernelType kernel);

/// X, n x n, from the codes of a selection.
oracle::Matrix<oracle::Real> codes_as_matrix(const fwsr::Selection& selection, Index n);

}  // namespace compare
