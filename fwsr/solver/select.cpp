#include "fwsr/solver/select.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/factor.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/certificate.hpp"
#include "fwsr/solver/codes.hpp"
#include "fwsr/solver/coefficients.hpp"
#include "fwsr/solver/covariance_form.hpp"
#include "fwsr/solver/fill.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/gradient_form.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/representer_form.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

Preprocessing preprocessing_of(const SelectOptions& o) {
  const bool in_points = o.kernel.type == KernelType::linear || o.kernel.type == KernelType::cosine;
  return {.center = effective_center(o),
          .scale = o.scale,
          .eta = in_points ? o.eta : 0.0,
          .eta_relative = o.eta_relative,
          .normalize = o.kernel.type == KernelType::cosine};
}

namespace {

/// The kernel with its gamma filled in; cosine is linear on normalised points.
Kernel kernel_of(const SelectOptions& o, const Points& points, int threads) {
  Kernel kernel = o.kernel;
  if (kernel.type == KernelType::cosine) kernel.type = KernelType::linear;
  if (kernel.type == KernelType::linear || kernel.gamma) return kernel;
  kernel.gamma = default_gamma(points, kernel.type, threads);
  if (!std::isnormal(*kernel.gamma))
    throw Error(fmt::format(
        "the points are too {} for the {} kernel: the width that suits them is no number any more; "
        "multiply them by a constant that brings them near 1",
        *kernel.gamma > 1 ? "small" : "large", name_of(kernel.type)));
  return kernel;
}

}  // namespace

void Space::make_kernel(const SelectOptions& o, const Plan& plan, bool in_single, bool hold,
                        const Alive& alive) {
  held.reset();
  source = make_tiled_kernel(*points, type,
                             {.eta = o.eta,
                              .eta_relative = o.eta_relative,
                              .single = in_single,
                              .threads = plan.threads,
                              .alive = alive});
  if (hold) held = make_held_kernel(*source, plan.threads);
}

Space make_space(const PointsView& view, std::span<const Index> subset, const SelectOptions& o,
                 const Plan& plan, const Alive& alive) {
  if (o.kernel.type == KernelType::precomputed) {
    Space space;
    space.source = make_given_kernel(view, subset, o.eta, o.eta_relative, plan.threads);
    return space;
  }
  return make_space(std::make_unique<Points>(view, subset, preprocessing_of(o), plan.threads), o,
                    plan, alive);
}

namespace {

/// Norms and distances of sparse points come from sums over their entries, less what centring takes away:
/// far from the origin nothing is left of them but rounding. Some points, met as they are, tell.
void refuse_if_too_far_from_origin(const Points& points, KernelType type) {
  const Index n = points.size(), d = points.features(), sample = std::min<Index>(n, 64);
  std::vector<double> row(static_cast<std::size_t>(points.dim())), before(row.size()),
      gap(row.size());
  double norm = 0, norm_lost = 0, distance = 0, distance_lost = 0;
  for (Index s = 0; s < sample; ++s) {
    const Index i = s * n / sample, last = s > 0 ? (s - 1) * n / sample : 0;
    points.row(i, row.data());
    const double own = dot(row.data(), row.data(), d);
    norm += own;
    norm_lost += std::abs(points.squared_norm(i) - own);
    if (s > 0) {
      for (std::size_t l = 0; l < row.size(); ++l) gap[l] = row[l] - before[l];
      const double apart = dot(gap.data(), gap.data(), d);
      const double by_norms = points.squared_norm(i) + points.squared_norm(last) -
                              2 * dot(row.data(), before.data(), d);
      distance += apart;
      if (apart > 0) distance_lost += std::abs(by_norms - apart);  // copies lose nothing
    }
    std::swap(row, before);
  }
  constexpr double most = 1e-4;
  // The largest number is near 1: centring leaves nothing, and that is seen.
  if (norm <= 1e-24 * static_cast<double>(sample)) return;
  if (norm_lost <= most * norm && (type != KernelType::rbf || distance_lost <= most * distance))
    return;
  throw Error(
      "these sparse points lie so far from the origin that their differences drown in rounding; "
      "subtract a constant from the features that are far from 0, or give a dense matrix");
}

}  // namespace

