// The layout of questions and replies as bytes (archive.hpp): all fields in this order. A question begins with its place
// in the list at the end, a reply with how it went.
#pragma once

#include "fwsr/base/archive.hpp"
#include "fwsr/solver/questions.hpp"

namespace fwsr {

template <class A>
void fields(A& a, Numbers& v) {
  std::vector<double> own(v.all().begin(), v.all().end());
  a(own);
  if constexpr (std::is_same_v<A, BytesReader>) v = Numbers(std::move(own));
}

// clang-format off
// Preprocessing (statistics.hpp).
template <class A> void fields(A&, Told&) {}
template <class A> void fields(A& a, Common& v) { a(v.scale, v.weights, v.means); }
template <class A> void fields(A& a, ConstantRows& v) { a(v.largest_other, v.largest, v.first, v.value); }
template <class A> void fields(A& a, ScanPoints& v) { a(v.numbers); }
template <class A> void fields(A& a, ScanPoints::Reply& v) { a(v.largest, v.largest_other, v.records); }
template <class A> void fields(A& a, SumFeatures& v) { a(v.of, v.common); }
template <class A> void fields(A& a, FindNumbers& v) { a(v.common, v.scanned); }
template <class A> void fields(A& a, FindNumbers::Reply& v) { a(v.some, v.largest); }
template <class A> void fields(A& a, FindHuge& v) { a(v.median); }
template <class A> void fields(A& a, FindHuge::Reply& v) { a(v.point, v.feature, v.value, v.square); }
template <class A> void fields(A& a, DropConstant& v) { a(v.scaled, v.longest); }
template <class A> void fields(A&, NormalizePoints&) {}
template <class A> void fields(A&, SumSquares&) {}
template <class A> void fields(A& a, SumSquares::Reply& v) { a(v.sums, v.largest); }
template <class A> void fields(A& a, SetScale& v) { a(v.common, v.unit, v.eta, v.rms_norm); }

// Sets, covariances and runs.
template <class A, class Question> void fields(A& a, OfSet<Question>& v) { a(v.set, v.question); }
template <class A> void fields(A& a, MakeSet& v) { a(v.set, v.of, v.eta, v.eta_relative); }
template <class A> void fields(A& a, WhichPoints& v) { a(v.set); }
template <class A> void fields(A& a, WhichPoints::Reply& v) {
  a(v.first, v.size, v.of, v.features, v.sparse, v.single, v.in_double);
}
template <class A> void fields(A& a, Narrow& v) { a(v.set, v.weights, v.costs, v.some, v.candidates, v.groups); }
template <class A> void fields(A& a, SetPrices& v) { a(v.run, v.prices); }
template <class A> void fields(A& a, Forget& v) { a(v.what, v.id); }
template <class A> void fields(A& a, RowsOf& v) { a(v.set, v.points, v.rows_too); }
template <class A> void fields(A& a, RowsOf::Reply& v) { a(v.which, v.rows, v.squares, v.taken_away); }
template <class A> void fields(A& a, CopiesOf& v) { a(v.set, v.points); }
template <class A> void fields(A& a, Preprocessing& v) { a(v.center, v.scale, v.eta, v.eta_relative, v.normalize); }
template <class A> void fields(A& a, PointCopies& v) {
  a(v.which, v.sparse, v.single, v.features, v.values, v.columns, v.lengths, v.numbers, v.prep, v.common, v.factor,
    v.unit, v.eta, v.rms_norm);
}
template <class A> void fields(A& a, Gram& v) { a(v.products, v.rows); }
template <class A> void fields(A& a, Moments& v) { a(v.set, v.single, v.shift); }
template <class A> void fields(A& a, KeepForms& v) { a(v.set, v.id, v.c); }
template <class A> void fields(A& a, KeepFormsInSingle& v) { a(v.set, v.id, v.b, v.m, v.s, v.cm); }
template <class A> void fields(A& a, KeepFormsInSingle::Reply& v) { a(v.most, v.longest); }
template <class A> void fields(A& a, SumPoints& v) { a(v.set); }
template <class A> void fields(A& a, KeepBordered& v) { a(v.set, v.without, v.id, v.id_without, v.sum); }
template <class A> void fields(A& a, KeepBordered::Reply& v) { a(v.s, v.largest); }
template <class A> void fields(A& a, BeginRun& v) { a(v.set, v.covariance, v.run); }
template <class A> void fields(A& a, LargestScore& v) { a(v.run); }
template <class A> void fields(A& a, FirstScore& v) { a(v.run, v.enough); }
template <class A> void fields(A& a, FirstScore::Reply& v) { a(v.point, v.square); }
template <class A> void fields(A& a, Lead& v) { a(v.run, v.tie); }
template <class A> void fields(A& a, Lead::Reply& v) { a(v.largest, v.score, v.first, v.row); }
template <class A> void fields(A& a, LowerDistances& v) { a(v.set, v.run, v.exemplars, v.rows, v.squares); }
template <class A> void fields(A& a, ScoreStep& v) { a(v.gamma, v.length); }
template <class A> void fields(A& a, Advance::Step& v) { a(v.run, v.covariance, v.a, v.av, v.rv, v.step); }
template <class A> void fields(A& a, Advance& v) { a(v.set, v.steps, v.in_turn); }
template <class A> void fields(A& a, Rescore& v) { a(v.run, v.c, v.e); }

// What is said when a run has ended.
template <class A> void fields(A& a, SmallMatrix& v) { a(v.rows, v.cols, v.values); }
template <class A> void fields(A& a, SweepTables& v) {
  a(v.full, v.m, v.k, v.rank, v.exemplars, v.places, v.squares, v.theta, v.with, v.among, v.g, v.norm, v.roughness, v.of_codes, v.score_error);
}
template <class A> void fields(A& a, Wanted& v) { a(v.assignment, v.codes, v.sums); }
template <class A> void fields(A& a, DescribeCodes& v) { a(v.set, v.covariance, v.tables, v.wanted); }
template <class A> void fields(A& a, Magnitudes& v) { a(v.absolute, v.residual_errors, v.longest, v.roughest); }
template <class A> void fields(A& a, LinearSums& v) {
  a(v.xk, v.xkx, v.trace, v.largest_score, v.score_error, v.leaders, v.projection, v.plain_trace, v.sizes, v.xp,
    v.squared_score);
}
template <class A> void fields(A& a, Leaders::One& v) { a(v.point, v.score); }
template <class A> void fields(A& a, Leaders& v) { a(v.margin, v.largest, v.left_out, v.all); }
template <class A> void fields(A& a, SweepPart& v) { a(v.count, v.squares, v.sums, v.leaders); }
template <class A> void fields(A& a, SweepAnswer& v) { a(v.parts, v.assignment, v.codes); }
template <class A> void fields(A& a, ResidualVectors& v) { a(v.dim, v.basis, v.chosen, v.theta); }
template <class A> void fields(A& a, ResidualSquares& v) { a(v.set, v.codes); }
template <class A> void fields(A& a, ResidualMoments& v) { a(v.set, v.codes); }
template <class A> void fields(A& a, ProjectedSquares& v) { a(v.set, v.w); }
template <class A> void fields(A& a, ResidualScores& v) { a(v.set, v.rr, v.f); }
template <class A> void fields(A& a, ResidualScores::Reply& v) { a(v.largest, v.least, v.most); }
template <class A> void fields(A& a, ResidualLeaders& v) { a(v.set, v.f, v.least, v.few); }
template <class A> void fields(A& a, Partners& v) { a(v.groups, v.spare, v.room, v.most, v.refused); }
template <class A> void fields(A& a, ExchangeTables& v) {
  a(v.k, v.mu, v.step, v.exemplars, v.m, v.g, v.kappa, v.per_m, v.partners);
}
template <class A> void fields(A& a, KeepLeft& v) { a(v.set, v.orthonormal); }
template <class A> void fields(A& a, Offer& v) { a(v.point, v.gain); }
template <class A> void fields(A& a, TryExchanges& v) { a(v.set, v.covariance, v.tables, v.with); }
template <class A> void fields(A& a, SumGroups& v) { a(v.set, v.tables); }
template <class A> void fields(A& a, MiddleWeights& v) { a(v.kernel, v.gamma); }
template <class A> void fields(A& a, MiddleTables& v) {
  a(v.dim, v.weights, v.least, v.exemplars, v.shift, v.rows, v.means, v.weight, v.at);
}
template <class A> void fields(A& a, FindMiddles& v) { a(v.set, v.tables); }
template <class A> void fields(A& a, BeyondSpan& v) { a(v.set, v.orthonormal); }
template <class A> void fields(A& a, BeyondSpanSums& v) { a(v.projection, v.trace); }
template <class A> void fields(A& a, KernelTables& v) {
  a(v.kernel, v.gamma, v.times, v.dim, v.shift, v.rows, v.lower);
}
template <class A> void fields(A& a, FarthestFrom& v) { a(v.set, v.tables); }
template <class A> void fields(A& a, MakeFactor& v) { a(v.set, v.of, v.tables, v.single, v.wide); }
template <class A> void fields(A& a, MakeFactor::Reply& v) { a(v.trace, v.lost); }
template <class A> void fields(A& a, ProjectInKernel& v) { a(v.set, v.tables); }
template <class A> void fields(A& a, NearestInKernel& v) { a(v.set, v.tables, v.exemplars, v.assignment); }
template <class A> void fields(A& a, NearestInKernel::Reply& v) { a(v.counts, v.assignment); }
// clang-format on

/// All questions; a question's number is its place here.
template <class... Question>
struct QuestionList {
  template <class Q>
  static constexpr std::int32_t number() {
    std::int32_t place = 0, found = -1;
    ((std::is_same_v<Q, Question> ? found = place : 0, ++place), ...);
    return found;
  }
  /// Calls use.template operator()<Q>() for the question of that number. False: there is none.
  template <class Use>
  static bool with(std::int32_t number, Use&& use) {
    return ((number == QuestionList::number<Question>()
                 ? (use.template operator()<Question>(), true)
                 : false) ||
            ...);
  }
};
using Questions =
    QuestionList<OfSet<ScanPoints>, OfSet<SumFeatures>, OfSet<FindNumbers>, OfSet<FindHuge>,
                 OfSet<DropConstant>, OfSet<NormalizePoints>, OfSet<SumSquares>, OfSet<SetScale>,
                 MakeSet, WhichPoints, Forget, RowsOf, CopiesOf, Moments, KeepForms,
                 KeepFormsInSingle, SumPoints, KeepBordered, BeginRun, LargestScore, FirstScore,
                 Advance, Rescore, DescribeCodes, ResidualSquares, ResidualMoments,
                 ProjectedSquares, ResidualScores, ResidualLeaders, TryExchanges, BeyondSpan,
                 Narrow, SetPrices, SumGroups, FindMiddles, KeepLeft, FarthestFrom, MakeFactor,
                 ProjectInKernel, NearestInKernel, Lead, LowerDistances>;

/// How answering went.
enum class Outcome : std::int32_t { answered, error, memory_error, interrupted };

}  // namespace fwsr
