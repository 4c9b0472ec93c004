#include "fwsr/solver/sharded_points.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "fwsr/base/memory.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/solver/far_factor.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

// --------------------------------------------------------------------------------------- the selections

namespace {

PreparedProblem prepared_from(std::unique_ptr<ShardedPoints> set, const SelectOptions& o,
                              const Plan& plan, const KeepGoing& keep_going) {
  if (plan.kernel_by == KernelBy::factor)
    return prepare_far_factor(std::move(set), o, plan, keep_going);
  PreparedProblem prepared;
  prepared.source = set->kernel();
  prepared.warning = set->warning();
  prepared.type = {.type = KernelType::linear};
  if (set->shape().sparse)
    refuse_if_too_far_from_origin(set->facts(), prepared.type.type,
                                  [&](Index i, double* out) { return set->fetch(i, out); });
  prepared.set = std::move(set);
  return prepared;
}

/// Of a sweep: the points without eta, and with each.
class ShardedSetUp final : public SweepSetUp {
 public:
  ShardedSetUp(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
               const SelectOptions& options, const Plan& plan)
      : options_(options), plan_(plan), plain_(std::move(shards), shape, without_eta(options)) {}

  PointSet& plain() override { return plain_; }
  std::unique_ptr<PreparedProblem> prepare(double eta) override {
    return std::make_unique<PreparedProblem>(prepared_from(
        std::make_unique<ShardedPoints>(plain_, eta, options_.eta_relative), options_, plan_, {}));
  }

 private:
  const SelectOptions& options_;
  const Plan& plan_;
  ShardedPoints plain_;
};

}  // namespace

std::optional<std::string> not_by_shards(const PointsShape& shape, const SelectOptions& o) {
  const KernelFormula& kernel = formula_of(o.kernel.type);
  if (o.q != Norm::two || o.nonneg)
    return "serve q = 2 with codes of any sign alone; leave q and nonneg out";
  if (kernel.of == KernelOf::matrix)
    return "take points, no kernel matrix; give the points it was made from";
  if (!kernel.linear && !kernel.of_distances())
    return fmt::format("know no {} kernel; use rbf with a rank, cosine or linear", kernel.name);
  if (!kernel.linear && !has_far_factor(o))
    return fmt::format("find no middle by the {} kernel; use refine exchange, or rbf", kernel.name);
  if (!kernel.linear && shape.sparse)
    return fmt::format(
        "serve {} for dense points alone; use kernel linear, or a dense matrix of "
        "fewer features",
        kernel.name);
  if (!kernel.linear && o.rank == 0)
    return fmt::format(
        "hold no matrix of {} x {} kernel values; give a rank, such as 512, or choose on one "
        "machine",
        shape.size, shape.size);
  if (o.rho) return "cannot tell the boolean objective; leave lambda and rho out";
  if (o.until_error && !kernel.linear)
    return "cannot watch the error with a factor of the kernel; leave until_error out, or use "
           "method fwsr with the linear kernel";
  const double dim = static_cast<double>(kernel.linear ? shape.features : o.rank) + 1;
  const double bytes = 8 * 5 * dim * dim, limit = memory_limit(0, o);
  if (bytes > limit)
    return fmt::format(
        "hold a matrix of {} x {} features each, {} with what belongs to it, and {} may be used; "
        "give fewer features (by hashing or a random projection, say), or choose on one machine",
        shape.features, shape.features, format_bytes(bytes), format_bytes(limit));
  return std::nullopt;
}

Plan plan_sharded(const PointsShape& shape, const SelectOptions& options) {
  if (const auto problem = find_problem(options, shape.size, shape.features))
    throw OptionError(*problem);
  if (const auto problem = not_by_shards(shape, options))
    throw OptionError("points that live in several places " + *problem);
  const bool linear = formula_of(options.kernel.type).linear;
  Plan plan;
  plan.form = FormKind::covariance;
  plan.kernel = options.kernel.type;
  plan.kernel_by = linear ? KernelBy::none : KernelBy::factor;
  plan.rank = options.rank;
  plan.refine = options.refine;
  plan.points = shape.size;
  plan.features = shape.features;
  plan.exemplars = with_limit(options, shape.size).exemplars;
  plan.threads = threads_of(options);
  return plan;
}

Selection select_sharded(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                         const SelectOptions& given, const Observer& observer) {
  const Plan plan = plan_sharded(shape, given);
  const SelectOptions options = with_limit(given, shape.size);
  return run_prepared(
      [&](const KeepGoing& keep_going) {
        PreparedProblem prepared = prepared_from(
            std::make_unique<ShardedPoints>(std::move(shards), shape, preprocessing_of(options)),
            options, plan, keep_going);
        set_terms(prepared, options, plan);
        return prepared;
      },
      options, plan, observer);
}

std::vector<SweepEntry> sweep_sharded(std::shared_ptr<RemoteShards> shards,
                                      const PointsShape& shape, const SelectOptions& options,
                                      const std::vector<NumberOrAuto>& alphas,
                                      const std::vector<double>& etas, const Observer& observer) {
  if (!options.conditions.empty() || options.budget)
    throw Error(
        "a sweep over points that live in several places knows no conditions; choose for every "
        "setting by itself");
  const Grid grid = make_grid(options, alphas, etas);
  refuse_settings(options, grid, shape.size, shape.features);
  const Plan each = plan_sharded(shape, options);
  const bool together = each.kernel_by == KernelBy::none;
  const SweepPlan plan{.each = each,
                       .settings = grid.size(),
                       .at_once = together ? grid.size() : 1,
                       .rounds = 1,
                       .etas = static_cast<Index>(grid.etas.size()),
                       .memory_bytes = 0,
                       .shared = {}};
  if (together)
    return sweep_together(
        [&](const KeepGoing&) {
          return std::make_unique<ShardedSetUp>(std::move(shards), shape, options, each);
        },
        options, plan, grid, observer);
  std::unique_ptr<ShardedPoints> learnt;  // what the factor of every eta is of
  return sweep_one_by_one(
      [&](const SelectOptions& own, const Plan& own_plan, const KeepGoing& keep_going) {
        if (!learnt)
          learnt =
              std::make_unique<ShardedPoints>(std::move(shards), shape, preprocessing_of(options));
        return prepared_from(std::make_unique<ShardedPoints>(*learnt, 0.0, false), own, own_plan,
                             keep_going);
      },
      options, plan, grid, observer);
}

}  // namespace fwsr
