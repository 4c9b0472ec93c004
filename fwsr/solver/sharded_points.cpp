#include "fwsr/solver/sharded_points.hpp"

#include "fwsr/base/result.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

// --------------------------------------------------------------------------------------- the selections

namespace {

Plan plan_for(const PointsShape& shape, const SelectOptions& options) {
  if (const auto problem = find_problem(options, shape.size, shape.features)) throw Error(*problem);
  if (!formula_of(options.kernel.type).linear || options.q != Norm::two || options.nonneg ||
      options.fill || options.rho || !options.conditions.at_least.empty())
    throw Error(
        "points that live in several places are chosen from with the linear or cosine kernel and "
        "q = 2, without nonneg, fill, rho and at_least");
  Plan plan;
  plan.form = FormKind::covariance;
  plan.points = shape.size;
  plan.features = shape.features;
  plan.threads = threads_of(options);
  return plan;
}

PreparedProblem prepared_from(std::unique_ptr<ShardedPoints> set) {
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
               const SelectOptions& options)
      : options_(options), plain_(std::move(shards), shape, without_eta(options)) {}

  PointSet& plain() override { return plain_; }
  std::unique_ptr<PreparedProblem> prepare(double eta) override {
    return std::make_unique<PreparedProblem>(
        prepared_from(std::make_unique<ShardedPoints>(plain_, eta, options_.eta_relative)));
  }

 private:
  const SelectOptions& options_;
  ShardedPoints plain_;
};

}  // namespace

Selection select_sharded(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                         const SelectOptions& given, const Observer& observer) {
  const Plan plan = plan_for(shape, given);
  const SelectOptions options = with_limit(given, shape.size);
  return run_prepared(
      [&](const KeepGoing&) {
        PreparedProblem prepared = prepared_from(
            std::make_unique<ShardedPoints>(std::move(shards), shape, preprocessing_of(options)));
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
  const SweepPlan plan{.each = plan_for(shape, options),
                       .settings = grid.size(),
                       .at_once = grid.size(),
                       .rounds = 1,
                       .etas = static_cast<Index>(grid.etas.size()),
                       .memory_bytes = 0,
                       .shared = {}};
  return sweep_together(
      [&](const KeepGoing&) {
        return std::make_unique<ShardedSetUp>(std::move(shards), shape, options);
      },
      options, plan, grid, observer);
}

}  // namespace fwsr
