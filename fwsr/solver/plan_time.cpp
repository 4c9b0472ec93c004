#include "fwsr/solver/plan_time.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/landmarks.hpp"
#include "fwsr/linalg/matrix_unit.hpp"
#include "fwsr/linalg/rates.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

Operations& Operations::operator+=(const Operations& other) {
  products += other.products;
  single_products += other.single_products;
  loops += other.loops;
  bytes += other.bytes;
  fresh_bytes += other.fresh_bytes;
  regions += other.regions;
  return *this;
}

Operations operator+(Operations a, const Operations& b) {
  return a += b;
}

Operations operator*(double times, const Operations& a) {
  return {.products = times * a.products,
          .single_products = times * a.single_products,
          .loops = times * a.loops,
          .bytes = times * a.bytes,
          .fresh_bytes = times * a.fresh_bytes,
          .regions = times * a.regions};
}

namespace {

/// The sizes of a problem, and what its pieces take. What a piece takes per number was measured (bench/plan_seconds.py);
/// how fast that is on this machine, linalg/rates.hpp tells.
class Pieces {
 public:
  Pieces(const PlanFacts& facts, const SelectOptions& o)
      : n(static_cast<double>(facts.points)),
        d(static_cast<double>(facts.features) + (o.eta != 0 ? 1 : 0)),
        k(static_cast<double>(o.exemplars)),
        entries(static_cast<double>(facts.entries)),
        number(facts.single ? 4 : 8),
        single(facts.single && !o.precise),
        sparse(facts.sparse),
        kernel(o.kernel.type) {}

  double n, d, k, entries;
  double number;  // bytes of a stored one
  bool single, sparse;
  KernelType kernel;

  bool linear() const { return kernel == KernelType::linear || kernel == KernelType::cosine; }

  Operations product(double flops, bool in_single) const {
    return in_single ? Operations{.single_products = flops} : Operations{.products = flops};
  }

  /// So many entries of K, in blocks.
  Operations kernel_entries(double count, bool in_single) const {
    const double value = linear() ? 10 : kernel == KernelType::polynomial ? 40 : 120;
    if (sparse && kernel != KernelType::laplacian)
      return {.loops = count * (23 * entries / std::max(1.0, n) + value)};
    if (kernel == KernelType::laplacian) return {.loops = count * (50 * d + value)};
    return product(3 * d * count, in_single) + Operations{.loops = count * value};
  }

  /// One look at all points.
  Operations visit() const {
    if (sparse) return {.loops = 20 * entries, .bytes = 12 * entries};
    return {.loops = 20 * n * d, .bytes = number * n * d};
  }
};

/// Least squares of all points on k exemplars, one point after the other.
Operations least_squares(const Pieces& p) {
  return {.loops = 6 * p.n * p.k * p.k};
}

/// Closing of a run in the kernel's space: codes, scores and least squares, with a basis of about k points.
Operations closing_by_kernel(const Pieces& p) {
  return 2 * p.kernel_entries(p.n * p.k, false) + Operations{.products = 6 * p.n * p.k * p.k} +
         least_squares(p);
}

/// The covariance form on n rows of d numbers, which may be a factor's.
void covariance(double n, double d, double k, double number, bool single, Plan& plan) {
  const bool unit = single && matrix_unit_pays(static_cast<Index>(std::min(d, 1e6)));
  const double gram = 3 * n * d * d;
  plan.setup +=
      single ? Operations{.single_products = unit ? gram / 4 : gram} : Operations{.products = gram};
  plan.setup += {.loops = 60 * n * d, .bytes = 2 * number * n * d};
  plan.step +=
      {.loops = 3 * n * d + 40 * n + 10 * d * d, .bytes = number * n * d + 40 * n, .regions = 3};
  plan.closing += {.products = 8 * n * d * k + 12 * n * k * k,
                   .loops = n * (20 * d + 20 * k),
                   .bytes = number * n * d,
                   .regions = 4};
}

/// Reading what was held before, half of K or the basis, is slower than one stream of points.
constexpr double other_streams = 2.5;

void representer(const Pieces& p, KernelBy by, Plan& plan) {
  const double all = p.n * p.n;
  const bool in_single = p.single && by != KernelBy::products;
  const Operations half = p.kernel_entries(all / 2, in_single);
  const double held = by == KernelBy::given ? p.number * all : (in_single ? 4 : 8) * all / 2;
  plan.setup += by == KernelBy::given ? Operations{.bytes = 19 * held}
                                      // looked at for symmetry, too
                                      : half + Operations{.loops = 30 * all};
  if (by == KernelBy::held) plan.setup += {.loops = 30 * all, .fresh_bytes = held};
  // Of every exemplar: its column and the product of K with it; three combinations of the basis.
  const double basis = 3 * 8 * p.n * p.k / 2;
  plan.step += {.loops = 60 * p.n, .bytes = other_streams * basis + 16 * p.k * p.k, .regions = 6};
  if (by == KernelBy::tiles) plan.step += half;
  if (by == KernelBy::held) plan.step += {.bytes = other_streams * held};
  if (by == KernelBy::given) plan.step += {.bytes = 4 * held};
  if (by == KernelBy::products)
    plan.step += p.sparse ? Operations{.loops = 250 * p.entries + 500 * p.d}
                          : Operations{.loops = 20 * p.n * p.d, .bytes = 3 * p.number * p.n * p.d};
  plan.closing += closing_by_kernel(p);
}

void gradient(const Pieces& p, bool given, Plan& plan) {
  const double all = p.n * p.n;
  if (!given) plan.setup += p.kernel_entries(all / 2, false);
  plan.setup += {.loops = 60 * all, .fresh_bytes = 12 * all};
  plan.step += {.loops = 175 * all, .regions = 6};
  plan.closing += closing_by_kernel(p) + Operations{.loops = 100 * all};
}

/// The width of a kernel, from the distances of some points.
Operations search_for_gamma(const Pieces& p) {
  const double sample = std::min(1000.0, p.n);
  return {.products = p.sparse ? 0 : sample * sample * p.d, .loops = 1000 * sample * sample};
}

}  // namespace

