#include "fwsr/solver/sharded_points.hpp"

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "fwsr/base/result.hpp"
#include "fwsr/base/typical.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/blas_room.hpp"
#include "fwsr/prep/copies.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "fwsr/solver/watch.hpp"

namespace fwsr {

// ------------------------------------------------------------------------------------------ the points

namespace {

/// Puts questions of preprocessing to one set, and remembers the scale that its points were told.
class AskSet {
 public:
  AskSet(RemoteShards& shards, Index set, SetScale& told)
      : shards_(shards), set_(set), told_(told) {}

  template <class Question>
  std::vector<typename Question::Reply> operator()(const Question& question) const {
    if constexpr (std::is_same_v<Question, SetScale>) told_ = question;
    return shards_.ask(OfSet<Question>{.set = set_, .question = question});
  }

 private:
  RemoteShards& shards_;
  Index set_;
  SetScale& told_;
};

PointFacts facts_from(const PointsShape& shape, const SetScale& told) {
  return {.size = shape.size,
          .dim = shape.features + (told.eta != 0 ? 1 : 0),
          .features = shape.features,
          .single = shape.single,
          .unit = told.unit,
          .eta = told.eta,
          .rms_norm = told.rms_norm};
}

/// The shards hold all points, one after the other, and are of one kind.
void refuse_other_points(RemoteShards& shards, const PointsShape& shape) {
  Index next = 0;
  for (const auto& s : shards.ask(WhichPoints{.set = 0})) {
    if (s.of != shape.size || s.features != shape.features || s.sparse != shape.sparse ||
        s.single != shape.single)
      throw Error(fmt::format(
          "a shard holds some of {} points of {} features, and {} of {} were announced; they must "
          "be of one size and one kind",
          s.of, s.features, shape.size, shape.features));
    if (s.size > 0 && s.first != next)
      throw Error(
          fmt::format("a shard begins with point {} where {} should follow: points are "
                      "missing, or there twice",
                      s.first, next));
    next += s.size;
  }
  if (next != shape.size)
    throw Error(fmt::format("the shards hold {} points, of {}", next, shape.size));
}

}  // namespace

ShardedPoints::Learnt ShardedPoints::learn_all(RemoteShards& shards, const PointsShape& shape,
                                               const Preprocessing& prep) {
  refuse_other_points(shards, shape);
  Learnt all{.shape = shape, .prep = prep};
  SetScale told;
  const AskSet ask(shards, 0, told);
  all.warning = learn(shape, prep, [&](const auto& question) {
    if constexpr (std::is_same_v<std::decay_t<decltype(question)>, FindNumbers>)
      all.scale = question.common.scale;
    return ask(question);
  });
  all.facts = facts_from(shape, told);
  return all;
}

ShardedPoints::Learnt ShardedPoints::learn_eta(ShardedPoints& without, Index set, double eta,
                                               bool eta_relative) {
  Learnt all = without.learnt_;
  all.prep.eta = eta;
  all.prep.eta_relative = eta_relative;
  RemoteShards& shards = *without.shards();
  shards.ask(MakeSet{.set = set, .of = without.set(), .eta = eta, .eta_relative = eta_relative});
  SetScale told;
  learn_scale(all.shape, all.prep, all.scale, AskSet(shards, set, told));
  all.facts = facts_from(all.shape, told);
  return all;
}

ShardedPoints::ShardedPoints(std::shared_ptr<RemoteShards> shards, const PointsShape& shape,
                             const Preprocessing& prep)
    : ShardedPoints(shards, learn_all(*shards, shape, prep)) {}

ShardedPoints::ShardedPoints(std::shared_ptr<RemoteShards> shards, Learnt learnt)
    : GatheredPoints(std::move(shards), 0, learnt.facts), learnt_(std::move(learnt)) {}

ShardedPoints::ShardedPoints(ShardedPoints& without, double eta, bool eta_relative)
    : ShardedPoints(without, new_id(), eta, eta_relative) {}

ShardedPoints::ShardedPoints(ShardedPoints& without, Index set, double eta, bool eta_relative)
    : ShardedPoints(without, set, learn_eta(without, set, eta, eta_relative)) {}

ShardedPoints::ShardedPoints(ShardedPoints& without, Index set, Learnt learnt)
    : GatheredPoints(without, set, learnt.facts), learnt_(std::move(learnt)) {}

double ShardedPoints::fetch(Index i, double* out) const {
  double square = 0;
  for (const RowsOf::Reply& reply : shards()->ask(RowsOf{.set = set(), .points = {i}}))
    if (!reply.which.empty()) {
      std::copy(reply.rows.begin(), reply.rows.end(), out);
      square = reply.squares.front();
    }
  return square;
}

// ------------------------------------------------------------------------------------------ the kernel

namespace {

class ShardedKernel final : public KernelMatrix {
 public:
  explicit ShardedKernel(const ShardedPoints& points) : points_(points) {}

  Index size() const override { return points_.facts().size; }
  double unit() const override { return points_.facts().unit; }
  double rms_norm() const override { return points_.facts().rms_norm; }
  double eta() const override { return points_.facts().eta; }
  bool single() const override { return false; }

  double diagonal(Index i, Eta eta) const override {
    const double extra = eta == Eta::included ? this->eta() * this->eta() : 0.0;
    const std::lock_guard lock(mutex_);
    auto found = squares_.find(i);
    if (found == squares_.end()) {
      std::vector<Index> wanted{i};
      if (squares_.empty()) wanted = typical_places(size()), wanted.push_back(i);
      const RowsOf question{.set = points_.set(), .points = std::move(wanted), .rows_too = false};
      for (const RowsOf::Reply& reply : points_.shards()->ask(question))
        for (std::size_t w = 0; w < reply.which.size(); ++w)
          squares_[question.points[static_cast<std::size_t>(reply.which[w])]] = reply.squares[w];
      found = squares_.find(i);
    }
    return found->second + extra;
  }

  std::vector<double> values(std::span<const Index> rows, std::span<const Index> columns,
                             Eta eta) const override {
    std::map<Index, Index> places;
    CopiesOf question{.set = points_.set(), .points = {}};
    const auto place = [&](std::span<const Index> wanted) {
      std::vector<Index> at;
      for (const Index i : wanted) {
        const auto [known, fresh] = places.try_emplace(i, std::ssize(question.points));
        if (fresh) question.points.push_back(i);
        at.push_back(known->second);
      }
      return at;
    };
    const std::vector<Index> left = place(rows), right = place(columns);
    if (question.points.empty()) return {};
    const std::unique_ptr<Points> few = points_from(points_.shards()->ask(question));
    return make_tiled_kernel(*few, {.type = KernelType::linear}, {})->values(left, right, eta);
  }

  void scan(Index, Index, const VisitTile&) const override { refuse(); }
  Index row_block() const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw Error("all inner products of points that live in several places are not to be had");
  }

  const ShardedPoints& points_;
  mutable std::mutex mutex_;
  mutable std::map<Index, double> squares_;
};

}  // namespace

std::unique_ptr<KernelMatrix> make_sharded_kernel(const ShardedPoints& points) {
  return std::make_unique<ShardedKernel>(points);
}

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
  prepared.source = make_sharded_kernel(*set);
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
