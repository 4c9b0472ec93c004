#include "fwsr/solver/point_shard.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();

double largest(const std::vector<double>& values) {
  return values.empty() ? none : *std::max_element(values.begin(), values.end());
}

}  // namespace

/// c and h of every candidate in one run.
struct PointShard::Run {
  Run(const Points& candidates, const Terms& of, Index points_before, const std::vector<double>& r)
      : points(candidates), terms(of), before(points_before), scores(r) {}

  /// The step made ready for a pass over the points.
  Points::Update prepare(const Advance::Step& s, const Forms& forms) {
    return prepare(s, forms, own);
  }
  Points::Update prepare(const Advance::Step& s, const Forms& forms, Points::Directions& room) {
    points.prepare(s.a.all(), s.av.all(), s.rv.all(), forms.single, room);
    return {.points = &points,
            .with = &room,
            .step = s.step,
            .r = forms.r.data(),
            .c = scores.c.data(),
            .h = scores.h.data(),
            .block_max = scores.block_max.data()};
  }

  const Points& points;
  const Terms& terms;
  Index before;   // points of the set that are in other places
  Scores scores;  // its r is the covariance's
  Points::Directions own;
};

PointShard::PointShard(int threads, KeepGoing keep_going)
    : threads_(threads), keep_going_(std::move(keep_going)) {}
PointShard::~PointShard() = default;

void PointShard::add(Index set, std::unique_ptr<Points> points) {
  points_[set] = points.get();
  owned_[set] = std::move(points);
}

Told PointShard::answer(const MakeSet& q) {
  add(q.set, std::make_unique<Points>(points(q.of), q.eta, q.eta_relative));
  return {};
}

const Terms& PointShard::terms(Index set) const {
  static const Terms none_at_all;
  const auto found = narrowed_.find(set);
  return found == narrowed_.end() ? none_at_all : found->second.terms;
}

const Points& PointShard::candidates(Index set) const {
  const auto found = narrowed_.find(set);
  return found == narrowed_.end() || !found->second.candidates ? points(set)
                                                               : *found->second.candidates;
}

/// A point has its bits by its place among all: so r is made of all points.
std::vector<double> PointShard::of_candidates(Index set, std::vector<double> r) const {
  if (&candidates(set) == &points(set)) return r;
  std::vector<double> own;
  own.reserve(terms(set).candidates.size());
  for (const Index i : terms(set).candidates) own.push_back(r[at(i)]);
  return own;
}

std::vector<double> PointShard::r_of_all(Index set, Index covariance) const {
  const std::vector<double>& own = r(covariance);
  std::vector<double> all(at(points(set).size()));
  for (std::size_t c = 0; c < own.size(); ++c)
    all[at(terms(set).point(static_cast<Index>(c)))] = own[c];
  return all;
}

Told PointShard::answer(const Narrow& q) {
  const Points& own = points(q.set);
  const Portion& here = own.portion();
  const auto list = [](const Numbers& v) {
    return std::vector<double>(v.all().begin(), v.all().end());
  };
  Narrowed narrowed{.terms = terms_of(Terms{.weights = list(q.weights),
                                            .candidates = q.candidates,
                                            .costs = list(q.costs),
                                            .included = {},
                                            .groups = q.groups},
                                      here.first, here.size),
                    .candidates = {}};
  if (q.some) narrowed.candidates = std::make_unique<Points>(own, narrowed.terms.candidates);
  narrowed_[q.set] = std::move(narrowed);
  return {};
}

WhichPoints::Reply PointShard::answer(const WhichPoints& q) const {
  const Points& own = points(q.set);
  const Portion& here = own.portion();
  return {.first = here.first,
          .size = here.size,
          .of = here.of,
          .features = own.features(),
          .sparse = own.sparse(),
          .single = own.single()};
}

Told PointShard::answer(const Forget& q) {
  if (q.what == Forget::What::run) runs_.erase(q.id), distances_.erase(q.id);
  if (q.what == Forget::What::covariance) forms_.erase(q.id);
  if (q.what == Forget::What::set) points_.erase(q.id), owned_.erase(q.id), narrowed_.erase(q.id);
  return {};
}

