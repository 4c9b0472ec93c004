// Points on a card that answer what whoever leads a run asks of points (solver/questions.hpp), as PointShard does for
// those in the memory of the processor. All sums are in double.
//
// They may be a portion of more points, of which others are on other cards. A portion tells one sum, not one for each of its
// segments: a card is fast at products of thousands of rows, and how these are added within one is cuBLAS's to say. So a sum
// over several cards is that over one to rounding, and to the bit that of the same cut on cards of the same model.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/cuda/after.hpp"
#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/device_points.hpp"
#include "fwsr/cuda/row_blocks.hpp"
#include "fwsr/cuda/statistics.hpp"
#include "fwsr/cuda/step.hpp"
#include "fwsr/solver/covariance.hpp"
#include "fwsr/solver/questions.hpp"
#include "fwsr/solver/terms.hpp"

namespace fwsr::cuda {

/// c and h of every point in one run, with room for the steps.
class CardRun {
 public:
  /// `points`: the candidates; `places`: theirs among the points at hand, none: they are these; `before`: how many points
  /// are in other places before these. `r` is the covariance's, of the candidates. All of them outlive it.
  CardRun(Device& device, const DevicePoints& points, const std::vector<Index>& places,
          Index before, const Array<double>& r);

  /// Where everything stands, but for C and E, which belong to who steps on the card (cuda_form.hpp).
  RunView view() const;
  /// One for each of all points.
  void set_prices(std::span<const double> prices);
  void find_best() const;
  /// The place of a candidate among all points.
  Index point(Index candidate) const {
    return before_ + (places_.empty() ? candidate : places_[static_cast<std::size_t>(candidate)]);
  }
  /// launch_pass over all points of `run`, a view of this one: those that are not on the card are brought there part by
  /// part.
  void pass(const RunView& run) const;
  /// Of a step, for who does not know yet: no card that we know takes longer.
  double seconds_at_most() const;
  /// launch_decide.
  void decide(const RunView& run, bool take) const;
  /// As many steps as were announced, `most`, or until the run waits for the host.
  void steps(const RunView& run, Index most) const;
  /// One step of the host's choice, with the vectors a, A v, R v.
  void advance(const Advance::Step& step);
  double largest() const;
  /// The first candidate whose score is at least this.
  struct First {
    Index candidate = -1;
    double square = 0, price = 1;
  };
  First first(double enough) const;
  std::vector<double> row(Index candidate) const;
  const DevicePoints& points() const { return points_; }
  Array<double> c, h;

 private:
  Device& device_;
  const DevicePoints& points_;
  const std::vector<Index>& places_;
  Index before_;
  const Array<double>& r_;
  Rows rows_;
  Index padded_, groups_;
  int blocks_;
  Array<double> prices_, vectors_, group_best_, block_best_;
  Array<BestPoint> block_point_;
  Array<RunState> state_;
  Array<StepRecord> record_;
  Array<double> given_;  // the leader, where kernels cannot read its row
};

/// How far points are from all exemplars (solver/distances.hpp).
struct CardDistances {
  Array<double> least = {};              // of the squared distances of every candidate
  Array<double> prices = {};             // of every candidate, 0: not to be added; empty: 1 each
  const DevicePoints* points = nullptr;  // the candidates
  // Of the candidates among the points at hand, none: they are these; which are behind so many others.
  std::vector<Index> places = {};
  Index before = 0;

  Index point(Index candidate) const {
    return before + (places.empty() ? candidate : places[static_cast<std::size_t>(candidate)]);
  }
};

/// Throws Error for points of more features than a step has room for.
void refuse_many_features(const Device& device, Index features);

class CudaShard {
 public:
  explicit CudaShard(std::shared_ptr<Device> device, KeepGoing keep_going = {});
  ~CudaShard();
  CudaShard(const CudaShard&) = delete;
  CudaShard& operator=(const CudaShard&) = delete;

