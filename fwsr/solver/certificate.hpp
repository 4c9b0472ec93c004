// What the codes say about the points, and how good they are, computed from the data and the codes
// alone: nothing is carried over from the steps of the run.
#pragma once

#include <optional>
#include <vector>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/codes.hpp"
#include "fwsr/solver/far_kernel.hpp"
#include "fwsr/solver/linear_sweep.hpp"
#include "fwsr/solver/options.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/representer_form.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

/// The problem that was solved, as the certificate needs it.
struct Problem {
  const KernelMatrix& kernel;
  const PointSet* set = nullptr;  // of the covariance form, whose kernel is their inner product
  const Covariance* covariance = nullptr;    // then also C and r
  const KernelProducts* products = nullptr;  // of the representer form
  const KernelMatrix* exact = nullptr;       // what `kernel` approximates, where it does
  const FarKernel* far = nullptr;            // ... of points that are somewhere else
  const Points* points = nullptr;            // what the kernel is computed from; null: it was given
  Kernel type = {};                          // and how
  Norm q = Norm::two;
  bool nonneg = false;
  double beta = 0;
  const Terms& terms;  // X is of all exemplars; those that are included come first
  const CodesOf* left =
      nullptr;              // of a set: the same X for what is included leaves, where some are
  double f_at_zero = 0;     // of the run
  double precision = 1e-9;  // of the run: 1e-6 when its matrix products were in float32
  double steepest =
      0;  // max K_jj / ||p_j||^2 over the picks j: what rounding of K is multiplied by
  int threads = 1;
  KeepGoing keep_going;
};

/// X as the points of a set are to be asked about it.
inline CodesOf asked_of_set(const Problem& p, const Codes& codes) {
  return p.left ? *p.left : CodesOf{codes.list(), *codes.theta()};
}

/// Sums over all points that the certificate is made of, in the kernel's units.
struct CodeSums {
  double xk = 0, xkx = 0, trace = 0;    // <X, K>, <X, K X>, tr K
  double residual = 0;                  // f = tr K - 2 <X, K> + <X, K X>
  double smallest = 0;                  // entry of X
  Magnitudes sizes;                     // what rounding is measured by
  std::vector<double> xp, scores;       // per exemplar t: <X_t, p_t> and ||p_t||_dual
  std::optional<LinearSums> linear;     // what one pass over the features told more
  std::optional<double> largest_score;  // max_i ||p_i||, where few products told it ...
  double score_error = 0;               // ... to within this
  // Inner products of sparse points that are centred are differences of larger numbers, of which they keep the rounding
  // when nothing else is left: f is right to within this, too, and every ||p_i|| to within that.
  double cancelled = 0, score_cancelled = 0;
};

/// One sweep over the points: weights, strength, assignment and codes into `selection`, as asked.
/// A point goes to the exemplar with the largest |X_ti|, of equal ones to the first chosen.
CodeSums describe_codes(const Problem& problem, const Codes& codes, const SelectOptions& options,
                        Selection& selection);

/// ||p||_dual of the entries of p so far, as a sum (of squares, for q = 2) or a largest value: `norm` and
/// what more entries add.
double add_dual(const Problem& p, double norm, const double* entries, Index count);

/// Every number is within the error it states: where the sums of the sweep are too coarse for that,
/// residuals and scores are computed anew from the points, in double. Throws Error when a number is not
/// finite. @pre describe_codes made `sums` with CertificateKind::full
Certificate certify(const Problem& problem, const Codes& codes, const CodeSums& sums,
                    const SelectOptions& options, const Selection& selection);

/// Whether a certificate of K in float32 that rounding keeps from being trusted may be found once more with K in double,
/// computed in tiles: of kernels of points whose blocks are small in double, too.
bool may_certify_in_double(const SelectOptions& options, Index features);
/// That certificate, of the same X. @pre the kernel of the problem is computed from its points
Certificate certify_in_double(const Problem& problem, const Codes& codes,
                              const SelectOptions& options, const Selection& selection);

}  // namespace fwsr
