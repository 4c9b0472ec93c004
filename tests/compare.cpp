#include "compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "fwsr/linalg/processor.hpp"

namespace compare {
namespace {

using oracle::Real;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// |value - wanted| <= bound, infinities only equal to themselves.
void expect_close(double value, Real wanted, Real bound, const char* what) {
  if (std::isinf(wanted)) {
    EXPECT_EQ(value, static_cast<double>(wanted)) << what;
    return;
  }
  EXPECT_LE(std::abs(value - wanted), bound)
      << what << " is " << value << ", oracle says " << static_cast<double>(wanted) << ", apart by "
      << static_cast<double>(std::abs(value - wanted) / (bound > 0 ? bound : 1)) << " bounds";
}

/// Rounding cannot turn the decisions before and in this step.
bool is_clear(const oracle::Step& step, const oracle::Step& first, Real f_at_zero,
              const Tolerance& tolerance) {
  const Real fallen = step.score > 0 ? first.score / step.score : 1;
  const Real noise = std::max(std::min(tolerance.rounding * fallen * fallen, Real(tolerance.drift)),
                              tolerance.rounding * fallen);
  if (step.lead <= std::max(Real(tolerance.lead), noise)) return false;
  if (step.tied && fallen > 2) return false;  // equal to rounding only
  // Without AVX2, BLAS has loops of their own for the last rows of a matrix: copies are equal to rounding, which
  // ties forgive up to their width, a tenth of `lead`.
  const bool copies_part =
      tolerance.copies_part || fwsr::instructions() == fwsr::Instructions::baseline;
  if (step.copied && copies_part && tolerance.rounding * fallen * fallen > tolerance.lead / 10)
    return false;
  const Real gap = std::isinf(step.gap) || f_at_zero == 0 ? 0 : step.gap / f_at_zero;
  return step.from_full > tolerance.value && step.from_delta > tolerance.value * (1 + gap);
}

/// The test f <= 1e-12 f(0) asks for more digits than f has to have: only far from it is it clear.
bool is_near_exhaustion(Real f, Real f_at_zero) {
  return f > 1e-15L * f_at_zero && f < 1e-11L * f_at_zero;
}

/// The gap is 2 (beta nu - <X, P>): it carries the rounding of nu beta times.
Real gap_bound(const oracle::Step& step, Real f_at_zero, const Tolerance& tolerance) {
  if (std::isinf(step.gap)) return 0;
  return tolerance.value * (f_at_zero + std::abs(step.gap)) +
         2 * step.beta * tolerance.score * f_at_zero;
}

/// gamma is gap / 2 over the curvature: of a small gap it has fewer digits.
Real gamma_bound(const oracle::Step& step, Real f_at_zero, const Tolerance& tolerance) {
  if (std::isinf(step.gap)) return 0;
  return tolerance.value * std::max(Real(1), step.gamma * (f_at_zero + step.gap) / step.gap);
}

/// The same step in double precision stays within a hundredth of the tolerance.
bool is_stable(const oracle::Step& step, const oracle::Step& shadow, Real f_at_zero,
               const Tolerance& tolerance) {
  return step.pick == shadow.pick && step.beta == shadow.beta &&
         std::abs(step.f - shadow.f) <= 0.01L * tolerance.value * f_at_zero &&
         std::abs(step.gamma - shadow.gamma) <= 0.01L * tolerance.value &&
         (std::isinf(step.gap) ||
          std::abs(step.gap - shadow.gap) <= 0.01L * gap_bound(step, f_at_zero, tolerance));
}

void expect_same_step(const fwsr::Step& step, const oracle::Step& wanted, Real f_at_zero,
                      const Tolerance& tolerance) {
  EXPECT_EQ(step.pick, wanted.pick);
  EXPECT_EQ(step.rows, wanted.rows);
  expect_close(step.beta, wanted.beta, 1e-12L * wanted.beta, "beta");
  expect_close(step.f, wanted.f, tolerance.value * f_at_zero, "f");
  expect_close(step.gap, wanted.gap, gap_bound(wanted, f_at_zero, tolerance), "gap");
  expect_close(step.step_size, wanted.gamma, gamma_bound(wanted, f_at_zero, tolerance), "gamma");
  expect_close(step.score, wanted.score, tolerance.value * f_at_zero, "score");
}

}  // namespace

Tolerance tolerance_of(bool single, bool precise, const fwsr::Plan& plan) {
  if (!single || precise) return fine;
  if (plan.form == fwsr::FormKind::covariance) return coarse;
  const bool computed =
      plan.kernel_by == fwsr::KernelBy::held || plan.kernel_by == fwsr::KernelBy::tiles;
  return plan.form == fwsr::FormKind::representer && computed ? coarse_kernel : fine;
}

Tolerance tolerance_of(const problems::Problem& problem, const fwsr::Selection& selection) {
  return tolerance_of(problem.is_single(), problem.options.precise, selection.plan);
}

template <class T>
Outcome expect_same_run(const fwsr::Selection& selection, const oracle::Run<T>& run,
                        const Tolerance& tolerance, bool grow, const oracle::Run<double>* shadow) {
  Outcome outcome;
  const Real f0 = run.f_at_zero;
  expect_close(selection.f_at_zero, f0, tolerance.value * f0, "f(0)");
  for (std::size_t t = 0; t < run.trace.size(); ++t) {
    if (!is_clear(run.trace[t], run.trace[0], f0, tolerance)) return outcome;
    if (grow && t > 0 && is_near_exhaustion(run.trace[t - 1].f, f0)) return outcome;
    if (shadow &&
        (t >= shadow->trace.size() || !is_stable(run.trace[t], shadow->trace[t], f0, tolerance)))
      return outcome;
    SCOPED_TRACE(testing::Message()
                 << "step " << t << " of " << run.trace.size() << ", f/f(0) "
                 << double(run.trace[t].f / f0) << ", lead " << double(run.trace[t].lead));
    if (t >= selection.trace.size()) {
      ADD_FAILURE() << "the selection ended after " << t
                    << " steps: " << fwsr::name_of(selection.status);
      return outcome;
    }
    expect_same_step(selection.trace[t], run.trace[t], f0, tolerance);
    if (selection.trace[t].pick != run.trace[t].pick) return outcome;
    ++outcome.steps;
  }
  const bool decided =
      run.status == oracle::Status::converged || run.status == oracle::Status::exhausted;
  if (decided && run.ending.from_delta <= tolerance.value) return outcome;
  if (grow && run.status == oracle::Status::exhausted && is_near_exhaustion(run.ending.f, f0))
    return outcome;
  EXPECT_EQ(selection.trace.size(), run.trace.size());
  EXPECT_EQ(static_cast<int>(selection.status), static_cast<int>(run.status))
      << fwsr::name_of(selection.status);
  expect_close(selection.beta, run.beta, 1e-12L * run.beta, "beta");
  std::vector<Index> chosen;
  for (std::size_t t = 0; t < selection.exemplars.size(); ++t)
    if (!selection.filled[t] && !selection.included[t]) chosen.push_back(selection.exemplars[t]);
  EXPECT_EQ(chosen, run.exemplars);
  outcome.whole = true;
  return outcome;
}

template Outcome expect_same_run(const fwsr::Selection&, const oracle::Run<double>&,
                                 const Tolerance&, bool, const oracle::Run<double>*);
template Outcome expect_same_run(const fwsr::Selection&, const oracle::Run<Real>&, const Tolerance&,
                                 bool, const oracle::Run<double>*);

oracle::Matrix<Real> codes_as_matrix(const fwsr::Selection& selection, Index n) {
  oracle::Matrix<Real> x(n, n);
  const Index m = static_cast<Index>(selection.exemplars.size());
  for (Index i = 0; i < n; ++i)
    for (Index t = 0; t < m; ++t)
      x(selection.exemplars[at(t)], i) = selection.codes.at(at(i * m + t));
  return x;
}

void expect_same_codes(const fwsr::Selection& selection, const oracle::Run<Real>& run,
                       const Tolerance& tolerance, const std::vector<double>& weights) {
  const Index n = run.x.rows;
  const auto x = codes_as_matrix(selection, n);
  Real largest = 1, apart = 0;
  for (const Index t : run.exemplars)
    for (Index i = 0; i < n; ++i) {
      if (!weights.empty() && weights[at(i)] == 0) continue;  // the oracle says nothing of these
      largest = std::max(largest, std::abs(run.x(t, i)));
      apart = std::max(apart, std::abs(run.x(t, i) - x(t, i)));
    }
  EXPECT_LE(apart, 10 * tolerance.value * largest) << "codes";  // a sum over many steps
}

namespace {

/// Every point belongs to the exemplar nearest in the kernel's space, the first of equals, and an exemplar to itself;
/// weights count.
void expect_assignment(const fwsr::Selection& selection, const oracle::Matrix<Real>& k,
                       const std::vector<double>& weights, const Tolerance& tolerance) {
  const Index n = k.rows, m = static_cast<Index>(selection.exemplars.size());
  ASSERT_EQ(static_cast<Index>(selection.weights.size()), m);
  if (m == 0) return;
  ASSERT_EQ(static_cast<Index>(selection.assignment.size()), n);
  std::vector<double> counts(at(m));
  for (Index i = 0; i < n; ++i) {
    const Index given = selection.assignment[at(i)];
    ASSERT_GE(given, 0);
    ASSERT_LT(given, m);
    counts[at(given)] += weights.empty() ? 1 : weights[at(i)];
    const auto& all = selection.exemplars;
    if (const auto own = std::find(all.begin(), all.end(), i); own != all.end()) {
      EXPECT_EQ(given, own - all.begin()) << "exemplar " << i;
      continue;
    }
    const auto far = [&](Index t) {  // ||a_i - a_t||^2 - ||a_i||^2
      const Index e = all[at(t)];
      return k(e, e) - 2 * k(e, i);
    };
    Real terms = 0;
    for (Index t = 0; t < m; ++t)
      terms = std::max(terms, k(all[at(t)], all[at(t)]) + 2 * std::abs(k(all[at(t)], i)));
    for (Index t = 0; t < m; ++t) {
      EXPECT_LE(far(given), far(t) + tolerance.value * terms) << "point " << i;
      EXPECT_FALSE(t < given && far(t) == far(given)) << "point " << i;
    }
  }
  for (Index t = 0; t < m; ++t)
    EXPECT_NEAR(selection.weights[at(t)], counts[at(t)],
                weights.empty() ? 0 : 1e-12 * counts[at(t)]);
}

void expect_coefficients(const fwsr::Selection& selection, const oracle::Matrix<Real>& k,
                         const oracle::Matrix<Real>& x, const Tolerance& tolerance) {
  const auto& basis = selection.coefficients->basis;
  const auto& theta = selection.coefficients->theta;
  const auto& offset = selection.coefficients->offset;
  ASSERT_EQ(theta.size(), selection.exemplars.size() * basis.size());
  Real apart = 0;
  for (std::size_t t = 0; t < selection.exemplars.size(); ++t) {
    for (Index i = 0; i < k.rows; ++i) {
      Real sum = offset.empty() ? 0 : offset[t], size = 1 + std::abs(sum);
      for (std::size_t b = 0; b < basis.size(); ++b) {
        const Real term = theta[t * basis.size() + b] * k(basis[b], i);
        sum += term;
        size += std::abs(term);
      }
      apart = std::max(apart, std::abs(x(selection.exemplars[t], i) - sum) / size);
    }
  }
  EXPECT_LE(apart, tolerance.value) << "codes from coefficients";
}

/// ||A - P_T A||^2 without directions whose square is below `tolerance`.
Real error_with(const std::vector<Index>& chosen, const fwsr::SelectOptions& options,
                const problems::Reference& reference, Real tolerance) {
  const std::vector<double>& weights = options.conditions.weights;
  if (!weights.empty()) {
    const auto left = oracle::beyond(reference.plain, chosen, tolerance);
    Real sum = 0;
    for (Index i = 0; i < left.rows; ++i) sum += weights[at(i)] * std::max(Real(0), left(i, i));
    return sum;
  }
  const bool explicit_points = options.kernel.type == fwsr::KernelType::linear ||
                               options.kernel.type == fwsr::KernelType::cosine;
  return explicit_points ? oracle::projection_error(reference.points, chosen, std::sqrt(tolerance))
                         : oracle::projection_error_of_kernel(reference.plain, chosen, tolerance);
}

void expect_certificate(const fwsr::Selection& selection, const fwsr::SelectOptions& options,
                        const problems::Reference& reference, oracle::Matrix<Real> x,
                        const Tolerance& tolerance) {
  for (const Index t : options.conditions.included)
    for (Index i = 0; i < x.cols; ++i) x(t, i) = 0;  // what is included is free
  ASSERT_TRUE(selection.certificate.has_value());
  const auto& c = *selection.certificate;
  const auto wanted = oracle::certify(reference.k, x, reference.settings, selection.beta);
  Real f0 = wanted.f_at_zero;
  // What is included takes its part away from sums over all that the points are.
  const std::vector<double>& weights = options.conditions.weights;
  for (Index i = 0; i < x.rows && !options.conditions.included.empty(); ++i)
    f0 += (weights.empty() ? 1 : weights[at(i)]) * reference.k(i, i);
  expect_close(c.f_at_zero, wanted.f_at_zero, tolerance.value * f0, "certificate f(0)");
  expect_close(c.f, wanted.f, tolerance.value * f0, "certificate f");
  oracle::Step last;
  last.gap = wanted.gap;
  last.beta = selection.beta;
  expect_close(c.gap, wanted.gap, gap_bound(last, f0, tolerance), "certificate gap");
  expect_close(c.radius_used, wanted.radius_used,
               tolerance.value * std::max(Real(1), wanted.radius_used), "certificate radius");
  EXPECT_EQ(c.beta, selection.beta);
  EXPECT_TRUE(c.feasible);
  EXPECT_LE(wanted.radius_used, selection.beta * (1 + tolerance.value));

  Real whole = 0;
  for (Index i = 0; i < x.rows; ++i)
    whole += (weights.empty() ? 1 : weights[at(i)]) * reference.plain(i, i);
  // Points that are zero to rounding have no error worth a name, and how short a direction may be
  // to count is a matter of taste between these two.
  if (whole > 1e-20L * f0) {
    const Real bound = tolerance.value * std::max(Real(1), f0 / whole);
    EXPECT_GE(c.reconstruction_error,
              error_with(selection.exemplars, options, reference, 1e-15L) / whole - bound);
    EXPECT_LE(c.reconstruction_error,
              error_with(selection.exemplars, options, reference, 1e-9L) / whole + bound);
  }
  ASSERT_EQ(c.boolean_objective.has_value(), options.lambda && options.rho);
  if (c.boolean_objective) {
    const Real value =
        oracle::boolean_objective(reference.plain, selection.exemplars, *options.lambda,
                                  *options.rho, {weights.begin(), weights.end()});
    expect_close(*c.boolean_objective, value, tolerance.value * (whole + value),
                 "boolean objective");
  }
}

}  // namespace

void expect_consistent(const fwsr::Selection& selection, const fwsr::SelectOptions& options,
                       const problems::Reference& reference, const Tolerance& tolerance) {
  const Index n = reference.k.rows;
  const std::size_t m = selection.exemplars.size();
  ASSERT_EQ(selection.codes.size(), static_cast<std::size_t>(n) * m);
  ASSERT_EQ(selection.strength.size(), m);
  ASSERT_EQ(selection.filled.size(), m);
  const std::set<Index> distinct(selection.exemplars.begin(), selection.exemplars.end());
  EXPECT_EQ(distinct.size(), m);
  const auto included = static_cast<Index>(options.conditions.included.size());
  EXPECT_LE(static_cast<Index>(m) - included, options.exemplars);
  ASSERT_EQ(selection.included.size(), m);
  for (std::size_t t = 0; t < m; ++t)
    EXPECT_EQ(selection.included[t], static_cast<Index>(t) < included);
  ASSERT_TRUE(distinct.empty() || (*distinct.begin() >= 0 && *distinct.rbegin() < n));

  const auto x = codes_as_matrix(selection, n);
  const std::vector<double>& weights = options.conditions.weights;
  auto roots = x;  // X as its norms see it
  for (Index t = 0; t < n && !weights.empty(); ++t)
    for (Index i = 0; i < n; ++i) roots(t, i) *= std::sqrt(Real(weights[at(i)]));
  for (std::size_t t = 0; t < m; ++t) {
    const Real norm = oracle::row_norm(roots, selection.exemplars[t], reference.settings.q);
    expect_close(selection.strength[t], norm, tolerance.value * std::max(Real(1), norm),
                 "strength");
    if (!selection.included[t]) {
      EXPECT_EQ(selection.filled[t], norm == 0) << "exemplar " << t;
    }
  }
  if (options.nonneg && m > 0) {
    EXPECT_GE(*std::min_element(selection.codes.begin(), selection.codes.end()), 0);
  }
  expect_assignment(selection, reference.k, weights, tolerance);
  EXPECT_EQ(selection.coefficients.has_value(), options.q == fwsr::Norm::two && !options.nonneg);
  if (selection.coefficients) expect_coefficients(selection, reference.k, x, tolerance);
  expect_certificate(selection, options, reference, x, tolerance);

  expect_close(selection.eta, reference.eta, tolerance.value * reference.eta, "eta");
  if (reference.rms > 1e-10L * reference.eta)
    expect_close(selection.eta_in_rms, reference.eta / reference.rms,
                 tolerance.value * reference.eta / reference.rms, "relative eta");
}

std::vector<std::pair<fwsr::FormKind, fwsr::KernelBy>> forms_for(fwsr::KernelType kernel) {
  using fwsr::FormKind;
  using fwsr::KernelBy;
  using fwsr::KernelType;
  switch (kernel) {
    case KernelType::linear:
    case KernelType::cosine:
      return {{FormKind::covariance, KernelBy::none},
              {FormKind::representer, KernelBy::held},
              {FormKind::representer, KernelBy::products},
              {FormKind::gradient, KernelBy::held}};
    case KernelType::precomputed:
      return {{FormKind::representer, KernelBy::given}, {FormKind::gradient, KernelBy::given}};
    default:
      return {{FormKind::representer, KernelBy::held},
              {FormKind::representer, KernelBy::tiles},
              {FormKind::gradient, KernelBy::held}};
  }
}

}  // namespace compare
