#include "fwsr/solver/prepared_problem.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/projected_kernel.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/far_factor.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/unexplained.hpp"

namespace fwsr {

int threads_of(const SelectOptions& o) {
  return o.threads > 0 ? o.threads : default_threads();
}

Preprocessing preprocessing_of(const SelectOptions& o) {
  const KernelFormula& kernel = formula_of(o.kernel.type);
  return {.center = effective_center(o),
          .scale = o.scale,
          .eta = kernel.linear ? o.eta : 0.0,
          .eta_relative = o.eta_relative,
          .normalize = kernel.normalize};
}

Kernel kernel_of(const SelectOptions& o, const Points& points, int threads) {
  Kernel kernel = o.kernel;
  if (formula_of(kernel.type).linear) kernel.type = KernelType::linear;
  if (!formula_of(kernel.type).has_gamma || kernel.gamma) return kernel;
  kernel.gamma = default_gamma(points, kernel.type, threads, kernel.width);
  if (!std::isnormal(*kernel.gamma))
    throw Error(fmt::format(
        "the points are too {} for the {} kernel: the width that suits them is no number any more; "
        "multiply them by a constant that brings them near 1",
        *kernel.gamma > 1 ? "small" : "large", name_of(kernel.type)));
  return kernel;
}

void refuse_if_too_far_from_origin(const PointFacts& facts, KernelType type,
                                   const std::function<double(Index i, double* out)>& fetch) {
  const Index n = facts.size, d = facts.features, sample = std::min<Index>(n, 64);
  std::vector<double> row(static_cast<std::size_t>(facts.dim)), before(row.size()), gap(row.size());
  double norm = 0, norm_lost = 0, distance = 0, distance_lost = 0, square_before = 0;
  for (Index s = 0; s < sample; ++s) {
    const double square = fetch(s * n / sample, row.data());
    const double own = dot(row.data(), row.data(), d);
    norm += own;
    norm_lost += std::abs(square - own);
    if (s > 0) {
      for (std::size_t l = 0; l < row.size(); ++l) gap[l] = row[l] - before[l];
      const double apart = dot(gap.data(), gap.data(), d);
      const double by_norms = square + square_before - 2 * dot(row.data(), before.data(), d);
      distance += apart;
      if (apart > 0) distance_lost += std::abs(by_norms - apart);  // copies lose nothing
    }
    std::swap(row, before);
    square_before = square;
  }
  constexpr double most = 1e-4;
  // The largest number is near 1: centring leaves nothing, and that is seen.
  if (norm <= 1e-24 * static_cast<double>(sample)) return;
  const bool distances = formula_of(type).of == KernelOf::squared_distances;
  if (norm_lost <= most * norm && (!distances || distance_lost <= most * distance)) return;
  throw Error(
      "these sparse points lie so far from the origin that their differences drown in rounding; "
      "subtract a constant from the features that are far from 0, or give a dense matrix");
}

void PreparedProblem::make_kernel(const SelectOptions& o, const Plan& plan, bool in_single,
                                  bool hold, const KeepGoing& keep_going) {
  held.reset();
  source = make_tiled_kernel(*points, type,
                             {.eta = o.eta,
                              .eta_relative = o.eta_relative,
                              .single = in_single,
                              .threads = plan.threads,
                              .keep_going = keep_going});
  if (!hold) return;
  if (plan.device == "cpu")
    held = make_held_kernel(*source, plan.threads);
  else
    held = hold_on_card(*source, {.points = points.get(),
                                  .type = type,
                                  .single = in_single,
                                  .number = o.device.number,
                                  .memory = o.device_memory,
                                  .threads = plan.threads,
                                  .keep_going = keep_going,
                                  .or_computed = single});
}

void set_terms(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan) {
  prepared.terms = terms_of(o.conditions, prepared.kernel().size());
  if (prepared.set) prepared.set->narrow(prepared.terms);
  if (prepared.far && prepared.terms.weighted()) {  // what is asked about the kernel itself
    Terms counted;
    counted.weights = prepared.terms.weights;
    prepared.far->points().narrow(counted);
  }
  // Methods of their own take away what is included themselves.
  if (!prepared.terms.included.empty() && plan.form != FormKind::none)
    prepared.beyond = make_projected_kernel(prepared.kernel(), prepared.terms.included,
                                            plan.form != FormKind::covariance, plan.threads);
}

PreparedProblem prepare_problem(const PointsView& view, std::span<const Index> subset,
                                const SelectOptions& o, const Plan& plan,
                                const KeepGoing& keep_going) {
  if (o.kernel.type == KernelType::precomputed) {
    PreparedProblem prepared;
    prepared.source = make_given_kernel(view, subset, o.eta, o.eta_relative, plan.threads);
    if (plan.device != "cpu")
      prepared.held =
          hold_on_card(*prepared.source, {.single = is_single(view) && prepared.source->eta() == 0,
                                          .number = o.device.number,
                                          .memory = o.device_memory,
                                          .threads = plan.threads,
                                          .keep_going = keep_going});
    set_terms(prepared, o, plan);
    return prepared;
  }
  if (by_far_factor(o, plan, is_sparse(view))) {
    const Preprocessing prep = preprocessing_of(o);
    auto points = std::make_unique<Points>(
        view, subset, prep, Portion(subset.empty() ? fwsr::rows_of(view) : std::ssize(subset)), 0);
    const PointsShape shape = points->shape();
    auto shard = std::make_shared<OneShard>(plan.threads, keep_going);
    shard->shard().add(0, std::move(points));
    PreparedProblem prepared =
        prepare_far_factor(std::make_unique<LearntPoints<OneShard>>(std::move(shard), shape, prep),
                           o, plan, keep_going);
    set_terms(prepared, o, plan);
    return prepared;
  }
  return prepare_problem(std::make_unique<Points>(view, subset, preprocessing_of(o), plan.threads),
                         o, plan, keep_going);
}

bool by_far_factor(const SelectOptions& o, const Plan& plan, bool sparse) {
  return plan.form == FormKind::covariance && plan.kernel_by == KernelBy::factor && !sparse &&
         has_far_factor(o) && !o.rho && !o.until_error;
}

bool has_far_factor(const SelectOptions& o) {
  return formula_of(o.kernel.type).of_distances() &&
         (o.refine != Refine::middle || middle_of_points(o.kernel.type));
}

PreparedProblem prepare_problem(std::unique_ptr<Points> points, const SelectOptions& o,
                                const Plan& plan, const KeepGoing& keep_going) {
  PreparedProblem prepared;
  prepared.points = std::move(points);
  const Points& all = *prepared.points;
  prepared.warning = all.warning();
  if (all.sparse())
    refuse_if_too_far_from_origin(
        {.size = all.size(), .dim = all.dim(), .features = all.features()}, o.kernel.type,
        [&](Index i, double* out) { return all.row(i, out), all.squared_norm(i); });
  prepared.type = kernel_of(o, *prepared.points, plan.threads);
  prepared.single = prepared.points->single() && !o.precise && plan.form == FormKind::representer &&
                    plan.kernel_by != KernelBy::products && o.conditions.included.empty();
  prepared.make_kernel(o, plan, prepared.single, plan.kernel_by == KernelBy::held, keep_going);
  if (plan.kernel_by == KernelBy::factor) {
    const KernelMatrix& exact = *prepared.source;
    prepared.factor = std::make_unique<Factor>(
        exact, *prepared.points, prepared.type, std::min(o.rank, exact.size()),
        prepared.points->single() && !o.precise, plan.threads, keep_going);
    const Preprocessing as_is{.center = Center::none, .eta = exact.eta() * prepared.factor->unit()};
    prepared.coordinates = std::make_unique<Points>(prepared.factor->rows(),
                                                    std::span<const Index>{}, as_is, plan.threads);
    prepared.approximate = make_factor_kernel(
        *prepared.factor, make_tiled_kernel(*prepared.coordinates, {}, {.keep_going = keep_going}),
        exact);
  }
  if (plan.form == FormKind::covariance)
    prepared.set = std::make_unique<LocalPoints>(prepared.feature_rows(), plan.threads, keep_going);
  set_terms(prepared, o, plan);
  return prepared;
}

RunOptions run_options(const SelectOptions& o, const PreparedProblem& prepared, double f_at_zero,
                       int threads, Clock::time_point start) {
  const KernelMatrix& kernel = prepared.kernel();
  const double unit = kernel.unit();
  const double told = f_at_zero / unit / unit;  // in the user's units
  if (!std::isfinite(told) || (f_at_zero > 0 && told < std::numeric_limits<double>::min()))
    throw Error(
        "the squares of the points are too large or too small for floating-point numbers; rescale "
        "the features, or remove values near the largest or smallest number");
  std::function<bool(const std::vector<Index>&)> enough;
  if (o.until_error)
    enough = [share = make_unexplained(prepared, threads), conditions = o.conditions,
              most = *o.until_error](const std::vector<Index>& exemplars) {
      return missing_of_floors(conditions, exemplars) == 0 && share->of(exemplars) <= most;
    };
  std::optional<Clock::time_point> deadline;
  if (o.time_limit)
    deadline = start + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(std::min(*o.time_limit, 1e9)));
  return {.exemplars = o.exemplars,
          .beta = effective_beta(o, kernel.size()),
          .delta = o.delta_absolute ? o.delta * unit * unit : o.delta * f_at_zero,
          .when_converged = o.when_converged,
          .max_iterations = effective_max_iterations(o),
          .open = OpenRows(o, prepared.terms, kernel.size()),
          .enough = std::move(enough),
          .deadline = deadline,
          .recorder = o.recorder};
}

}  // namespace fwsr