Space make_space(std::unique_ptr<Points> points, const SelectOptions& o, const Plan& plan,
                 const Alive& alive) {
  Space space;
  space.points = std::move(points);
  if (space.points->sparse()) refuse_if_too_far_from_origin(*space.points, o.kernel.type);
  space.type = kernel_of(o, *space.points, plan.threads);
  space.single = space.points->single() && !o.precise && plan.form == "representer" &&
                 plan.kernel_by != "products";
  space.make_kernel(o, plan, space.single, plan.kernel_by == "held", alive);
  if (plan.kernel_by == "factor") {
    const KernelMatrix& exact = *space.source;
    space.factor =
        std::make_unique<Factor>(exact, *space.points, space.type, std::min(o.rank, exact.size()),
                                 space.points->single() && !o.precise, plan.threads, alive);
    const Preprocessing as_is{.center = Center::none, .eta = exact.eta() * space.factor->unit()};
    space.coordinates = std::make_unique<Points>(space.factor->rows(), std::span<const Index>{},
                                                 as_is, plan.threads);
    space.approximate = make_factor_kernel(*space.factor, *space.coordinates, exact, alive);
  }
  if (plan.form == "covariance")
    space.set = std::make_unique<LocalPoints>(space.linear(), plan.threads, alive);
  return space;
}

/// Whether half of K in double fits beside what the plan counts, without its half in float32.
bool fits_in_double(const SelectOptions& o, const Plan& plan) {
  const auto n = static_cast<double>(plan.points);
  const double needed = held_kernel_bytes(n, false);
  if (o.memory == 0) return needed <= 0.8 * static_cast<double>(available_memory());
  const auto planned = static_cast<double>(plan.data_bytes + plan.memory_bytes) +
                       static_cast<double>(plan.memory_per_thread) * plan.threads;
  return planned - held_kernel_bytes(n, true) + needed <= static_cast<double>(o.memory);
}

std::unique_ptr<Form> make_form(Space& space, const SelectOptions& o, const Plan& plan,
                                const Alive& alive) {
  if (plan.form == "gradient")
    return std::make_unique<GradientForm>(space.kernel(), o.q, o.nonneg, plan.threads);
  if (plan.form == "covariance")
    return std::make_unique<CovarianceForm>(*space.set, space.set->facts().single && !o.precise,
                                            plan.threads);
  const auto in_double = [&space, &o, &plan, &alive]() -> const KernelMatrix& {
    const bool hold = space.held && (space.held.reset(), fits_in_double(o, plan));
    space.make_kernel(o, plan, false, hold, alive);
    return space.kernel();
  };
  return std::make_unique<RepresenterForm>(space.kernel(), plan.threads, in_double, alive);
}

RunOptions run_options(const SelectOptions& o, const KernelMatrix& kernel, double f_at_zero) {
  const double unit = kernel.unit();
  const double told = f_at_zero / unit / unit;  // in the user's units
  if (!std::isfinite(told) || (f_at_zero > 0 && told < std::numeric_limits<double>::min()))
    throw Error(
        "the squares of the points are too large or too small for floating-point numbers; rescale "
        "the features, or remove values near the largest or smallest number");
  return {.exemplars = o.exemplars,
          .beta = effective_beta(o, kernel.size()),
          .delta = o.delta_absolute ? o.delta * unit * unit : o.delta * f_at_zero,
          .when_converged = o.when_converged,
          .max_iterations = effective_max_iterations(o)};
}