void count_operations(const PlanFacts& facts, const SelectOptions& o, Plan& plan) {
  const Pieces p(facts, o);
  plan.setup = plan.step = plan.closing = {};
  const bool given = o.kernel.type == KernelType::precomputed;
  const Preprocessing prep{.center = effective_center(o), .scale = o.scale};
  if (!given) plan.setup += static_cast<double>(Points::visits(prep, facts.single)) * p.visit();
  if (!p.linear() && !given && !o.kernel.gamma) plan.setup += search_for_gamma(p);
  if (plan.form == FormKind::gradient) {
    gradient(p, given, plan);
  } else if (plan.form == FormKind::representer) {
    representer(p, plan.kernel_by, plan);
  } else if (plan.kernel_by == KernelBy::factor) {
    const Index rank = std::min(o.rank, facts.points);
    const auto r = static_cast<double>(rank);
    const auto sample = static_cast<double>(landmark_sample(facts.points, rank));
    plan.setup += p.kernel_entries((p.n + sample) * r, p.single) +
                  p.product(3 * p.n * r * r, p.single) +
                  Operations{.products = 4 * sample * r * r, .fresh_bytes = p.number * p.n * r};
    covariance(p.n, r, p.k, p.single ? 4 : 8, p.single, plan);
    plan.closing += p.kernel_entries(p.n * p.k, false) + least_squares(p);
  } else {
    covariance(p.n, p.d, p.k, p.number, p.single, plan);
    if (p.sparse) plan.step += {.loops = 40 * p.n * p.d};  // rows are written out
  }
  if (facts.streamed) plan.setup.bytes *= 3, plan.step.bytes *= 3, plan.closing.bytes *= 3;
  if (o.certificate == CertificateKind::none) plan.closing = 0.5 * plan.closing;
  // What was picked is picked again now and then; where k exemplars are more than the dimensions, often.
  const bool many = p.linear() && p.k > p.d;
  plan.steps_each = many ? 2 : 1.1;
}

namespace {

/// Work that waits for all threads, again and again.
constexpr double region_seconds = 2e-6;

double seconds_at(const Rates& r, const Operations& o, int threads) {
  const auto crew = static_cast<double>(std::max(1, std::min(threads, default_threads())));
  const double memory = std::min(crew, 8.0);  // whose bandwidth a few threads exhaust
  const double gain = std::pow(crew, 0.8);    // threads share caches, and cores at times
  return (o.products / r.products + o.single_products / r.single_products + o.loops / r.loops) /
             gain +
         (o.bytes / r.bytes + o.fresh_bytes / r.fresh_bytes) / memory +
         (crew > 1 ? o.regions * region_seconds : 0);
}

Seconds seconds_at(const Rates& r, const Plan& plan) {
  const double steps = static_cast<double>(plan.exemplars) * plan.steps_each;
  return {.setup = seconds_at(r, plan.setup, plan.threads),
          .steps = steps * seconds_at(r, plan.step, plan.threads),
          .certificate = seconds_at(r, plan.closing, plan.threads)};
}

}  // namespace

