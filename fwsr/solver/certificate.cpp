#include "fwsr/solver/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/finite.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/base/typical.hpp"
#include "fwsr/kernel/check_given.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/solver/largest_score.hpp"
#include "fwsr/solver/regression.hpp"

namespace fwsr {

namespace {

/// A number and what rounding may have done to it: that of K, where it is held in float32, included.
struct Value {
  double value = 0, error = 0;
};

/// The part of an error that sums in double add. For the K at hand all is exact but for that.
double own_part(const Problem& p) {
  return p.kernel.single() ? 16 * std::numeric_limits<double>::epsilon() / 0x1p-20 : 1.0;
}

/// n times the middle of some K_ii that are not zero: tr K, were it not for a few large ones.
double typical_trace(const KernelMatrix& kernel) {
  return static_cast<double>(kernel.size()) *
         typical(kernel.size(), [&](Index i) { return kernel.diagonal(i); });
}

/// Whether an error leaves digits: of the number itself, or beside what the points are without a few.
/// Points that are all zero, or are but for rounding of what centring took away, have nothing to lose.
bool leaves_digits(double error, double size, const KernelMatrix& kernel) {
  const double typical = typical_trace(kernel);
  return error <= 1e-3 * size || error <= 1e-5 * typical || typical == 0;
}

/// Numbers of ours that contradict each other are not handed out. One that is below zero by no more than
/// its rounding is zero for all we know, and told as what sums may have added to that, or K.
Value not_negative(const Problem& p, const char* name, Value v) {
  if (v.value >= 0) return v;
  if (v.value < -v.error)
    throw Error(fmt::format(
        "the {} of the certificate came out as {:g}, which cannot be; this is an error of this "
        "program, not of yours. Please report it, with the data if you can",
        name, v.value));
  return {.value = std::max(-v.value, own_part(p) * v.error), .error = v.error};
}

/// f from the sums of the sweep; where these cancel, from the residuals.
Value objective(const Problem& p, const Codes& codes, const CodeSums& sums) {
  const Magnitudes& m = sums.sizes;
  Value f{
      .value = sums.residual,
      .error = 2 * std::sqrt(m.absolute * m.residual_errors) + m.residual_errors + sums.cancelled};
  if (p.set && codes.theta() && !(f.error <= 1e-4 * f.value)) {
    f.value = p.set->residual_sum(asked_of_set(p, codes));
    f.error = 2 * std::sqrt(f.value * m.residual_errors) + m.residual_errors;
  }
  require_finite(f.value);
  // Entries of a given matrix may be off by more than sums add, so that f is zero for all we know; or it is no
  // kernel.
  if (const double off = p.kernel.entry_error(); off > 0 && f.value < -f.error) {
    if (f.value < -f.error - off * m.absolute) {
      const double unit = p.kernel.unit();
      throw_no_kernel(fmt::format(
          "the objective, a sum of squares, comes out as {:.4g}, of {:.4g} at the start",
          f.value / unit / unit, sums.trace / unit / unit));
    }
    return {.value = -f.value, .error = f.error - 2 * f.value};
  }
  // Of what is not positive semi-definite f may be anything.
  const bool any = formula_of(p.type.type).indefinite;
  return any && f.value < -f.error ? f : not_negative(p, "objective", f);
}

/// 2 (beta max ||p_i|| / cost_i - <X, P>), the largest of the candidates, from the sums of the sweep, where rounding leaves it the digits that are
/// promised; else from the points. Where rounding could make it negative, with ||p_t|| of the exemplars and
/// written as
///
///   2 ((beta - sum_t ||X_t||) max ||p_i|| + sum_t (||X_t|| max ||p_i|| - <X_t, p_t>))
///
/// no part of it can be negative.
Value duality_gap(const Problem& p, const Codes& codes, const CodeSums& sums, double f,
                  const std::vector<double>& strength) {  // by their costs
  const Magnitudes& m = sums.sizes;
  const double coarse =
      2 * std::sqrt(m.absolute * m.residual_errors) + m.residual_errors + sums.cancelled;
  if (sums.largest_score && p.terms.costs.empty() &&
      2 * p.beta * sums.score_error <= p.precision / 2 * sums.trace) {
    const Value gap{
        .value = 2 * (p.beta * *sums.largest_score - (sums.xk - sums.xkx)),
        .error = 2 * p.beta * (sums.score_error + score_rounding(p, sums) + sums.score_cancelled) +
                 2 * coarse};
    if (gap.value >= own_part(p) * gap.error &&
        leaves_digits(gap.error, std::max(f, gap.value), p.kernel))
      return gap;
  }
  ScoreBound best = largest_score(p, codes, sums, f);
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * p.beta * best.score;
  Value gap{.value = 2 * (p.beta * best.score - (sums.xk - sums.xkx)),
            .error = 2 * p.beta * (best.error + sums.score_cancelled) + 2 * coarse + rounding};
  require_finite(gap.value);
  if (gap.value >= own_part(p) * gap.error) return gap;
  const std::size_t included = p.terms.included.size();
  const std::vector<Index>& exemplars = codes.list();
  for (std::size_t t = included; t < sums.scores.size(); ++t)
    best.score = std::max(best.score, sums.scores[t] / p.terms.cost(exemplars[t]));
  // Rounding of scores in float32 may have led X out of the ball by as little; the gap of the ball that X is in bounds
  // that of the smaller one.
  double half = (std::max(p.beta, total(strength)) - total(strength)) * best.score;
  for (std::size_t t = included; t < sums.xp.size(); ++t)
    half += strength[t] * best.score - sums.xp[t];
  gap.value = 2 * half;
  return not_negative(p, "gap", gap);
}

}  // namespace

Certificate certify(const Problem& problem, const Codes& codes, const CodeSums& sums,
                    const SelectOptions& options, const Selection& selection) {
  const double unit = problem.kernel.unit();
  const auto in_users_units = [&](double v) { return v / unit / unit; };
  Certificate c;
  c.beta = problem.beta;
  // Of what is included nothing is asked.
  std::vector<double> strength(codes.list().size());
  for (std::size_t t = problem.terms.included.size(); t < strength.size(); ++t)
    strength[t] = problem.terms.cost(codes.list()[t]) * selection.strength[t];
  c.radius_used = total(strength);
  // The direction of every pick has norm 1 to within rounding of its score.
  const bool single = problem.covariance && problem.covariance->single;
  const double of_k = single ? 0x1p-23 : 16 * std::numeric_limits<double>::epsilon();
  const double slack = of_k * sums.trace * problem.steepest;
  const bool within =
      std::isinf(problem.beta) || c.radius_used <= problem.beta * (1 + problem.precision);
  c.feasible = (within || c.radius_used <= problem.beta * (1 + slack)) &&
               (!problem.nonneg || sums.smallest >= 0);
  const Value f = objective(problem, codes, sums);
  Value gap{.value = std::numeric_limits<double>::infinity()};
  if (!std::isinf(problem.beta)) {
    gap = duality_gap(problem, codes, sums, std::max(0.0, f.value), strength);
    require_finite(gap.value);
  }
  c.trusted = within && leaves_digits(f.error, f.value, problem.kernel) &&
              (std::isinf(gap.value) ||
               leaves_digits(gap.error, std::max(f.value, gap.value), problem.kernel));
  c.f = in_users_units(f.value);
  c.f_error = in_users_units(f.error);
  c.gap = in_users_units(gap.value);
  c.gap_error = in_users_units(gap.error);
  c.f_at_zero = in_users_units(problem.terms.included.empty() ? sums.trace : problem.f_at_zero);
  require_finite(c.f);
  if (!std::isinf(problem.beta)) require_finite(c.gap);
  // How well the exemplars stand for the points is a question about the kernel itself.
  const bool approximate = problem.exact != nullptr;
  const KernelMatrix& kernel = approximate ? *problem.exact : problem.kernel;
  const double own_unit = kernel.unit();
  const double rho = options.rho ? *options.rho * own_unit : -1.0;
  const std::vector<Index>& exemplars = selection.exemplars;  // filled ones too
  // ||a||^2 less that of its projection is good to rounding of ||a||^2: enough unless little is left.
  const bool told = sums.linear && !approximate && rho < 0 &&
                    exemplars.size() == codes.list().size() &&
                    sums.linear->projection > 1e-5 * sums.linear->plain_trace;
  Regression errors =
      told ? Regression{sums.linear->projection, sums.linear->projection, sums.linear->plain_trace}
      : problem.far                 ? problem.far->project(exemplars)
      : problem.set && !approximate ? problem.set->project(exemplars, problem.threads)
                                    : regress(kernel, nullptr, exemplars, -1, problem.threads,
                                              problem.keep_going, problem.terms.weights);
  if (rho > 0)
    errors.ridge = ridge_of(kernel, exemplars, rho, problem.terms.weights, problem.threads,
                            problem.keep_going);
  c.reconstruction_error = errors.trace > 0 ? errors.projection / errors.trace : 0.0;
  require_finite(c.reconstruction_error);
  if (options.lambda && options.rho)
    c.boolean_objective = *options.lambda * static_cast<double>(exemplars.size()) +
                          errors.ridge / own_unit / own_unit;
  return c;
}

bool may_certify_in_double(const SelectOptions& options, Index features) {
  constexpr Index most = 4096;
  const KernelFormula& formula = formula_of(options.kernel.type);
  return options.certificate == CertificateKind::full && formula.computed() && !formula.linear &&
         features <= most;
}

Certificate certify_in_double(const Problem& p, const Codes& codes, const SelectOptions& options,
                              const Selection& selection) {
  const std::unique_ptr<KernelMatrix> kernel =
      make_tiled_kernel(*p.points, p.type,
                        {.eta = options.eta,
                         .eta_relative = options.eta_relative,
                         .single = false,
                         .threads = p.threads,
                         .keep_going = p.keep_going});
  const Problem exact{.kernel = *kernel,
                      .points = p.points,
                      .type = p.type,
                      .q = p.q,
                      .nonneg = p.nonneg,
                      .beta = p.beta,
                      .terms = p.terms,
                      .f_at_zero = p.f_at_zero,
                      .precision = p.precision,
                      .steepest = p.steepest,
                      .threads = p.threads,
                      .keep_going = p.keep_going};
  const Codes same(codes, *kernel);
  SelectOptions sums_alone = options;
  sums_alone.codes = sums_alone.assignment = false;
  Selection told;
  const CodeSums sums = describe_codes(exact, same, sums_alone, told);
  return certify(exact, same, sums, options, selection);
}

}  // namespace fwsr