namespace {

/// What a short answer means, in a sentence.
void warn_if_short(Selection& s, const SelectOptions& o) {
  const auto found = static_cast<Index>(s.exemplars.size());
  if (found >= o.exemplars) return;
  const char* reason = "";
  switch (s.status) {
    case Status::converged:
      reason =
          "the gap closed first; a smaller alpha, a larger beta or when-converged grow finds more";
      break;
    case Status::exhausted:
      reason =
          s.eta_relative > 1e3
              ? "eta is so large beside the points that nothing else counts; choose a smaller one"
          : o.kernel.type != KernelType::precomputed && effective_center(o) != Center::none
              ? "the others add nothing (copies, already represented, or nothing but what centring "
                "takes away)"
              : "the others add nothing (copies, or already represented)";
      break;
    case Status::iteration_limit:
      reason =
          o.when_converged == WhenConverged::grow
              ? "the iteration limit came first; raise it, or try center feature: what all points "
                "have in common may hide how they differ"
              : "the iteration limit came first; raise it, or choose a larger beta";
      break;
    case Status::interrupted:
      reason = "the run was interrupted";
      break;
    case Status::exemplars_reached:
      break;
  }
  const char* then = o.fill ? "; the rest was filled up with the farthest points"
                     : s.status == Status::exhausted ? "; fill would add the farthest ones"
                                                     : "";
  s.warnings.push_back(
      fmt::format("asked for {}, found {}: {}{}", o.exemplars, found, reason, then));
}

/// A linear kernel tells no more than as many exemplars apart as the points have dimensions.
void warn_if_spanned(Selection& s, const SelectOptions& o, Index features) {
  const bool linear = o.kernel.type == KernelType::linear || o.kernel.type == KernelType::cosine;
  const Index dimensions = features - (effective_center(o) == Center::point ? 1 : 0);
  if (!linear || o.exemplars <= dimensions) return;
  s.warnings.push_back(fmt::format(
      "{} exemplars of points with {} dimension{}{}: once these are spanned, further picks add "
      "nothing; another kernel, such as rbf, tells more apart",
      o.exemplars, dimensions, dimensions == 1 ? "" : "s",
      effective_center(o) == Center::point ? " after centring each point" : ""));
}

/// Rounding of K, times this, is that of the directions of the picks.
double steepest(const std::vector<Step>& trace, const KernelMatrix& kernel) {
  double most = 0;
  for (const Step& s : trace)
    if (s.score > 0) most = std::max(most, kernel.diagonal(s.pick) / s.score / s.score);
  return most;
}

void warn_if_not_trusted(Selection& s) {
  if (!s.certificate) return;
  const Certificate& c = *s.certificate;
  if (c.f < -c.f_error)
    s.warnings.push_back(
        "f is below zero: the kernel is not positive semi-definite on these points, so that f and "
        "gap say nothing; a polynomial with a larger coef0 is, and so are other kernels");
  if (c.trusted) return;
  s.warnings.push_back(fmt::format(
      "the certificate cannot be trusted: rounding may have changed f by {:.2g} and the gap by "
      "{:.2g}, "
      "because some numbers are so large that the others are lost beside them; remove these "
      "points, or rescale or centre the features",
      c.f_error, c.gap_error));
}

/// A factor that leaves out more than this part of what the exemplars leave out has begun to
/// choose worse; and more than this part of tr K, where nobody measured the exemplars.
constexpr double large_beside_exemplars = 0.6;
constexpr double large_alone = 0.1;
constexpr double never_large = 0.01;

void describe_factor(const Factor& factor, const SelectOptions& o, Selection& s) {
  s.kernel_rank = factor.rank();
  s.kernel_error = factor.error();
  const double error = factor.error();
  const double limit =
      s.certificate ? large_beside_exemplars * s.certificate->reconstruction_error : large_alone;
  if (error > std::max(limit, never_large))
    s.warnings.push_back(
        fmt::format("the factor of rank {} leaves {:.3g} % of the kernel's trace out{}: a larger "
                    "rank chooses better",
                    factor.rank(), 100 * error,
                    s.certificate ? fmt::format(", beside {:.3g} % that the exemplars leave",
                                                100 * s.certificate->reconstruction_error)
                                  : ""));
  if (o.exemplars > factor.rank())
    s.warnings.push_back(
        fmt::format("{} exemplars through a factor of rank {}: once its columns are spanned, "
                    "further picks add nothing",
                    o.exemplars, factor.rank()));
}

/// X = Theta (F_B F^T + eta^2) as combinations of the true kernel's columns at the landmarks: with
/// F = K_nL G^-T, X = (Theta F_B G^-1) K_Ln + eta^2 Theta 1. In the user's units; the eta^2 that is
/// part of every entry of K is taken out of the constant.
Coefficients at_landmarks(const Coefficients& theta, const Space& space) {
  const Points& rows = space.linear();
  const auto r = static_cast<std::size_t>(space.factor->rank());
  const std::size_t m = theta.basis.size(), k = m ? theta.theta.size() / m : 0;
  const double unit = space.kernel().unit();
  const double eta = space.kernel().eta() / unit;
  Coefficients result{.basis = space.factor->landmarks(),
                      .theta = std::vector<double>(k * r),
                      .offset = std::vector<double>(eta != 0 ? k : 0)};
  std::vector<double> row(static_cast<std::size_t>(rows.dim()));
  for (std::size_t b = 0; b < m; ++b) {
    rows.row(theta.basis[b], row.data());
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t l = 0; l < r; ++l)
        result.theta[t * r + l] += theta.theta[t * m + b] * row[l];
  }
  space.factor->to_landmarks(result.theta.data(), static_cast<Index>(k));
  const double kernel_unit = space.factor->unit() * space.source->unit();
  const double to_user = rows.unit() * kernel_unit * kernel_unit;
  for (double& v : result.theta) v *= to_user;
  for (std::size_t t = 0; t < result.offset.size(); ++t) {
    double sum = 0, new_sum = 0;
    for (std::size_t b = 0; b < m; ++b) sum += theta.theta[t * m + b] * unit * unit;
    for (std::size_t l = 0; l < r; ++l) new_sum += result.theta[t * r + l];
    result.offset[t] = eta * eta * (sum - new_sum);
  }
  return result;
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

Remains remains_of(std::unique_ptr<Form> form) {
  Remains remains;
  if (const auto* covariance = dynamic_cast<const CovarianceForm*>(form.get()))
    remains.covariance = covariance->covariance();
  if (auto* representer = dynamic_cast<RepresenterForm*>(form.get()))
    remains.products = representer->take_products();
  if (auto* gradient = dynamic_cast<GradientForm*>(form.get()))
    remains.rows = gradient->take_rows();
  return remains;
}

void describe_run(Run run, const Remains& remains, const Space& space, const SelectOptions& options,
                  const Alive& alive, Selection& result) {
  const auto start = Clock::now();
  const Plan& plan = result.plan;
  const KernelMatrix& kernel = space.kernel();
  const double unit = kernel.unit();
  result.exemplars = run.exemplars;
  result.status = run.status;
  result.beta = run.beta;
  result.f_at_zero = run.f_at_zero / unit / unit;
  result.eta = kernel.eta() / unit;
  result.eta_relative = kernel.rms_norm() > 0 ? kernel.eta() / kernel.rms_norm() : 0.0;
  result.gamma = space.gamma();

  const bool free_two = options.q == Norm::two && !options.nonneg;
  if (run.status == Status::interrupted) {  // who stops a run does not wait for its codes
    warn_if_short(result, options);
    result.filled.assign(result.exemplars.size(), false);
    rescale(run.trace, unit);
    result.trace = std::move(run.trace);
    return;
  }
  const Coefficients theta =
      free_two ? replay(run.trace, run.exemplars, kernel, alive) : Coefficients{};
  const Codes codes =
      free_two ? Codes(kernel, run.exemplars, theta) : Codes(kernel, run.exemplars, remains.rows);
  const PointSet* const set = remains.covariance ? space.set.get() : nullptr;
  const Problem problem{
      .kernel = kernel,
      .set = set,
      .covariance = remains.covariance.get(),
      .products = remains.products ? &*remains.products : nullptr,
      .exact = space.factor ? space.source.get() : nullptr,
      .points = space.points.get(),
      .type = space.type,
      .q = options.q,
      .nonneg = options.nonneg,
      .beta = run.beta,
      .precision = space.single || (set && set->facts().single && !options.precise) ? 1e-6 : 1e-9,
      .steepest = steepest(run.trace, kernel),
      .threads = plan.threads,
      .alive = alive};
  const CodeSums sums = describe_codes(problem, codes, options, result);
  warn_if_short(result, options);
  warn_if_spanned(result, options, space.points ? space.points->features() : 0);
  if (space.points && space.points->warning()) result.warnings.push_back(*space.points->warning());
  result.filled.assign(result.exemplars.size(), false);
  if (options.fill) fill_up(kernel, options.exemplars, plan.threads, options.codes, result);
  if (options.certificate == CertificateKind::full)
    result.certificate = certify(problem, codes, sums, options, result);
  warn_if_not_trusted(result);
  if (space.factor) {
    describe_factor(*space.factor, options, result);
    result.coefficients = at_landmarks(theta, space);
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

void number_among_all(std::span<const Index> subset, Selection& result) {
  if (subset.empty()) return;
  const auto original = [&](Index i) { return i < 0 ? i : subset[static_cast<std::size_t>(i)]; };
  for (Index& e : result.exemplars) e = original(e);
  for (Step& s : result.trace) s.pick = original(s.pick);
  if (result.coefficients)
    for (Index& b : result.coefficients->basis) b = original(b);
}

Selection select_points(const PointsView& view, std::span<const Index> subset,
                        const SelectOptions& options, const Plan& plan, const Observer& observer) {
  const SerialBlas serial;
  make_room_for_products(threads_of(options));
  Selection result;
  result.plan = plan;
  const auto start = Clock::now();
  Watch watch(observer, options.exemplars);
  const Alive alive = watch.alive();
  try {
    Space space = make_space(view, subset, options, plan, alive);
    std::unique_ptr<Form> form = make_form(space, options, plan, alive);
    result.seconds.setup = seconds_since(start);

    const auto stepping = Clock::now();
    const double unit = space.kernel().unit();
    Run run = frank_wolfe(*form, run_options(options, space.kernel(), form->objective()),
                          [&](const Progress& p) {
                            return watch.tell([&](Progress& told) { told = in_units(p, unit); });
                          });
    result.seconds.steps = seconds_since(stepping);
    watch.enter(Progress::Stage::certificate);
    describe_run(std::move(run), remains_of(std::move(form)), space, options, alive, result);
  } catch (const Interrupted&) {
    result.status = Status::interrupted;
    result.certificate.reset();
  }
  number_among_all(subset, result);
  return result;
}

int threads_of(const SelectOptions& o) {
  return o.threads > 0 ? o.threads : default_threads();
}

Plan plan(const PointsView& points, const SelectOptions& options) {
  if (const auto problem = find_problem(options, rows_of(points), cols_of(points)))
    throw Error(*problem);
  return make_plan(facts_of(points, threads_of(options)), options);
}

Selection select(const PointsView& points, const SelectOptions& options, const Observer& observer) {
  return select_points(points, {}, options, plan(points, options), observer);
}

std::vector<double> encode(const PointsView& points, const SelectOptions& options,
                           const Selection& selection, const PointsView& new_points) {
  if (!selection.coefficients)
    throw Error("codes of new points need a selection with q = 2 and without a sign constraint");
  if (options.kernel.type == KernelType::precomputed)
    throw Error("codes of new points need the points; a precomputed kernel has none");
  const int threads = threads_of(options);
  const SerialBlas serial;
  make_room_for_products(threads);
  const Points trained(points, {}, preprocessing_of(options), threads);
  SelectOptions same = options;  // the gamma that was used, found from the data or given
  if (selection.gamma > 0) same.kernel.gamma = selection.gamma;
  const Kernel kernel = kernel_of(same, trained, threads);
  return encode_points(trained, kernel, options.eta, options.eta_relative, *selection.coefficients,
                       static_cast<Index>(selection.exemplars.size()),
                       Points(new_points, trained, threads));
}

}  // namespace fwsr
