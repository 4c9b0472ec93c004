#include "fwsr/methods/method_plan.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/methods/refine_picks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/plan_parts.hpp"
#include "fwsr/solver/refine.hpp"

namespace fwsr {

namespace {

Sizes sizes_of(const PlanFacts& facts, const SelectOptions& o) {
  return {.n = static_cast<double>(facts.points),
          .d = static_cast<double>(facts.features),
          .k = static_cast<double>(o.exemplars + std::ssize(o.conditions.included)),
          .entries = static_cast<double>(facts.entries),
          .number = facts.single ? 4.0 : 8.0,
          .threads = static_cast<double>(facts.threads),
          .linear = formula_of(o.kernel.type).linear,
          .sparse = facts.sparse,
          .narrow = facts.narrow_bytes > 0};
}

/// The rows of a factor of the kernel, in place of the points.
Sizes sizes_of_factor(Sizes s, Index rank) {
  s.d = static_cast<double>(rank);
  s.entries = s.n * s.d;
  s.linear = true;
  s.sparse = s.narrow = false;
  return s;
}

/// What a method takes, and the factor whose rows it works on.
Cost with_factor(Cost cost, bool factor, const PlanRequest& request) {
  if (!factor) return cost;
  const FactorCost more = factor_cost(request);
  cost.bytes += more.bytes + more.per_thread * request.sizes.threads;
  cost.flops += more.flops;
  cost.how =
      fmt::format("the {} kernel through a factor of rank {}, whose columns are the features: {}",
                  request.kernel.name, request.rank(), cost.how);
  return cost;
}

/// Numbers kept of every point (points.hpp).
double common_bytes(const Sizes& s) {
  return 8 * (4 * s.n + 4 * s.d);
}

/// What is held after the choice: to find the nearest exemplars, blocks of points and the exemplars; for the
/// certificate a basis of what they span, too. Of sparse points nothing but the basis is expanded.
double closing_bytes(const Sizes& s, const SelectOptions& o, bool dissimilarities) {
  const double crew = s.crew(384), values = 384 * 2 * s.k;
  if (dissimilarities) return 8 * crew * values;
  const bool basis = o.certificate == CertificateKind::full && s.linear;
  if (s.sparse && formula_of(o.kernel.type).of != KernelOf::absolute_distances) {
    const double width = Points::sparse_rows;
    const double stored = 96 * std::min(s.d, width * s.row()), places = 96 / width * s.d / 2;
    const double both = basis ? (2 * s.k + std::ceil(s.k / width) * width) * s.d : 0;
    return 8 * std::max(both + crew * s.d, crew * (stored + places + 2 * s.d + values));
  }
  const double rows = std::min(s.n, basis ? 384.0 : 96.0);
  return 8 * ((basis ? 2 * s.k * s.d : 0) + crew * ((rows + std::min(384.0, s.k)) * s.d + values));
}

/// What every method ends with: the nearest exemplar of every point, and least squares for the certificate. And begins
/// with: one or two looks at the points.
void count_closing(const Sizes& s, const SelectOptions& o, Plan& plan) {
  plan.setup += {.loops = 40 * s.entries, .bytes = 2 * s.number * s.entries};
  if (!s.linear) plan.setup += {.loops = 2000 * std::pow(std::min(1000.0, s.n), 2)};
  const double values = s.n * s.k;
  plan.closing = s.sparse ? Operations{.loops = 23 * values * s.row()}
                          : Operations{.products = 2 * values * s.d};
  plan.closing += {.loops = 4 * values};
  if (o.certificate != CertificateKind::full) return;
  if (!s.linear)
    plan.closing = 2 * plan.closing + Operations{.loops = values * (6 * s.k + 240)};
  else if (s.sparse)
    plan.closing += {.products = 100 * s.k * s.k * s.d, .loops = 23 * s.entries * s.k};
  else
    plan.closing += {.products = 16 * values * s.d + 4 * s.k * s.k * s.d};
}

}  // namespace

Plan plan_method(const Method& method, const Settings& settings, const PlanFacts& facts,
                 const SelectOptions& o) {
  const Sizes s = sizes_of(facts, o);
  const PlanRequest request = plan_request(facts, o);
  const bool factor = method.factors && request.by_factor();
  const Sizes rows = factor ? sizes_of_factor(s, request.rank()) : s;  // what the method works on
  const Cost cost = with_factor(method.cost(rows, settings), factor, request);
  const double limit = facts.limit > 0 ? facts.limit : memory_limit(facts.data_bytes, o);
  const double answer = 8 * s.k * s.n * (o.codes ? 2 : 0) + 8 * s.n;
  const double before = gamma_bytes(s.n, s.d, facts.sparse, o.kernel);
  const RefineCost after =
      o.refine == Refine::none
          ? RefineCost{}
          : refine_cost(facts, o, exchanges_in_set(rows.linear, rows.sparse, rows.d, rows.n),
                        KernelBy::tiles);
  const double own =
      std::max({before, cost.bytes, closing_bytes(s, o, takes_dissimilarities(settings))}) +
      after.bytes + after.per_thread * s.threads + common_bytes(s) + answer;
  const bool in_memory =
      facts.streamed && !method.streams;  // what was streamed has to be held after all
  const double data = in_memory ? s.entries * s.number : static_cast<double>(facts.data_bytes);
  const double needed =
      data + static_cast<double>(facts.label_bytes) + own * static_cast<double>(facts.side_by_side);
  if (needed > limit || in_memory)
    throw MemoryError(fmt::format(
        "{} needs {} for {} points of {} features, these included, but only {} may be "
        "used ({}); allow "
        "more memory, {}or choose a method that needs less, such as fwsr, k-fwsr with a "
        "rank, or kmedoids-batch",
        method.name, format_bytes(needed), facts.points, facts.features, format_bytes(limit),
        cost.how,
        factor                                        ? "choose a smaller rank, "
        : method.factors && request.kernel.computed() ? "approximate the kernel with a rank, "
                                                      : ""));
  Plan plan{.method = method.name,
            .kernel = o.kernel.type,
            .kernel_by = factor ? KernelBy::factor : KernelBy::none,
            .rank = o.rank,
            .refine = o.refine,
            .why = cost.how,
            .points = facts.points,
            .features = facts.features,
            .exemplars = o.exemplars,
            .threads = facts.threads,
            .memory_bytes = static_cast<Index>(own),
            .data_bytes = facts.data_bytes,
            .setup_flops = cost.flops,
            .setup = {.products = cost.flops}};
  if (factor) {
    plan.setup = Operations{.products = cost.flops - factor_cost(request).flops} +
                 Pieces(facts, o).factor(request.rank());
    if (std::string note = note_on_rank(facts, o); !note.empty()) plan.notes = {std::move(note)};
  }
  if (!takes_dissimilarities(settings)) count_closing(s, o, plan);
  plan.exchange = after.work;
  return plan;
}

}  // namespace fwsr