  Device& device() { return *device_; }
  void add(Index set, std::unique_ptr<DevicePoints> points);
  const DevicePoints& points(Index set) const { return *sets_.at(set); }
  CardRun& run(Index id) { return *runs_.at(id); }
  /// C on the card, until it is forgotten.
  void keep(const Covariance& covariance);
  const double* covariance(Index id) const { return c_.at(id).get(); }

  /// Inner products of a few points without eta, row by row.
  std::vector<double> products(Index set, std::span<const Index> few);
  /// K and K K of a few points (solver/exchange.hpp).
  Among among(Index set, Index covariance, std::span<const Index> few);

  template <class Question>
  typename Question::Reply answer(const OfSet<Question>& q) {
    return sets_.at(q.set)->answer(q.question);
  }
  Told answer(const MakeSet& q);
  Told answer(const Narrow& q);  // shard_terms.cpp
  Told answer(const KeepLeft& q);
  WhichPoints::Reply answer(const WhichPoints& q) const;
  Told answer(const Forget& q);
  RowsOf::Reply answer(const RowsOf& q) const;
  CopiesOf::Reply answer(const CopiesOf& q) const;

  Moments::Reply answer(const Moments& q);
  KeepForms::Reply answer(const KeepForms& q);
  KeepFormsInSingle::Reply answer(const KeepFormsInSingle& q);
  SumPoints::Reply answer(const SumPoints& q);
  KeepBordered::Reply answer(const KeepBordered& q);
  Told answer(const BeginRun& q);
  Told answer(const SetPrices& q);
  Told answer(const LowerDistances& q);  // shard_distances.cpp
  LargestScore::Reply answer(const LargestScore& q);
  FirstScore::Reply answer(const FirstScore& q);
  Lead::Reply answer(const Lead& q);
  Told answer(const Advance& q);
  Told answer(const Rescore& q);

  DescribeCodes::Reply answer(const DescribeCodes& q);
  ResidualSquares::Reply answer(const ResidualSquares& q);
  ResidualMoments::Reply answer(const ResidualMoments& q);
  ProjectedSquares::Reply answer(const ProjectedSquares& q);
  ResidualScores::Reply answer(const ResidualScores& q);
  ResidualLeaders::Reply answer(const ResidualLeaders& q);
  TryExchanges::Reply answer(const TryExchanges& q);
  SumGroups::Reply answer(const SumGroups& q);
  FindMiddles::Reply answer(const FindMiddles& q);
  BeyondSpan::Reply answer(const BeyondSpan& q);
  /// Everything is in double here.
  static FarthestFrom::Reply answer(const FarthestFrom&) { return 0; }
  MakeFactor::Reply answer(const MakeFactor& q);
  ProjectInKernel::Reply answer(const ProjectInKernel& q);
  NearestInKernel::Reply answer(const NearestInKernel& q);

  /// Calls use(first, last, rows) for all points, some at a time: `rows` are a_first .. a_last in double on the card.
  /// `numbers_each`: what else is held of every one of them.
  template <class Use>
  void for_rows(const DevicePoints& points, Index numbers_each, Use&& use);

