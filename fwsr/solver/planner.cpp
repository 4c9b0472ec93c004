#include "fwsr/solver/planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/check_view.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/width.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/forms.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/plan_parts.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/refine.hpp"
#include "fwsr/solver/select.hpp"

namespace fwsr {

namespace {

/// The program itself and its libraries, counted where memory is so short that points are streamed.
constexpr double program_bytes = 16 << 20;

/// Over the points from first to last; repeated picks and second thoughts come on top.
double passes_of(const Candidate& c, const PlanFacts& facts, const SelectOptions& o) {
  const Preprocessing prep{.center = effective_center(o), .scale = o.scale};
  return static_cast<double>(Points::visits(prep, facts.single)) + c.setup_passes +
         static_cast<double>(o.exemplars) * c.step_passes + c.codes_passes +
         (o.certificate == CertificateKind::full ? c.certificate_passes : 0.0);
}

/// Numbers kept of every point, whatever the form (points.hpp): its norm, means, factors.
double numbers_of_each(const PlanFacts& facts, const SelectOptions& o) {
  const KernelFormula& kernel = formula_of(o.kernel.type);
  return 1 + (effective_center(o) == Center::point) + (o.scale == Scale::unit) + kernel.normalize +
         (kernel.of == KernelOf::squared_distances) + facts.sparse;
}

/// Weights, costs, prices and candidates of every point.
double conditions_bytes(const SelectOptions& o, const PlanSizes& s) {
  const Conditions& c = o.conditions;
  const double lists = (c.empty() && !o.budget ? 0.0 : 8.0) + (o.until_error ? s.k + 2 : 0.0);
  return 8 * s.n * lists;
}

struct IncludedCost {
  double bytes = 0, per_thread = 0;
};
/// The covariance form takes what is included from C, and needs copies of these rows; the others keep what it takes of
/// every point.
IncludedCost included_cost(const SelectOptions& o, const PlanSizes& s, const Candidate& c) {
  const auto m = static_cast<double>(o.conditions.included.size());
  if (m == 0) return {};
  if (c.form != FormKind::covariance) return {.bytes = 8 * s.n * m + 8 * (m + s.k) * m};
  const double width = c.kernel_by == KernelBy::factor ? static_cast<double>(o.rank + 1) : s.d;
  const double block = std::min(384.0, s.n) * (m + s.k);
  return {.bytes = 8 * (6 * m * width + 3 * width * width + 4 * (m + s.k) * m),
          .per_thread = 8 * block * (o.codes ? 4 : 2)};
}

Index to_index(double v) {
  return v < 9e18 ? static_cast<Index>(v) : std::numeric_limits<Index>::max();
}

std::string remedy(const SelectOptions& o, double limit, double data, bool fewer_threads) {
  if (o.q != Norm::two || o.nonneg) {
    const double room = std::max(0.0, limit - data);
    return fmt::format(
        "use q = 2 without a sign constraint, at most about {:.0f} points, or allow more memory",
        std::sqrt(room / 12));
  }
  if (fewer_threads) return "use one thread, or allow more memory";
  if (o.rank > 0) return "choose a smaller rank or fewer points, or allow more memory";
  return fmt::format(
      "ask for fewer exemplars or points, or allow more memory{}",
      formula_of(o.kernel.type).computed() ? ", or approximate the kernel with a rank" : "");
}

/// What the user should know beside the choice itself.
std::vector<std::string> notes_on(const Candidate& chosen, const PlanFacts& facts,
                                  const SelectOptions& o) {
  std::vector<std::string> notes;
  if (std::string note = note_on_rank(facts, o); !note.empty()) notes.push_back(std::move(note));
  if (chosen.kernel_by == KernelBy::tiles)
    notes.push_back(
        "every exemplar costs the whole kernel twice; a rank, such as 512, approximates it at O(n "
        "rank) a step");
  return notes;
}

/// Where the work is done.
struct DevicePlan {
  bool card = false;
  std::string note = {};    // why, where the user left it to us
  bool reads_host = false;  // the points, where they are
};
/// Of a card that is there; one that is not is refused when the run begins.
Index memory_of(const Cards& cards, int number) {
  const auto n = static_cast<std::size_t>(std::max(0, number));
  return n < cards.memory.size() ? cards.memory[n] : 0;
}
/// Whether the work is worth the tenths of a second that it takes to begin on a card.
bool pays_on_card(const PlanFacts& facts, const SelectOptions& o) {
  const auto n = static_cast<double>(facts.points), d = static_cast<double>(facts.features),
             k = static_cast<double>(std::max<Index>(1, o.exemplars));
  if (!holds_kernel_on_card(facts, o)) return 6 * n * d * k >= 1e9;
  const KernelFormula& kernel = formula_of(o.kernel.type);
  // Products with sparse points are less work than their kernel.
  if (kernel.linear && facts.sparse) return false;
  return n * n * (kernel.computed() ? d + 20 + k : k) >= 2e10;
}
DevicePlan device_for(const PlanFacts& facts, const SelectOptions& o) {
  if (o.device.kind == DeviceChoice::Kind::cpu) return {};
  const std::optional<std::string> not_served = not_on_card(facts, o);
  if (o.device.kind == DeviceChoice::Kind::cuda) {
    if (not_served) throw OptionError(fmt::format("the card {}; use device cpu", *not_served));
    const Cards cards = find_cards();
    if (cards.names.empty()) throw Error(cards.why_none + "; use device cpu");
    if (const auto why = too_large_for_card(facts, o, memory_of(cards, o.device.number)))
      throw MemoryError(*why);
    return {.card = true, .reads_host = reads_host(facts, o, memory_of(cards, o.device.number))};
  }
  if (not_served) return {.note = fmt::format("on the processor: the card {}", *not_served)};
  if (!pays_on_card(facts, o)) return {.note = "on the processor: too little work for a card"};
  const Cards cards = find_cards();
  if (cards.names.empty()) return {.note = "on the processor: " + cards.why_none};
  if (const auto why = too_large_for_card(facts, o, memory_of(cards, o.device.number)))
    return {.note = "on the processor: " + *why};
  return {.card = true,
          .note = "on the card: " + cards.names.front(),
          .reads_host = reads_host(facts, o, memory_of(cards, o.device.number))};
}

}  // namespace

PlanFacts facts_of(const PointsView& points, int threads) {
  check_view(points);
  PlanFacts f{.points = rows_of(points),
              .features = cols_of(points),
              .entries = entries_of(points),
              .sparse = is_sparse(points),
              .single = is_single(points),
              .streamed = is_streamed(points),
              .narrow_bytes = is_narrow(points) ? number_bytes(points) : 0,
              .threads = threads};
  const Index value = number_bytes(points);
  const Index index = points.index() >= 4 ? 8 : 4;
  if (f.streamed)
    f.data_bytes = Points::stream_bytes(f.features, f.single);
  else
    f.data_bytes =
        f.sparse ? f.entries * (value + index) + (f.points + 1) * index : f.entries * value;
  return f;
}

double memory_limit(Index data_bytes, const SelectOptions& options) {
  if (options.memory > 0) return static_cast<double>(options.memory);
  return static_cast<double>(data_bytes) + 0.8 * static_cast<double>(available_memory());
}

double gamma_bytes(double n, double d, bool sparse, const Kernel& kernel) {
  const KernelFormula& formula = formula_of(kernel.type);
  if (kernel.gamma || !formula.has_gamma || !formula.of_distances()) return 0;
  const double sample = std::min(1000.0, n);
  const auto samples = static_cast<double>(width_samples(static_cast<Index>(n), kernel.width));
  return 8 * sample * ((sparse ? 0 : d) + (1 + samples / 2) * sample);
}

Plan make_plan(const PlanFacts& facts, const SelectOptions& options) {
  PlanRequest request = plan_request(facts, options);
  const PlanSizes& s = request.sizes;
  if (facts.streamed && options.kernel.type == KernelType::precomputed)
    throw MemoryError(fmt::format(
        "a precomputed kernel of {} points is larger than the memory allowed and cannot be read in "
        "blocks; allow more memory, or give the points and let the kernel be computed",
        facts.points));
  const double data = static_cast<double>(facts.data_bytes) *
                      (facts.streamed ? facts.threads * facts.side_by_side : 1);
  const double limit = facts.limit > 0 ? facts.limit : memory_limit(to_index(data), options);
  const auto included = static_cast<double>(options.conditions.included.size());
  const double common = 8 * (numbers_of_each(facts, options) * s.n + 4 * s.d) +
                        (options.codes ? 8 * s.n * (s.k + included) : 0.0) +
                        (options.assignment ? 8 * s.n : 0.0) + conditions_bytes(options, s);
  const double program =
      static_cast<double>(facts.label_bytes) + (facts.streamed ? program_bytes : 0);
  const auto refining = [&](const Candidate& c) {
    if (options.refine == Refine::none) return RefineCost{};
    return refine_cost(facts, options, c.form == FormKind::covariance, c.kernel_by);
  };
  const DevicePlan device = device_for(facts, options);
  request.holds_on_card = device.card && holds_kernel_on_card(facts, options);
  const bool points_there = device.card && !request.holds_on_card;
  const double beside_card = points_there ? host_bytes_beside_card(facts, options)
                             : device.card && facts.on_card
                                 ? static_cast<double>(facts.entries) * (facts.single ? 4 : 8)
                                 : 0;
  const auto needs = [&](const Candidate& c) {
    if (points_there) return program + data + beside_card;
    const RefineCost after = refining(c);
    const IncludedCost there = included_cost(options, s, c);
    return program + data + beside_card +
           s.side * (c.bytes + after.bytes + there.bytes + common +
                     (c.per_thread + after.per_thread + there.per_thread) * facts.threads);
  };
  const auto work = [&](const Candidate& c) { return c.setup_flops + s.k * c.step_flops; };
  std::vector<Candidate> all;
  for (const FormKind form : values_of(FormKind{}))
    if (!device.card || form == (points_there ? FormKind::covariance : FormKind::representer))
      entry_of(form).candidates(request, all);
  const Candidate* best = nullptr;
  for (const Candidate& c : all)
    if (needs(c) <= limit && (!best || work(c) < work(*best))) best = &c;
  if (!best) {
    const auto least = std::min_element(
        all.begin(), all.end(), [&](const auto& a, const auto& b) { return needs(a) < needs(b); });
    const bool fewer_threads =
        facts.streamed && facts.side_by_side == 1 &&
        needs(*least) - (facts.threads - 1) * (least->per_thread + data / facts.threads) <= limit;
    throw MemoryError(fmt::format(
        "{} points of {} features{} need {} ({} form), but only {} may be used; {}", facts.points,
        facts.features, facts.streamed ? ", streamed in blocks," : "", format_bytes(needs(*least)),
        name_of(least->form), format_bytes(limit), remedy(options, limit, data, fewer_threads)));
  }
  // What would have been less work gives the reason, where it does not fit.
  const bool refused = std::any_of(all.begin(), all.end(), [&](const Candidate& c) {
    return c.kernel_by == KernelBy::held && needs(c) > limit && work(c) < work(*best);
  });
  const RefineCost after = refining(*best);
  const IncludedCost there = included_cost(options, s, *best);
  // Not worth more memory than there is.
  const bool again = best->again_per_thread &&
                     needs(*best) + s.side * *best->again_per_thread * facts.threads <= limit;
  const double each_thread = best->per_thread + after.per_thread + there.per_thread +
                             (again ? *best->again_per_thread : 0);
  Plan plan{
      .form = best->form,
      .kernel = options.kernel.type,
      .kernel_by = best->kernel_by,
      .rank = options.rank,
      .refine = options.refine,
      .why = best->kernel_by == KernelBy::products && refused
                 ? "the n x n kernel would be less work, but does not fit the memory: products "
                   "with A"
                 : best->why,
      .points = facts.points,
      .features = facts.features,
      .exemplars = options.exemplars,
      .threads = facts.threads,
      .memory_bytes = to_index(best->bytes + after.bytes + there.bytes + common + program) +
                      to_index(each_thread) * facts.threads,
      .memory_per_thread = to_index(each_thread),
      .data_bytes = to_index(data),
      .setup_flops = best->setup_flops,
      .step_flops = best->step_flops,
      .passes = to_index(passes_of(*best, facts, options) + after.passes),
      .certificate_in_double = again,
      .notes = notes_on(*best, facts, options)};
  if (device.card) {
    plan.device = text_of({.kind = DeviceChoice::Kind::cuda, .number = options.device.number});
    plan.device_bytes = to_index(card_bytes(facts, options, device.reads_host));
    plan.device_reads_host = device.reads_host;
    if (device.reads_host)
      plan.notes.push_back(fmt::format(
          "the points stay in {}, and are brought to the card for every pass: with them it would "
          "be full",
          facts.streamed ? "their file" : "the memory of this machine"));
    if (request.holds_on_card && facts.on_card)
      plan.notes.push_back(
          "the points are copied to the memory of this machine: the card holds their kernel, and "
          "what is asked of single points is computed here");
    if (points_there) {
      plan.memory_bytes = to_index(beside_card + program);
      plan.memory_per_thread = 0;
    } else {
      plan.memory_bytes += to_index(beside_card);
    }
  } else {
    count_operations(facts, options, plan);
    plan.exchange = after.work;
  }
  if (!device.note.empty()) plan.notes.push_back(device.note);
  if (facts.streamed && (!points_there || device.reads_host))
    plan.notes.push_back(fmt::format(
        "streamed in blocks, about {} passes over the file; the time is that of a file the "
        "system has in its cache, a disk takes longer",
        plan.passes));
  return plan;
}

}  // namespace fwsr
