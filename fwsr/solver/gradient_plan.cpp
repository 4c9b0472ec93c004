// The gradient form: for every norm and sign, with the whole n x n gradient.
#include <cmath>

#include <fmt/format.h>

#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/solver/forms.hpp"
#include "fwsr/solver/gradient_form.hpp"

namespace fwsr {

namespace {

Candidate gradient(const PlanSizes& s, bool given, double kernel_flops) {
  const double all = s.n * s.n;
  return {.form = FormKind::gradient,
          .kernel_by = given ? KernelBy::given : KernelBy::held,
          .why = {},
          .bytes = 8 * all + (given ? 0.0 : held_kernel_bytes(s.n, false)) + 8 * 4 * s.n * s.k,
          .per_thread = given ? 8 * 96 * s.n : blocks_bytes(s, false),
          .setup_flops = given ? all : all / 2 * kernel_flops,
          .step_flops = 8 * all,
          .setup_passes = std::ceil(s.n / static_cast<double>(tile_side)) + 1,
          .step_passes = 0,
          .codes_passes = 0,
          .certificate_passes = 0};
}

void candidates(const PlanRequest& r, std::vector<Candidate>& all) {
  if (r.free_two()) return;
  Candidate c = gradient(r.sizes, r.kernel.of == KernelOf::matrix, r.kernel_flops);
  c.why = fmt::format(
      "{} needs the whole n x n gradient",
      r.options.nonneg ? "a sign constraint" : fmt::format("q = {}", name_of(r.options.q)));
  all.push_back(std::move(c));
}

void count(const Pieces& p, const SelectOptions&, Plan& plan) {
  const double all = p.n * p.n;
  if (plan.kernel_by != KernelBy::given) plan.setup += p.kernel_entries(all / 2, false);
  plan.setup += {.loops = 60 * all, .fresh_bytes = 12 * all};
  plan.step += {.loops = 175 * all, .regions = 6};
  plan.closing += p.closing_by_kernel() + Operations{.loops = 100 * all};
}

std::unique_ptr<Form> make(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan,
                           const KeepGoing&) {
  return std::make_unique<GradientForm>(prepared.form_kernel(), prepared.terms, o.q, o.nonneg,
                                        plan.threads);
}

}  // namespace

FormEntry gradient_entry() {
  return {.name = "gradient", .candidates = candidates, .count = count, .make = make};
}

}  // namespace fwsr
