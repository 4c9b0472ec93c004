#include "fwsr/solver/options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

std::optional<std::string> find_problem(const SelectOptions& o, Index n, Index d) {
  constexpr double largest = 1e100;      // beta: squares and fourth powers stay finite
  constexpr double largest_eta = 1e150;  // so do its squares
  if (n < 1) return "there are no points to select from";
  if (d < 1) return "the points have no features";
  if (o.exemplars < 1 && !(o.budget && o.exemplars == 0))
    return fmt::format("the number of exemplars must be at least 1, got {}", o.exemplars);
  if (o.exemplars > n && !o.until_error)
    return fmt::format(
        "{} exemplars were asked for, but there are only {} points; ask for at most {}",
        o.exemplars, n, n);
  if (o.alpha && o.beta) return "alpha and beta both set the radius; give one of them";
  if (o.alpha && !(*o.alpha >= 0 && std::isfinite(*o.alpha)))
    return fmt::format("alpha must be 0 or a positive number, got {}", *o.alpha);
  if (o.alpha && *o.alpha > 0 && static_cast<double>(n) / *o.alpha > largest)
    return fmt::format("alpha {} makes the radius larger than {}; use 0 for no radius at all",
                       *o.alpha, largest);
  if (o.beta && !(*o.beta > 0 && *o.beta <= largest))
    return fmt::format("beta must be a positive number up to {}, got {}", largest, *o.beta);
  if (!(o.eta >= 0 && o.eta <= largest_eta))
    return fmt::format("eta must be 0 or a positive number up to {}, got {}", largest_eta, o.eta);
  if (!(o.delta >= 0 && std::isfinite(o.delta)))
    return fmt::format("delta must be 0 or a positive number, got {}", o.delta);
  if (o.max_iterations && *o.max_iterations < 1)
    return fmt::format("the iteration limit must be at least 1, got {}", *o.max_iterations);
  if (!(o.ridge >= 1e-6 && o.ridge <= 1e6))  // below it rounding would decide
    return fmt::format("ridge must be between 1e-06 and 1e+06, got {}", o.ridge);
  if (o.refine_rounds < 0)
    return fmt::format("refine_rounds must be 0 or a positive number, got {}", o.refine_rounds);
  if (o.refine != Refine::none && (o.q != Norm::two || o.nonneg))
    return "refine is for q = 2 without a sign constraint";
  if (o.refine == Refine::middle && is_conditional(o))
    return "refine middle would move exemplars to points whatever the conditions say; use refine "
           "exchange, which keeps them";
  if (o.lambda.has_value() != o.rho.has_value())
    return "lambda and rho go together: give both, or neither";
  if (o.lambda && !(*o.lambda >= 0 && std::isfinite(*o.lambda)))
    return fmt::format("lambda must be 0 or a positive number, got {}", *o.lambda);
  if (o.rho && !(*o.rho >= 0 && std::isfinite(*o.rho)))
    return fmt::format("rho must be 0 or a positive number, got {}", *o.rho);
  if (o.lambda && o.certificate == CertificateKind::none)
    return "lambda and rho ask for a number of the certificate; do not set certificate to none";
  if (o.alpha && *o.alpha == 0 && (o.q != Norm::two || o.nonneg))
    return "alpha = 0 (matching pursuit) is for q = 2 without a sign constraint";
  const KernelType kernel = o.kernel.type;
  const KernelFormula& formula = formula_of(kernel);
  if (o.kernel.gamma && !formula.has_gamma)
    return fmt::format("gamma means nothing for the {} kernel; leave it out", name_of(kernel));
  if (o.kernel.gamma && !(*o.kernel.gamma > 0 && std::isfinite(*o.kernel.gamma)))
    return fmt::format("gamma must be a positive number, got {}", *o.kernel.gamma);
  if (formula.has_degree && o.kernel.degree < 1)
    return fmt::format("the degree must be at least 1, got {}", o.kernel.degree);
  if (formula.has_degree && !(o.kernel.coef0 >= 0 && std::isfinite(o.kernel.coef0)))
    return fmt::format("coef0 must be 0 or a positive number, got {}", o.kernel.coef0);
  if (kernel == KernelType::precomputed) {
    if (n != d)
      return fmt::format("a precomputed kernel must be square; this matrix is {} x {}", n, d);
    if (o.center && *o.center != Center::none)
      return "a precomputed kernel cannot be centred; center the data it was made from";
    if (o.scale != Scale::none)
      return "a precomputed kernel cannot be scaled; scale the data it was made from";
  }
  if (o.rank < 0) return fmt::format("rank must be 0 (exact) or positive, got {}", o.rank);
  if (o.rank > 0 && !formula.computed())
    return fmt::format(
        "rank is for the {} kernels; leave it out for the {} kernel{}", kernel_words().computed,
        name_of(kernel),
        kernel == KernelType::precomputed ? "" : ", which never needs an n x n matrix");
  if (o.rank > 0 && (o.q != Norm::two || o.nonneg))
    return fmt::format("rank is for q = 2 without a sign constraint; {} needs the whole kernel",
                       o.nonneg ? "nonneg" : fmt::format("q = {}", name_of(o.q)));
  if (o.threads < 0)
    return fmt::format("the number of threads must be positive, got {}", o.threads);
  if (o.memory < 0) return "the memory limit must be positive";
  return find_problem_with_conditions(o, n);
}