Seconds estimated(const Plan& plan) {
  return seconds_at(rates(), plan);
}

double estimated_seconds(const Plan& plan) {
  const Seconds s = estimated(plan);
  return s.setup + s.steps + s.certificate;
}

double estimated_seconds(const std::vector<ClassPlan>& plans, int threads) {
  double sum = 0, longest = 0;
  for (const ClassPlan& c : plans) {
    if (c.plan.points == 0) continue;  // gives nothing, or all it has
    const double own = estimated_seconds(c.plan);
    longest = std::max(longest, own);
    sum += own * c.plan.threads / std::max(1, std::min(threads, default_threads()));
  }
  return std::max(sum, longest);
}

double estimated_seconds(const SweepPlan& plan) {
  const Seconds each = estimated(plan.each);
  const auto settings = static_cast<double>(plan.settings), etas = static_cast<double>(plan.etas);
  // A pass that serves several fetches and converts the numbers once, but multiplies for each.
  const double shared = plan.at_once > 1 ? 0.7 : 1;
  return (plan.at_once > 1 ? 1 : etas) * each.setup +
         settings * (shared * each.steps + each.certificate);
}

namespace {

/// At rates that no processor reaches: short work needs no measurement.
double on_a_fast_machine(const Plan& plan) {
  const Rates fast{
      .products = 2e11, .single_products = 4e11, .loops = 5e10, .bytes = 1e11, .fresh_bytes = 5e10};
  const Seconds s = seconds_at(fast, plan);
  return s.setup + s.steps + s.certificate;
}

}  // namespace

std::string words_for_seconds(double seconds) {
  const auto counted = [](double number, const char* unit) {
    return fmt::format("{:.0f} {}{}", number, unit, std::round(number) == 1 ? "" : "s");
  };
  if (!(seconds < 3e10)) return "more than a thousand years";
  if (seconds < 99.5) return fmt::format("{:.2g} s", seconds);
  if (seconds < 5400) return counted(seconds / 60, "minute");
  if (seconds < 129600) return counted(seconds / 3600, "hour");
  if (seconds < 6e7) return counted(seconds / 86400, "day");
  return counted(seconds / 3.16e7, "year");
}

namespace {

std::string warning_of(double seconds) {
  if (seconds <= long_run) return "";
  return fmt::format("this takes about {}", words_for_seconds(seconds));
}

}  // namespace

std::string warning_of_long_run(const std::vector<ClassPlan>& plans, int threads) {
  double fast = 0;
  for (const ClassPlan& c : plans) fast += on_a_fast_machine(c.plan);
  return fast > long_run / 20 ? warning_of(estimated_seconds(plans, threads)) : "";
}

std::string warning_of_long_run(const SweepPlan& plan) {
  const double fast = static_cast<double>(plan.settings) * on_a_fast_machine(plan.each);
  return fast > long_run / 20 ? warning_of(estimated_seconds(plan)) : "";
}

std::string warning_of_long_run(const PlanFacts& facts, const SelectOptions& options,
                                const Plan& plan) {
  if (on_a_fast_machine(plan) <= long_run / 20) return "";
  std::string warning = warning_of(estimated_seconds(plan));
  const KernelType kernel = options.kernel.type;
  const bool computed = kernel == KernelType::rbf || kernel == KernelType::polynomial ||
                        kernel == KernelType::laplacian;
  if (warning.empty() || plan.form != FormKind::representer || !computed) return warning;
  SelectOptions approximate = options;
  approximate.rank = std::min(facts.points, std::max<Index>(512, 2 * options.exemplars));
  try {
    const double seconds = estimated_seconds(make_plan(facts, approximate));
    if (seconds > 0.5 * estimated_seconds(plan)) return warning;
    return fmt::format("{}; rank {} approximates the kernel and takes about {}", warning,
                       approximate.rank, words_for_seconds(seconds));
  } catch (const MemoryError&) {
    return warning;
  }
}

}  // namespace fwsr
