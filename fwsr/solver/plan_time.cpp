#include "fwsr/solver/plan_time.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/width.hpp"
#include "fwsr/linalg/rates.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/forms.hpp"
#include "fwsr/solver/plan_parts.hpp"

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

/// The width of a kernel, from the distances of some points.
Operations search_for_gamma(const Pieces& p, const Width& wanted) {
  const double sample = std::min(1000.0, p.n);
  const auto samples = static_cast<double>(width_samples(static_cast<Index>(p.n), wanted));
  return samples * Operations{.products = p.sparse ? 0 : sample * sample * p.d,
                              .loops = 1000 * sample * sample};
}

}  // namespace

void count_operations(const PlanFacts& facts, const SelectOptions& o, Plan& plan) {
  const Pieces p(facts, o);
  plan.setup = plan.step = plan.closing = {};
  const bool given = p.kernel.of == KernelOf::matrix;
  const Preprocessing prep{.center = effective_center(o), .scale = o.scale};
  if (!given) plan.setup += static_cast<double>(Points::visits(prep, facts.single)) * p.visit();
  if (p.kernel.has_gamma && !o.kernel.gamma) plan.setup += search_for_gamma(p, o.kernel.width);
  entry_of(plan.form).count(p, o, plan);
  if (facts.streamed) plan.setup.bytes *= 3, plan.step.bytes *= 3, plan.closing.bytes *= 3;
  if (o.certificate == CertificateKind::none) plan.closing = 0.5 * plan.closing;
  // What was picked is picked again now and then; where k exemplars are more than the dimensions, often.
  const bool many = p.kernel.linear && p.k > p.d;
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
          .exchange = seconds_at(r, plan.exchange, plan.threads),
          .certificate = seconds_at(r, plan.closing, plan.threads)};
}

}  // namespace

Seconds estimated(const Plan& plan) {
  return seconds_at(rates(), plan);
}

double estimated_seconds(const Plan& plan) {
  const Seconds s = estimated(plan);
  return s.setup + s.steps + s.exchange + s.certificate;
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
         settings * (shared * each.steps + each.exchange + each.certificate);
}

namespace {

/// At rates that no processor reaches: short work needs no measurement.
double on_a_fast_machine(const Plan& plan) {
  const Rates fast{
      .products = 2e11, .single_products = 4e11, .loops = 5e10, .bytes = 1e11, .fresh_bytes = 5e10};
  const Seconds s = seconds_at(fast, plan);
  return s.setup + s.steps + s.exchange + s.certificate;
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
  const bool computed = formula_of(options.kernel.type).computed();
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