 private:
  Told permit(CardDistances& distances, std::span<const double> prices);
  Array<double> permitted(const CardDistances& distances);
  FirstScore::Reply first(const CardDistances& distances, double enough);
  /// Those of some points that are at hand: their places among the ones asked for, and here.
  struct Here {
    std::vector<Index> which, places;
  };
  Here here(Index set, std::span<const Index> some) const;
  /// Places here of some points, on the card; below 0 or beyond the last: not at hand.
  Array<Index> places_here(Index set, std::span<const Index> some);
  Index before(Index set) const { return points(set).portion().first; }
  Array<double> put(std::span<const double> numbers) { return {*device_, numbers}; }
  /// out = rows right^T, `columns` vectors of `depth` numbers.
  void times(const double* rows, Index count, Index depth, const double* right, Index columns,
             double* out, Index out_stride);
  /// x <- the residuals A - A X of some rows, which `a` holds.
  template <class Use>
  void for_residuals(const DevicePoints& own, const ResidualVectors& x, Use&& use);
  /// a_i^T C a_i of every point, for a symmetric matrix C, which is used up.
  Array<double> forms(const DevicePoints& own, Array<double> matrix);
  /// The candidates whose squared scores a_i^T S a_i lead (linear_sweep.hpp).
  Leaders leaders(Index set, Array<double> s, double margin);
  /// The same less `shift`, and their squared norms: use(first, last, rows, squares).
  template <class Use>
  void for_moved(const DevicePoints& own, std::span<const double> shift, Index numbers_each,
                 Use&& use);
  /// Calls use(first, last, values) for all points: kernel values with the few of the tables, row by row.
  template <class Use>
  void for_values(const DevicePoints& own, const KernelTables& z, Use&& use);

  /// What conditions make of a set (solver/terms.hpp).
  struct Narrowed {
    Terms terms;
    std::unique_ptr<DevicePoints> candidates;  // null: all points
    Array<Index> groups;                       // of the candidates; empty: none
    Array<double> weights;                     // of all points; empty: 1 each
    Array<double> costs, prices;               // of the candidates, and 1 / cost^2; empty: 1 each
    Array<double> left;                        // KeepLeft
  };
  const Narrowed& narrowed(Index set) const;
  const DevicePoints& candidates(Index set) const;
  /// Rows first .. last of all points times the roots of their weights; numbers of all points times their weights.
  void weigh_rows(Index set, Index first, Index last, double* rows);
  void weigh(Index set, double* numbers);
  /// ||a_i||^2 less what orthonormal vectors of d numbers take of the first d.
  Array<double> squares_beyond(const DevicePoints& own, const Numbers& orthonormal, Index d);
  /// How many points, or how much of their weight, each of k exemplars is the nearest of.
  std::vector<double> counts(Index set, const Array<int>& nearest, Index k);

  std::shared_ptr<Device> device_;  // last to go
  KeepGoing keep_going_;
  std::unordered_map<Index, std::unique_ptr<DevicePoints>> sets_;
  std::unordered_map<Index, Narrowed> narrowed_;
  std::unordered_map<Index, Array<double>> c_, r_;  // of every covariance; r of the candidates
  std::unordered_map<Index, std::unique_ptr<CardRun>> runs_;
  std::unordered_map<Index, CardDistances> distances_;  // runs, too
  Array<double> residual_scores_;  // between ResidualScores and ResidualLeaders
  Array<int> groups_;              // between SumGroups and FindMiddles
};

/// How many rows are worked on at a time depends on the card and on what may be used of it, not on what happens to be
/// free: sums are added in the same order every time.
template <class Use>
void CudaShard::for_rows(const DevicePoints& points, Index numbers_each, Use&& use) {
  constexpr Index numbers_at_once = Index{1} << 27;  // a GiB, or an eighth of the memory
  const Index n = points.size(), each = 2 * points.dim() + numbers_each;
  const Index room = std::min(numbers_at_once, device_->memory() / 64);
  const Index at_once =
      std::clamp<Index>(room / each / part_rows * part_rows, part_rows, Index{1} << 15);
  if (n == 0) return;
  RowBlocks blocks(*device_, points, at_once);
  const Event done[2];
  for (Index first = 0, turn = 0; first < n; first += at_once, ++turn) {
    throw_if_cancelled(keep_going_);
    const Index last = std::min(n, first + at_once);
    use(first, last, blocks.rows_from(first));
    if (!keep_going_) continue;
    // One block is under way, no more, so that who asks is answered soon.
    done[turn % 2].record(device_->stream());
    if (turn > 0) done[(turn - 1) % 2].wait();
  }
}

}  // namespace fwsr::cuda