// --------------------------------------------------------------------------------------- the set-up

RowsOf::Reply PointShard::answer(const RowsOf& q) const {
  const Points& own = points(q.set);
  const Portion& here = own.portion();
  RowsOf::Reply reply;
  const auto here_too = [&](Index i) { return i >= here.first && i < here.first + here.size; };
  if (q.rows_too)
    reply.rows.reserve(at(std::count_if(q.points.begin(), q.points.end(), here_too) * own.dim()));
  for (std::size_t w = 0; w < q.points.size(); ++w) {
    const Index i = q.points[w] - here.first;
    if (i < 0 || i >= here.size) continue;
    reply.which.push_back(static_cast<Index>(w));
    if (q.rows_too) {
      reply.rows.resize(reply.rows.size() + at(own.dim()));
      own.row(i, reply.rows.data() + reply.rows.size() - at(own.dim()));
    }
    reply.squares.push_back(own.squared_norm(i));
    reply.taken_away.push_back(own.norm_taken_away(i));
  }
  return reply;
}

Moments::Reply PointShard::answer(const Moments& q) const {
  return q.single ? moments_in_single(points(q.set), q.shift.all(), threads_, keep_going_)
                  : moments_in_double(points(q.set), terms(q.set).weights, threads_, keep_going_);
}

double PointShard::keep(Index id, std::vector<double> r, bool single) {
  const double most = largest(r);
  forms_[id] = {.r = std::move(r), .single = single};
  return most;
}

KeepForms::Reply PointShard::answer(const KeepForms& q) {
  return keep(
      q.id, of_candidates(q.set, forms_in_double(points(q.set), q.c.all(), threads_, keep_going_)),
      false);
}

KeepFormsInSingle::Reply PointShard::answer(const KeepFormsInSingle& q) {
  SingleForms forms = forms_in_single(points(q.set), q.b.all(), {q.m.all(), q.s.all(), q.cm.all()},
                                      points(q.set).portion().of, threads_, keep_going_);
  keep(q.id, of_candidates(q.set, std::move(forms.r)), true);
  return {.most = forms.most, .longest = forms.longest};
}

SumPoints::Reply PointShard::answer(const SumPoints& q) const {
  return points(q.set).sum(threads_);
}

KeepBordered::Reply PointShard::answer(const KeepBordered& q) {
  const Points &own = points(q.set), &plain = points(q.without);
  KeepBordered::Reply reply{.s = plain.finish_sum(q.sum.all())};
  const Bordered with{
      .scale = own.scale_against(plain), .eta = own.eta(), .n = own.portion().of, .dim = own.dim()};
  reply.largest = keep(q.id, bordered_forms(plain, r(q.id_without), reply.s, with, threads_),
                       forms_.at(q.id_without).single);
  return reply;
}

// ----------------------------------------------------------------------------------------- the runs

Told PointShard::answer(const BeginRun& q) {
  auto begun = std::make_unique<Run>(candidates(q.set), terms(q.set), points(q.set).portion().first,
                                     r(q.covariance));
  begun->scores.find_block_max(threads_);
  runs_[q.run] = std::move(begun);
  return {};
}

Told PointShard::answer(const LowerDistances& q) {
  const Index before = points(q.set).portion().first;
  distances_.try_emplace(q.run, candidates(q.set), terms(q.set), before)
      .first->second.lower(q, threads_);
  return {};
}

const Distances* PointShard::distances(Index run) const {
  const auto found = distances_.find(run);
  return found == distances_.end() ? nullptr : &found->second;
}

Told PointShard::answer(const SetPrices& q) {
  if (const auto found = distances_.find(q.run); found != distances_.end()) {
    found->second.permit(q.prices.all());
    return {};
  }
  Run& own = run(q.run);
  std::vector<double> prices;
  for (Index c = 0; c < own.points.size(); ++c)
    prices.push_back(q.prices.all()[at(own.before + own.terms.point(c))]);
  const bool all = std::all_of(prices.begin(), prices.end(), [](double p) { return p == 1; });
  own.scores.prices = all ? std::vector<double>{} : std::move(prices);
  own.scores.find_block_max(threads_);
  return {};
}

