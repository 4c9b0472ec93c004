// The representer form: for q = 2 and free signs, with any kernel.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/solver/certificate.hpp"
#include "fwsr/solver/forms.hpp"
#include "fwsr/solver/representer_form.hpp"

namespace fwsr {

namespace {

/// `kernel_flops`: to compute one entry of K; `single`: in float32, and `again`: in the end perhaps in double.
Candidate representer(const PlanSizes& s, KernelBy by, double kernel_flops, bool single, bool again,
                      bool on_card) {
  const double all = s.n * s.n;
  const double sums = 8 * 32 * s.n;                                          // of strips of tiles
  const double sweep = std::ceil(s.n / static_cast<double>(tile_side)) + 1;  // all tiles of K
  Candidate c{.form = FormKind::representer,
              .kernel_by = by,
              .why = {},
              .bytes = 8 * (5 * s.n + 4 * s.n * s.k + 8 * s.k * s.k) + sums,
              .per_thread = blocks_bytes(s, single),
              .setup_flops = all / 2 * kernel_flops,
              .step_flops = 4 * s.n * s.k + 2 * all,
              .setup_passes = sweep,
              .step_passes = sweep + 1,
              .certificate_passes = sweep + 2,
              .again_per_thread = {}};
  if (again) c.again_per_thread = std::max(0.0, blocks_bytes(s, false) - blocks_bytes(s, true));
  if (by == KernelBy::held)
    c.bytes += on_card ? 0 : held_kernel_bytes(s.n, single),
        c.step_passes = c.codes_passes = c.certificate_passes = 0;
  if (by == KernelBy::tiles) c.step_flops += all / 2 * kernel_flops;
  if (by == KernelBy::products) c.step_flops = 4 * s.n * s.k + 4 * s.entries, c.step_passes = 3;
  if (by == KernelBy::products) c.bytes += 8 * s.d * (s.threads + 2);
  if (by == KernelBy::given) c.per_thread = (on_card ? 16 : 8) * 96 * s.n, c.setup_flops = 2 * all;
  return c;
}

void candidates(const PlanRequest& r, std::vector<Candidate>& all) {
  if (!r.free_two() || r.by_factor()) return;
  const auto add = [&](KernelBy by, std::string why) {
    const bool in_single = r.single && (by == KernelBy::held || by == KernelBy::tiles);
    const bool again =
        in_single && !r.holds_on_card && may_certify_in_double(r.options, r.facts.features);
    all.push_back(representer(r.sizes, by, by == KernelBy::given ? 0 : r.kernel_flops, in_single,
                              again, r.holds_on_card));
    all.back().why = std::move(why);
  };
  const PlanFacts& facts = r.facts;
  if (r.holds_on_card) {
    if (r.kernel.of == KernelOf::matrix)
      add(KernelBy::given, "the kernel matrix is given, and copied to the card");
    else
      add(KernelBy::held,
          fmt::format("the {} kernel, its n x n matrix held on the card", r.kernel.name));
  } else if (r.kernel.of == KernelOf::matrix) {
    add(KernelBy::given, "the kernel matrix is given and used in place");
  } else if (!r.kernel.linear) {
    add(KernelBy::held,
        fmt::format("the {} kernel, its n x n matrix held in memory", r.kernel.name));
    add(KernelBy::tiles,
        fmt::format("the {} kernel, computed in tiles: its n x n matrix does not fit the memory",
                    r.kernel.name));
  } else if (facts.sparse) {
    add(KernelBy::products,
        fmt::format("sparse points ({} stored numbers): products with A, no n x n matrix",
                    facts.entries));
  } else {
    add(KernelBy::held,
        fmt::format("{} points of {} features: the n x n kernel is less work than d x d products",
                    facts.points, facts.features));
    add(KernelBy::products, "products with A are the least work for these points");
  }
}

/// Reading what was held before, half of K or the basis, is slower than one stream of points.
constexpr double other_streams = 2.5;

void count(const Pieces& p, const SelectOptions&, Plan& plan) {
  const KernelBy by = plan.kernel_by;
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
  plan.closing += p.closing_by_kernel();
}

/// Whether half of K in double fits beside what the plan counts, without its half in float32.
bool fits_in_double(const SelectOptions& o, const Plan& plan) {
  const auto n = static_cast<double>(plan.points);
  const double needed = held_kernel_bytes(n, false);
  if (o.memory == 0) return needed <= 0.8 * static_cast<double>(available_memory());
  const auto planned = static_cast<double>(plan.data_bytes + plan.memory_bytes);
  return planned - held_kernel_bytes(n, true) + needed <= static_cast<double>(o.memory);
}

std::unique_ptr<Form> make(PreparedProblem& prepared, const SelectOptions& o, const Plan& plan,
                           const KeepGoing& keep_going) {
  const auto in_double = [&prepared, &o, &plan, &keep_going]() -> const KernelMatrix& {
    const bool on_card = plan.device != "cpu";
    const bool hold = prepared.held && (prepared.held.reset(), on_card || fits_in_double(o, plan));
    try {
      prepared.make_kernel(o, plan, false, hold, keep_going);
    } catch (const MemoryError&) {
      if (!on_card) throw;
      prepared.make_kernel(o, plan, false, false, keep_going);
    }
    return prepared.kernel();
  };
  return std::make_unique<RepresenterForm>(prepared.form_kernel(), prepared.terms, plan.threads,
                                           in_double, keep_going);
}

}  // namespace

FormEntry representer_entry() {
  return {.name = "representer", .candidates = candidates, .count = count, .make = make};
}

}  // namespace fwsr
