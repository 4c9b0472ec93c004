#include "fwsr/solver/describe_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/solver/certificate.hpp"
#include "fwsr/solver/clock.hpp"
#include "fwsr/solver/codes.hpp"
#include "fwsr/solver/coefficients.hpp"
#include "fwsr/solver/fill.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"
#include "fwsr/solver/refine.hpp"
#include "fwsr/solver/warnings.hpp"

namespace fwsr {

namespace {

/// Rounding of K, times this, is that of the directions of the picks.
double steepest(const std::vector<Step>& trace, const KernelMatrix& kernel) {
  std::vector<Index> picks;
  for (const Step& s : trace) picks.push_back(s.pick);
  const std::vector<double> squares = kernel.diagonals(picks);
  double most = 0;
  for (std::size_t t = 0; t < trace.size(); ++t)
    if (const double score = trace[t].score; score > 0)
      most = std::max(most, squares[t] / score / score);
  return most;
}

/// X = Theta (F_B F^T + eta^2) as combinations of the true kernel's columns at the landmarks: with
/// F = K_nL G^-T, X = (Theta F_B G^-1) K_Ln + eta^2 Theta 1. In the user's units; the eta^2 that is
/// part of every entry of K is taken out of the constant.
Coefficients at_landmarks(const Coefficients& theta, const PreparedProblem& prepared) {
  const PointSet& rows = *prepared.set;
  const auto r = static_cast<std::size_t>(prepared.factor->rank());
  const std::size_t m = theta.basis.size(), k = m ? theta.theta.size() / m : 0;
  const double unit = prepared.kernel().unit();
  const double eta = prepared.kernel().eta() / unit;
  Coefficients result{.basis = prepared.factor->landmarks(),
                      .theta = std::vector<double>(k * r),
                      .offset = std::vector<double>(eta != 0 ? k : 0)};
  const auto dim = static_cast<std::size_t>(rows.facts().dim);
  std::vector<double> basis(m * dim);
  rows.whole_rows_of(theta.basis, basis.data());
  if (m > 0)
    multiply(Product<double>{.m = static_cast<Index>(k),
                             .n = static_cast<Index>(r),
                             .k = static_cast<Index>(m),
                             .left = theta.theta.data(),
                             .right = basis.data(),
                             .right_stride = static_cast<Index>(dim),
                             .out = result.theta.data()});
  prepared.factor->to_landmarks(result.theta.data(), static_cast<Index>(k));
  const double kernel_unit = prepared.factor->unit() * prepared.source->unit();
  const double to_user = rows.facts().unit * kernel_unit * kernel_unit;
  for (double& v : result.theta) v *= to_user;
  for (std::size_t t = 0; t < result.offset.size(); ++t) {
    double sum = 0, new_sum = 0;
    for (std::size_t b = 0; b < m; ++b) sum += theta.theta[t * m + b] * unit * unit;
    for (std::size_t l = 0; l < r; ++l) new_sum += result.theta[t * r + l];
    result.offset[t] = eta * eta * (sum - new_sum);
  }
  return result;
}

/// Weights and assignment anew: points that were added stand for their own like all others.
void count_filled(const PointSet& set, const Covariance& covariance, const SelectOptions& options,
                  Selection& result) {
  Selection nearest;
  const Coefficients none{.basis = result.exemplars, .theta = {}, .offset = {}};
  set.describe(covariance, {result.exemplars, none}, {.assignment = options.assignment}, nearest);
  result.weights = std::move(nearest.weights);
  if (options.assignment) result.assignment = std::move(nearest.assignment);
}

/// Trace and sizes in the user's units instead of the scaled ones.
void rescale(std::vector<Step>& trace, double unit) {
  for (Step& s : trace) {
    s.f = s.f / unit / unit;
    s.gap = s.gap / unit / unit;
    s.score = s.score / unit / unit;
  }
}

}  // namespace

void describe_run(Run run, const std::optional<Exchanged>& refined, const RunProducts& products,
                  const PreparedProblem& prepared, const SelectOptions& options,
                  const KeepGoing& keep_going, Selection& result) {
  const auto start = Clock::now();
  const Plan& plan = result.plan;
  const KernelMatrix& kernel = prepared.kernel();
  const double unit = kernel.unit();
  const Terms& terms = prepared.terms;
  result.exemplars = terms.included;
  result.exemplars.insert(result.exemplars.end(), run.exemplars.begin(), run.exemplars.end());
  result.included.assign(result.exemplars.size(), false);
  std::fill_n(result.included.begin(), terms.included.size(), true);
  result.status = run.status;
  result.beta = run.beta;
  result.f_at_zero = run.f_at_zero / unit / unit;
  result.eta = kernel.eta() / unit;
  result.eta_in_rms = kernel.rms_norm() > 0 ? kernel.eta() / kernel.rms_norm() : 0.0;
  result.gamma = prepared.gamma();

  if (refined) result.refinement = refinement_of(*refined, unit);
  const bool free_two = options.q == Norm::two && !options.nonneg;
  // Who stops a run does not wait for its codes; who ends its exchanges does.
  if (run.status == Status::interrupted && !(keep_going && keep_going())) {
    warn_if_short(result, options, prepared.features(), result.warnings.size());
    result.filled.assign(result.exemplars.size(), false);
    rescale(run.trace, unit);
    result.trace = std::move(run.trace);
    return;
  }
  const Coefficients beyond =
      refined    ? Coefficients{.basis = run.exemplars, .theta = refined->m, .offset = {}}
      : free_two ? replay(run.trace, run.exemplars, prepared.form_kernel(), terms.costs,
                          plan.threads, keep_going)
                 : Coefficients{};
  const Coefficients theta = with_included(beyond, run.exemplars, terms.included, kernel);
  const Codes codes = free_two ? Codes(kernel, result.exemplars, theta)
                               : Codes(kernel, run.exemplars, products.rows);
  const PointSet* const set = products.covariance ? prepared.set.get() : nullptr;
  const CodesOf left{.exemplars = run.exemplars, .theta = beyond, .left = true};
  Problem problem{
      .kernel = kernel,
      .set = set,
      .covariance = products.covariance.get(),
      .products = products.kernel && terms.included.empty() ? &*products.kernel : nullptr,
      .exact = prepared.factor ? prepared.source.get() : nullptr,
      .far = prepared.far.get(),
      .points = prepared.points.get(),
      .type = prepared.type,
      .q = options.q,
      .nonneg = options.nonneg,
      .beta = run.beta,
      .terms = terms,
      .left = set && !terms.included.empty() ? &left : nullptr,
      .f_at_zero = run.f_at_zero,
      .precision =
          prepared.single || (set && set->facts().single && !options.precise) ? 1e-6 : 1e-9,
      .steepest = steepest(run.trace, prepared.form_kernel()),
      .threads = plan.threads,
      .keep_going = keep_going};
  const CodeSums sums = describe_codes(problem, codes, options, result);
  if (refined) {
    // The ball of these codes is the one that they are in. Products in float32 have told its radius to fewer digits.
    double used = 0;
    for (std::size_t t = terms.included.size(); t < result.strength.size(); ++t)
      used += terms.cost(result.exemplars[t]) * result.strength[t];
    if (used > run.beta * (1 + problem.precision)) problem.beta = result.beta = used;
  }
  const std::size_t first_warning = result.warnings.size();
  warn_if_exchange_ended(refined, options, result);
  warn_if_spanned(result, options, prepared.features());
  if (!terms.included.empty()) warn_if_rounded(theta, kernel, result);
  if (prepared.warning) result.warnings.push_back(*prepared.warning);
  result.filled.assign(result.exemplars.size(), false);
  const bool linear = formula_of(prepared.type.type).linear && !prepared.factor;
  const bool fills = fill_short_answer(
      kernel.size(),
      [&] {
        return set ? prepared.set->distances()
                   : distances_in(kernel, linear ? prepared.points.get() : nullptr, plan.threads);
      },
      options, terms, result);
  warn_if_short(result, options, prepared.features(), first_warning);
  if (prepared.far && !result.exemplars.empty()) {
    FarKernel::Nearest to = prepared.far->nearest(result.exemplars, options.assignment);
    result.weights = std::move(to.counts);
    if (options.assignment) result.assignment = std::move(to.assignment);
  } else if (fills && set && !prepared.factor) {
    count_filled(*set, *products.covariance, options, result);
  } else if ((fills || prepared.factor) && !result.exemplars.empty()) {
    // With a factor in the kernel's space all the same: new points are compared there.
    const KernelMatrix& exact = prepared.factor ? *prepared.source : kernel;
    std::vector<Index> to = nearest_exemplars(exact, result.exemplars, plan.threads, keep_going);
    result.weights = counts_of(to, result.exemplars.size(), terms.weights);
    if (options.assignment) result.assignment = std::move(to);
  }
  if (options.certificate == CertificateKind::full)
    result.certificate = certify(problem, codes, sums, options, result);
  bool in_float32 = kernel.single() && formula_of(prepared.type.type).of_distances();
  if (result.certificate && !result.certificate->trusted && kernel.single() &&
      plan.certificate_in_double) {
    result.certificate = certify_in_double(problem, codes, options, result);
    in_float32 = false;
  }
  // Kernels of distances have no large values.
  warn_if_not_trusted(in_float32, result);
  if (prepared.factor) {
    describe_factor(*prepared.factor, options, result);
    result.coefficients = at_landmarks(theta, prepared);
  } else if (free_two) {
    result.coefficients = theta;
    for (double& v : result.coefficients->theta) v = v * unit * unit;
  }
  if (result.coefficients) {  // codes over the points that were filled in are 0
    Coefficients& c = *result.coefficients;
    c.theta.resize(result.exemplars.size() * c.basis.size());
    if (!c.offset.empty()) c.offset.resize(result.exemplars.size());
  }
  rescale(run.trace, unit);
  result.trace = std::move(run.trace);
  result.seconds.certificate = seconds_since(start);
}

}  // namespace fwsr