LargestScore::Reply PointShard::answer(const LargestScore& q) const {
  if (const Distances* own = distances(q.run)) return own->largest();
  return largest(run(q.run).scores.block_max);
}

FirstScore::Reply PointShard::answer(const FirstScore& q) const {
  if (const Distances* own = distances(q.run)) return own->first(q.enough);
  const Run& own = run(q.run);
  const Index i = own.scores.first(q.enough);
  if (i < 0) return {};
  return {.point = own.before + own.terms.point(i), .square = own.scores.c[at(i)]};
}

Lead::Reply PointShard::answer(const Lead& q) const {
  const Run& own = run(q.run);
  Lead::Reply reply;
  reply.largest = largest(own.scores.block_max);
  const Index i = own.scores.first(enough_of(reply.largest, q.tie));
  if (i < 0) return reply;
  reply.score = own.scores.score(at(i));
  reply.first = {.point = own.before + own.terms.point(i), .square = own.scores.c[at(i)]};
  reply.row.resize(at(own.points.dim()));
  own.points.row(i, reply.row.data());
  return reply;
}

Told PointShard::answer(const Rescore& q) {
  Run& own = run(q.run);
  const Points& points = own.points;
  const Index dim = points.dim();
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    points.rows(first, last, out);
  };
  visit_products(points.portion(), dim, threads_, fill, q.e.all(), q.c.all(),
                 [&](Index i, const double* a, const double* y, const double* z) {
                   own.scores.c[at(i)] = dot(y, z, dim);  // y = E^T a_i, z = C y
                   own.scores.h[at(i)] = dot(a, z, dim);
                 });
  own.scores.find_block_max(threads_);
  return {};
}

Told PointShard::answer(const Advance& q) {
  if (q.in_turn) return advance_in_turn(q);
  const Points& all = candidates(q.set);
  std::vector<Points::Update> ready;
  ready.reserve(q.steps.size());
  for (const Advance::Step& s : q.steps)
    ready.push_back(run(s.run).prepare(s, forms_.at(s.covariance)));
  const Points::SharedPass pass(all, ready);
  const double work = 6.0 * static_cast<double>(ready.size()) * static_cast<double>(all.size()) *
                      static_cast<double>(all.dim());
  for_own_blocks(threads_for(threads_, work), all.size(),
                 [&](Index block, Index first, Index last) { pass.run(block, first, last); });
  for (const Advance::Step& s : q.steps)
    if (Run& own = run(s.run); !own.scores.prices.empty()) own.scores.find_block_max(threads_);
  return {};
}

/// Every block of points takes all the steps before the next is fetched: the same bits as step by step.
Told PointShard::advance_in_turn(const Advance& q) {
  const Points& all = candidates(q.set);
  constexpr std::size_t at_once = 64;
  for (std::size_t from = 0; from < q.steps.size(); from += at_once) {
    const std::size_t count = std::min(at_once, q.steps.size() - from);
    std::vector<Points::Directions> directions(count);
    std::vector<Points::Update> ready;
    for (std::size_t s = 0; s < count; ++s) {
      const Advance::Step& step = q.steps[from + s];
      Run& own = run(step.run);
      ready.push_back(own.prepare(step, forms_.at(step.covariance), directions[s]));
    }
    std::vector<Points::SharedPass> passes;
    passes.reserve(count);
    for (const Points::Update& update : ready)
      passes.emplace_back(all, std::span<const Points::Update>(&update, 1));
    const double work = 6.0 * static_cast<double>(count) * static_cast<double>(all.size()) *
                        static_cast<double>(all.dim());
    for_own_blocks(threads_for(threads_, work), all.size(),
                   [&](Index block, Index first, Index last) {
                     throw_if_cancelled(keep_going_);
                     for (const Points::SharedPass& pass : passes) pass.run(block, first, last);
                   });
  }
  for (const Advance::Step& s : q.steps)
    if (Run& own = run(s.run); !own.scores.prices.empty()) own.scores.find_block_max(threads_);
  return {};
}