const char* name_of(Center v) {
  return v == Center::point ? "point" : v == Center::feature ? "feature" : "none";
}
const char* name_of(Scale v) {
  return v == Scale::none ? "none" : v == Scale::standard ? "standard" : "unit";
}
const char* name_of(Norm v) {
  return v == Norm::one ? "1" : v == Norm::two ? "2" : "inf";
}
const char* name_of(Refine v) {
  switch (v) {
    case Refine::none:
      return "none";
    case Refine::exchange:
      return "exchange";
    case Refine::middle:
      return "middle";
  }
  return "?";
}
const char* name_of(WhenConverged v) {
  return v == WhenConverged::grow ? "grow" : "stop";
}
const char* name_of(CertificateKind v) {
  return v == CertificateKind::full ? "full" : "none";
}
const char* name_of(KernelBy v) {
  switch (v) {
    case KernelBy::held:
      return "held";
    case KernelBy::tiles:
      return "tiles";
    case KernelBy::products:
      return "products";
    case KernelBy::given:
      return "given";
    case KernelBy::factor:
      return "factor";
    case KernelBy::none:
      break;
  }
  return "";
}
std::string form_of(const Plan& plan) {
  const std::string form = name_of(plan.form);
  return plan.kernel_by == KernelBy::none ? form : form + ' ' + name_of(plan.kernel_by);
}
const char* name_of(Progress::Stage v) {
  return v == Progress::Stage::setup      ? "setup"
         : v == Progress::Stage::steps    ? "steps"
         : v == Progress::Stage::exchange ? "exchange"
                                          : "certificate";
}
const char* name_of(Status v) {
  switch (v) {
    case Status::exemplars_reached:
      return "exemplars_reached";
    case Status::converged:
      return "converged";
    case Status::exhausted:
      return "exhausted";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::interrupted:
      return "interrupted";
    case Status::budget_spent:
      return "budget_spent";
    case Status::error_reached:
      return "error_reached";
    case Status::time_limit:
      return "time_limit";
    case Status::candidates_exhausted:
      return "candidates_exhausted";
  }
  return "?";
}

std::string text_of(const NumberOrAuto& value) {
  return value ? fmt::format("{}", *value) : auto_name;
}

bool is_conditional(const SelectOptions& o) {
  const Conditions& c = o.conditions;
  const auto is_one = [](double v) { return v == 1; };
  return o.budget || o.until_error || !c.included.empty() || !c.at_least.empty() ||
         !c.at_most.empty() || !std::all_of(c.weights.begin(), c.weights.end(), is_one) ||
         !std::all_of(c.costs.begin(), c.costs.end(), is_one) ||
         std::find(c.candidates.begin(), c.candidates.end(), false) != c.candidates.end();
}

double effective_beta(const SelectOptions& o, Index n) {
  if (o.beta) return *o.beta;
  if (!o.alpha)
    return 10 *
           (o.budget ? *o.budget : static_cast<double>(o.exemplars) * mean_cost(o.conditions, n));
  return *o.alpha == 0 ? std::numeric_limits<double>::infinity()
                       : weight_of_all(o.conditions, n) / *o.alpha;
}

Center effective_center(const SelectOptions& o) {
  if (o.center) return *o.center;
  return formula_of(o.kernel.type).centered ? Center::point : Center::none;
}

Index effective_max_iterations(const SelectOptions& o) {
  return o.max_iterations.value_or(100 * o.exemplars + 1000);
}

}  // namespace fwsr
