#include "fwsr/solver/planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/kernel/landmarks.hpp"
#include "fwsr/kernel/symmetric.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/matrix_unit.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/covariance_form.hpp"
#include "fwsr/solver/gradient_form.hpp"
#include "fwsr/solver/plan_time.hpp"
#include "fwsr/solver/representer_form.hpp"

namespace fwsr {

namespace {

/// One way to do the work.
struct Candidate {
  FormKind form = FormKind::none;
  KernelBy kernel_by = KernelBy::none;
  std::string why;
  double bytes = 0;  // beside the data, whatever the number of threads
  double per_thread = 0;
  double setup_flops = 0, step_flops = 0;
  // Over the points, beside those of preprocessing.
  double setup_passes = 0, step_passes = 0, codes_passes = 1, certificate_passes = 0;
};

/// The program itself and its libraries, counted where memory is so short that points are streamed.
constexpr double program_bytes = 16 << 20;

/// Sizes as doubles, so that products of absurd numbers stay comparable.
struct Sizes {
  double n, d, k, entries, side;
  double threads = 1;
  bool sparse = false;     // rows are used as they are stored
  bool entrywise = false;  // the kernel is no inner product
  double row() const { return entries / std::max(1.0, n); }
};

Candidate covariance(const Sizes& s, bool single, bool ridge) {
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
Candidate factor(const Sizes& s, Index rank, bool single, double kernel_flops) {
  const auto r = static_cast<double>(rank);
  const double size = single ? 4 : 8;
  const auto sample = static_cast<double>(landmark_sample(static_cast<Index>(s.n), rank));
  Sizes through = s;
  through.d = r + 1;
  Candidate c = covariance(through, single, false);
  c.kernel_by = KernelBy::factor;
  c.bytes += size * (s.n * r + 2 * r * r) + 8 * (s.n + 3 * r * r + sample * r + r * s.d);
  c.per_thread += (8 + size) * 480 * r + 8 * 480 * (s.d + 96);
  c.setup_flops += s.n * r * (kernel_flops + r) + sample * r * (kernel_flops + r);
  c.setup_passes = 3;
  c.step_passes = c.codes_passes = 0;  // they are over the factor
  return c;
}

/// Some rows as one thread holds them, ready for products.
double rows_bytes(const Sizes& s, double rows, double number) {
  const auto block = static_cast<double>(Points::sparse_rows);
  if (!s.sparse) return number * rows * s.d;
  return std::ceil(rows / block) * (4 * s.d + 8 * block * std::min(s.d, block * s.row()));
}

/// Of one thread that computes tiles of K: the rows of two, the points' and the product's. Where the diagonal is much
/// of the only tile it is computed in double after all.
double tile_bytes(const Sizes& s, bool single) {
  const auto side = static_cast<double>(tile_side);
  const double padded = std::min(side, std::ceil(s.n / 48) * 48), panels = s.n > side ? 2 : 1;
  const double rows = single ? std::min(side, s.n) : padded;
  const double again = single && s.entrywise && s.n < 64 ? 2 * rows_bytes(s, padded, 8) : 0;
  return (s.sparse ? 1 : panels) * rows_bytes(s, rows, single ? 4 : 8) + again +
         (single ? 4 : 8) * rows * rows + 8 * rows * rows;
}

/// Of one thread that asks for the kernel between a block of points and the exemplars.
double values_bytes(const Sizes& s) {
  return rows_bytes(s, std::min(96.0, s.n), 8) +
         (s.sparse ? 0 : rows_bytes(s, std::min(384.0, s.k), 8)) + 8 * 384 * 3 * s.k;
}

/// Both, at different times, of so many threads as there are blocks for; told for each of all threads.
double blocks_bytes(const Sizes& s, bool single) {
  const double crew = std::min(s.threads, std::ceil(s.n / 384));
  return std::max(tile_bytes(s, single), values_bytes(s)) * crew / s.threads;
}

/// `kernel_flops`: to compute one entry of K; `single`: in float32.
Candidate representer(const Sizes& s, KernelBy by, double kernel_flops, bool single) {
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
              .certificate_passes = sweep + 2};
  if (by == KernelBy::held)
    c.bytes += held_kernel_bytes(s.n, single),
        c.step_passes = c.codes_passes = c.certificate_passes = 0;
  if (by == KernelBy::tiles) c.step_flops += all / 2 * kernel_flops;
  if (by == KernelBy::products) c.step_flops = 4 * s.n * s.k + 4 * s.entries, c.step_passes = 3;
  if (by == KernelBy::products) c.bytes += 8 * s.d * (s.threads + 2);
  if (by == KernelBy::given) c.per_thread = 8 * 96 * s.n, c.setup_flops = 2 * all;
  return c;
}

Candidate gradient(const Sizes& s, bool given, double kernel_flops) {
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

/// Over the points from first to last; repeated picks and second thoughts come on top.
double passes_of(const Candidate& c, const PlanFacts& facts, const SelectOptions& o) {
  const Preprocessing prep{.center = effective_center(o), .scale = o.scale};
  return static_cast<double>(Points::visits(prep, facts.single)) + c.setup_passes +
         static_cast<double>(o.exemplars) * c.step_passes + c.codes_passes +
         (o.certificate == CertificateKind::full ? c.certificate_passes : 0.0);
}

/// Numbers kept of every point, whatever the form (points.hpp): its norm, means, factors.
double numbers_of_each(const PlanFacts& facts, const SelectOptions& o) {
  return 1 + (effective_center(o) == Center::point) + (o.scale == Scale::unit) +
         (o.kernel.type == KernelType::cosine) + (o.kernel.type == KernelType::rbf) + facts.sparse;
}

std::vector<Candidate> candidates(const PlanFacts& facts, const SelectOptions& o, const Sizes& s) {
  const KernelType kernel = o.kernel.type;
  const bool linear = kernel == KernelType::linear || kernel == KernelType::cosine;
  const bool given = kernel == KernelType::precomputed;
  const double row = s.sparse ? s.row() : s.d;
  const double kernel_flops = 2 * row + (linear ? 0 : 20);
  const bool single = facts.single && !o.precise;
  std::vector<Candidate> all;
  if (o.q != Norm::two || o.nonneg) {
    Candidate c = gradient(s, given, kernel_flops);
    c.why = fmt::format("{} needs the whole n x n gradient",
                        o.nonneg ? "a sign constraint" : fmt::format("q = {}", name_of(o.q)));
    all.push_back(std::move(c));
  } else if (given) {
    all.push_back(representer(s, KernelBy::given, 0, false));
    all.back().why = "the kernel matrix is given and used in place";
  } else if (linear) {
    all.push_back(covariance(s, single, o.rho.has_value()));
    all.back().why = fmt::format("a linear kernel with {} features and {} points: O(n d) a step",
                                 facts.features, facts.points);
    if (facts.sparse) {
      all.push_back(representer(s, KernelBy::products, kernel_flops, false));
      all.back().why = fmt::format(
          "sparse points ({} stored numbers): products with A, no n x n matrix", facts.entries);
    } else {
      all.push_back(representer(s, KernelBy::held, kernel_flops, single));
      all.back().why =
          fmt::format("{} points of {} features: the n x n kernel is less work than d x d products",
                      facts.points, facts.features);
      all.push_back(representer(s, KernelBy::products, kernel_flops, false));
      all.back().why = "products with A are the least work for these points";
    }
  } else if (o.rank > 0) {
    const Index rank = std::min(o.rank, facts.points);
    all.push_back(factor(s, rank, facts.single && !o.precise, kernel_flops));
    all.back().why =
        fmt::format("the {} kernel through a factor of rank {}: O(n rank) a step, no n x n matrix",
                    name_of(kernel), rank);
  } else {
    all.push_back(representer(s, KernelBy::held, kernel_flops, single));
    all.back().why = fmt::format("the {} kernel, its n x n matrix held in memory", name_of(kernel));
    all.push_back(representer(s, KernelBy::tiles, kernel_flops, single));
    all.back().why =
        fmt::format("the {} kernel, computed in tiles: its n x n matrix does not fit the memory",
                    name_of(kernel));
  }
  return all;
}

Index to_index(double v) {
  return v < 9e18 ? static_cast<Index>(v) : std::numeric_limits<Index>::max();
}

/// Kernels whose matrix has to be computed entry by entry.
bool has_n_by_n(KernelType kernel) {
  return kernel == KernelType::rbf || kernel == KernelType::polynomial ||
         kernel == KernelType::laplacian;
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
  return fmt::format("ask for fewer exemplars or points, or allow more memory{}",
                     has_n_by_n(o.kernel.type) ? ", or approximate the kernel with a rank" : "");
}

/// What the user should know beside the choice itself.
std::vector<std::string> notes_on(const Candidate& chosen, const PlanFacts& facts,
                                  const SelectOptions& o) {
  std::vector<std::string> notes;
  if (o.rank > facts.points)
    notes.push_back(fmt::format("a rank of {} was asked for, there are {} points: {} is used",
                                o.rank, facts.points, facts.points));
  if (chosen.kernel_by == KernelBy::tiles)
    notes.push_back(
        "every exemplar costs the whole kernel twice; a rank, such as 512, approximates it at O(n "
        "rank) a step");
  return notes;
}

}  // namespace

PlanFacts facts_of(const PointsView& points, int threads) {
  PlanFacts f{.points = rows_of(points),
              .features = cols_of(points),
              .entries = entries_of(points),
              .sparse = is_sparse(points),
              .single = is_single(points),
              .streamed = is_streamed(points),
              .threads = threads};
  const Index value = f.single ? 4 : 8;
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
  if (kernel.gamma || (kernel.type != KernelType::rbf && kernel.type != KernelType::laplacian))
    return 0;
  const double sample = std::min(1000.0, n);
  return 8 * sample * ((sparse ? 0 : d) + 1.5 * sample);
}

Plan make_plan(const PlanFacts& facts, const SelectOptions& options) {
  const Sizes s{.n = static_cast<double>(facts.points),
                .d = static_cast<double>(facts.features + 1),
                .k = static_cast<double>(options.exemplars),
                .entries = static_cast<double>(facts.entries),
                .side = static_cast<double>(facts.side_by_side),
                .threads = static_cast<double>(facts.threads),
                .sparse = facts.sparse && options.kernel.type != KernelType::laplacian,
                .entrywise = has_n_by_n(options.kernel.type)};
  if (facts.streamed && options.kernel.type == KernelType::precomputed)
    throw MemoryError(fmt::format(
        "a precomputed kernel of {} points is larger than the memory allowed and cannot be read in "
        "blocks; allow more memory, or give the points and let the kernel be computed",
        facts.points));
  const double data = static_cast<double>(facts.data_bytes) *
                      (facts.streamed ? facts.threads * facts.side_by_side : 1);
  const double limit = facts.limit > 0 ? facts.limit : memory_limit(to_index(data), options);
  const double common = 8 * (numbers_of_each(facts, options) * s.n + 4 * s.d) +
                        (options.codes ? 8 * s.n * s.k : 0.0) +
                        (options.assignment ? 8 * s.n : 0.0);
  const double program =
      static_cast<double>(facts.label_bytes) + (facts.streamed ? program_bytes : 0);
  const auto needs = [&](const Candidate& c) {
    return program + data + s.side * (c.bytes + common + c.per_thread * facts.threads);
  };
  const auto work = [&](const Candidate& c) { return c.setup_flops + s.k * c.step_flops; };
  std::vector<Candidate> all = candidates(facts, options, s);
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
  Plan plan{
      .form = best->form,
      .kernel_by = best->kernel_by,
      .why = best->kernel_by == KernelBy::products && refused
                 ? "the n x n kernel would be less work, but does not fit the memory: products "
                   "with A"
                 : best->why,
      .points = facts.points,
      .features = facts.features,
      .exemplars = options.exemplars,
      .threads = facts.threads,
      .memory_bytes = to_index(best->bytes + common + program),
      .memory_per_thread = to_index(best->per_thread),
      .data_bytes = to_index(data),
      .setup_flops = best->setup_flops,
      .step_flops = best->step_flops,
      .passes = to_index(passes_of(*best, facts, options)),
      .notes = notes_on(*best, facts, options)};
  count_operations(facts, options, plan);
  if (facts.streamed)
    plan.notes.push_back(fmt::format(
        "streamed in blocks, about {} passes over the file; the time is that of a file the "
        "system has in its cache, a disk takes longer",
        plan.passes));
  return plan;
}

}  // namespace fwsr
