// The covariance form: for q = 2 and free signs, on points whose inner product is the kernel, or on the
// rows of a factor in their place.
#include <fmt/format.h>

#include "fwsr/linalg/eight_bit.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/matrix_unit.hpp"
#include "fwsr/solver/covariance_form.hpp"
#include "fwsr/solver/forms.hpp"

namespace fwsr {

namespace {

Candidate covariance(const PlanSizes& s, bool single, bool ridge) {
  const double d2 = s.d * s.d;
  const auto d = static_cast<Index>(std::min(s.d, 1e6));  // more than that never fits
  const bool unit = single && matrix_unit_pays(d);
  const auto packed = static_cast<double>(unit ? unit_triangle_bytes(d) : 0);
  const auto packing =
      static_cast<double>(unit ? std::max(unit_gram_bytes(d), unit_form_bytes(d)) : 0);
  return {.form = FormKind::covariance,
          .why = {},
          .bytes = 8 * (4 * s.n + 4 * d2 + 8 * s.d + 8 * s.k * s.d + 2 * s.k * s.n / 256) + packed,
          .per_thread = 8 * (std::min(1024.0, s.n) * s.d + d2 + 256 * 7 * s.k) + packing +
                        gram_sum_bytes(static_cast<Index>(s.n), d),
          .setup_flops = 2 * s.n * d2,
          .step_flops = 6 * s.n * s.d + 10 * d2,
          .setup_passes = 2,
          .step_passes = 1,
          .certificate_passes = ridge ? 2.0 : 0.0};
}

/// The covariance form on the rows of a factor in place of the points.
Candidate factor(const PlanRequest& request) {
  const FactorCost cost = factor_cost(request);
  PlanSizes through = request.sizes;
  through.d = static_cast<double>(request.rank() + 1);
  Candidate c = covariance(through, request.single, false);
  c.kernel_by = KernelBy::factor;
  c.bytes += cost.bytes;
  c.per_thread += cost.per_thread;
  c.setup_flops += cost.flops;
  c.setup_passes = 3;
  c.step_passes = c.codes_passes = 0;  // they are over the factor
  return c;
}

void candidates(const PlanRequest& r, std::vector<Candidate>& all) {
  if (!r.free_two()) return;
  if (r.kernel.linear) {
    all.push_back(covariance(r.sizes, r.single, r.options.rho.has_value()));
    all.back().why = fmt::format("a linear kernel with {} features and {} points: O(n d) a step",
                                 r.facts.features, r.facts.points);
  } else if (r.by_factor()) {
    all.push_back(factor(r));
    all.back().why =
        fmt::format("the {} kernel through a factor of rank {}: O(n rank) a step, no n x n matrix",
                    r.kernel.name, r.rank());
  }
}

/// The covariance form on n rows of d numbers, which may be a factor's.
void count_steps(double n, double d, double k, double number, bool single, Plan& plan) {
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

void count(const Pieces& p, const SelectOptions& o, Plan& plan) {
  // Of exemplars that are there already: who is nearest to them, and what they leave.
  const auto beside_included = [&](double d) {
    const double nearest = 2 * p.n * d * p.included;
    if (p.included > 0)
      plan.closing += {.products = 2 * p.n * d * d,
                       .single_products = has_eight_bit_products() ? nearest / 3 : nearest};
  };
  if (plan.kernel_by != KernelBy::factor) {
    count_steps(p.n, p.d, p.k, p.number, p.single, plan);
    beside_included(p.d);
    if (p.sparse) plan.step += {.loops = 40 * p.n * p.d};  // rows are written out
    return;
  }
  const Index rank = std::min(o.rank, plan.points);
  plan.setup += p.factor(rank);
  count_steps(p.n, static_cast<double>(rank), p.k, p.single ? 4 : 8, p.single, plan);
  beside_included(static_cast<double>(rank));
  plan.closing += p.kernel_entries(p.n * (p.k + p.included), false) + p.least_squares();
}

std::unique_ptr<Form> make(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan,
                           const KeepGoing&) {
  if (prepared.form_of_set) return prepared.form_of_set();
  return std::make_unique<CovarianceForm>(*prepared.set, prepared.set->facts().single && !o.precise,
                                          plan.threads);
}

}  // namespace

FormEntry covariance_entry() {
  return {.name = "covariance", .candidates = candidates, .count = count, .make = make};
}

}  // namespace fwsr