// ------------------------------------------------------------------------------- when a run has ended

DescribeCodes::Reply PointShard::answer(const DescribeCodes& q) const {
  const bool some = &candidates(q.set) != &points(q.set);
  return sweep_linear(points(q.set), q.tables,
                      some ? r_of_all(q.set, q.covariance) : r(q.covariance), terms(q.set),
                      q.wanted, threads_, keep_going_);
}

ResidualSquares::Reply PointShard::answer(const ResidualSquares& q) const {
  return residual_squares(points(q.set), q.codes, terms(q.set).weights, threads_, keep_going_);
}

ResidualMoments::Reply PointShard::answer(const ResidualMoments& q) const {
  return residual_moments(points(q.set), q.codes, terms(q.set).weights, threads_, keep_going_);
}

ProjectedSquares::Reply PointShard::answer(const ProjectedSquares& q) const {
  return projected_squares(points(q.set), q.w.all(), terms(q.set).weights, threads_, keep_going_);
}

ResidualScores::Reply PointShard::answer(const ResidualScores& q) {
  const Points& own = candidates(q.set);
  const Terms& of = terms(q.set);
  residual_scores_ = residual_scores(own, q.rr.all(), threads_, keep_going_);
  ResidualScores::Reply reply;
  for (Index i = 0; i < own.size(); ++i) {
    const double cost = of.cost(of.point(i)), price = 1 / (cost * cost);
    residual_scores_[at(i)] *= price;
    const double square = residual_scores_[at(i)],
                 error = price * residual_score_error(own, q.f, i);
    reply.largest = std::max(reply.largest, square);
    reply.least = std::max(reply.least, square - error);
    reply.most = std::max(reply.most, square + error);
  }
  return reply;
}

ResidualLeaders::Reply PointShard::answer(const ResidualLeaders& q) {
  const Points& own = candidates(q.set);
  const Terms& of = terms(q.set);
  const std::vector<double> squares = std::exchange(residual_scores_, {});
  std::vector<Index> leaders;
  for (Index i = 0; i < own.size() && std::ssize(leaders) <= q.few; ++i) {
    const double cost = of.cost(of.point(i));
    if (squares[at(i)] + residual_score_error(own, q.f, i) / (cost * cost) >= q.least)
      leaders.push_back(points(q.set).portion().first + of.point(i));
  }
  return leaders;
}

Told PointShard::answer(const KeepLeft& q) {
  narrowed_.at(q.set).left =
      squares_left(candidates(q.set), q.orthonormal.all(), threads_, keep_going_);
  return {};
}

TryExchanges::Reply PointShard::answer(const TryExchanges& q) const {
  static const std::vector<double> all_of_it;
  const auto found = narrowed_.find(q.set);
  return linear_offers({.candidates = candidates(q.set),
                        .terms = terms(q.set),
                        .before = points(q.set).portion().first,
                        .r = r(q.covariance),
                        .left = found == narrowed_.end() ? all_of_it : found->second.left},
                       q.tables, q.with.data(), threads_, keep_going_);
}

SumGroups::Reply PointShard::answer(const SumGroups& q) {
  return group_sums(points(q.set), q.tables, groups_, threads_, keep_going_);
}

FindMiddles::Reply PointShard::answer(const FindMiddles& q) {
  const std::vector<Index> groups = std::exchange(groups_, {});
  return nearest_to_means(points(q.set), q.tables, groups, threads_, keep_going_);
}

BeyondSpan::Reply PointShard::answer(const BeyondSpan& q) const {
  return beyond_span(points(q.set), q.orthonormal.all(), {}, terms(q.set).weights, threads_,
                     keep_going_);
}

}  // namespace fwsr
