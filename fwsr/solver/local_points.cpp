#include "fwsr/solver/local_points.hpp"

#include <algorithm>
#include <utility>

#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

class LocalPoints::Run final : public PointRun {
 public:
  Run(const LocalPoints& set, const Covariance& covariance)
      : points_(set.points_), threads_(set.threads_), scores_(covariance.r) {
    scores_.find_most(threads_);
  }

  Leader leader(double tie) const override {
    const Index j = scores_.best(tie);
    return {.point = j, .square = scores_.c[at(j)]};
  }

  void rescore(const Covariance& covariance, const std::vector<double>& e) override {
    const Index dim = points_.dim();
    const FillRows<double> fill = [&](Index first, Index last, double* out) {
      points_.rows(first, last, out);
    };
    visit_products(points_.size(), dim, threads_, fill, e, covariance.c,
                   [&](Index i, const double* a, const double* y, const double* z) {
                     scores_.c[at(i)] = dot(y, z, dim);  // y = E^T a_i, z = C y
                     scores_.h[at(i)] = dot(a, z, dim);
                   });
    scores_.find_most(threads_);
  }

  /// The step made ready for a pass over the points.
  Points::Update prepare(const PointUpdate& u) {
    points_.prepare(u.a, a_);
    points_.prepare(u.av, av_);
    points_.prepare(u.rv, rv_);
    return {.points = &points_,
            .a = &a_,
            .av = &av_,
            .rv = &rv_,
            .step = u.step,
            .r = u.covariance->r.data(),
            .c = scores_.c.data(),
            .h = scores_.h.data(),
            .most = scores_.most.data()};
  }

 private:
  const Points& points_;
  int threads_;
  Scores scores_;  // its r is the covariance's
  Points::Direction a_, av_, rv_;
};

LocalPoints::LocalPoints(const Points& points, int threads, Alive alive)
    : points_(points), threads_(threads), alive_(std::move(alive)) {}

LocalPoints::LocalPoints(const Points& points, LocalPoints& without)
    : points_(points), without_(&without), threads_(without.threads_), alive_(without.alive_) {}

PointFacts LocalPoints::facts() const {
  return {.size = points_.size(), .dim = points_.dim(), .single = points_.single()};
}

std::shared_ptr<const Covariance> LocalPoints::covariance(bool single) {
  const std::size_t which = single ? 1 : 0;
  if (auto held = known_[which].lock()) return held;
  if (!without_) {
    auto made =
        std::make_shared<const Covariance>(covariance_of(points_, single, threads_, alive_));
    known_[which] = made;
    return made;
  }
  auto& base = without_->shared_[which];
  if (!base) base = without_->covariance(single);
  if (points_.eta() == 0) return base;
  auto made =
      std::make_shared<const Covariance>(border(*base, without_->points_, points_, threads_));
  known_[which] = made;
  return made;
}

std::unique_ptr<PointRun> LocalPoints::begin(const Covariance& covariance) {
  return std::make_unique<Run>(*this, covariance);
}

void LocalPoints::advance(std::span<const PointUpdate> updates) {
  if (updates.empty()) return;
  std::vector<Points::Update> ready;
  ready.reserve(updates.size());
  for (const PointUpdate& u : updates) ready.push_back(static_cast<Run*>(u.run)->prepare(u));
  const Points::SharedPass pass(points_, ready);
  const double work = 6.0 * static_cast<double>(updates.size()) *
                      static_cast<double>(points_.size()) * static_cast<double>(points_.dim());
  for_own_blocks(threads_for(threads_, work), points_.size(),
                 [&](Index block, Index first, Index last) { pass.run(block, first, last); });
}

LinearSums LocalPoints::describe(const Covariance& covariance, const CodesOf& x,
                                 const Wanted& wanted, Selection& selection) const {
  return sweep_linear({.points = points_,
                       .covariance = covariance.c,
                       .r = covariance.r,
                       .r_error = covariance.r_error,
                       .threads = threads_,
                       .alive = alive_},
                      x, wanted, selection);
}

double LocalPoints::residual_sum(const CodesOf& x) const {
  return fwsr::residual_sum(points_, x, threads_, alive_);
}

double LocalPoints::score_of(Index i, const CodesOf& x) const {
  return fwsr::score_of(points_, i, x, threads_);
}

ScoreBound LocalPoints::largest_score(const CodesOf& x) const {
  return fwsr::largest_score(points_, x, threads_, alive_);
}

Regression LocalPoints::project(std::span<const Index> exemplars) const {
  return project_points(points_, exemplars, threads_, alive_);
}

}  // namespace fwsr
