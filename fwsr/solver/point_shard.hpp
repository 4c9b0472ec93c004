// Some of the points of a set, in the memory of this process, mapped from a file, or streamed from one, with all that is
// kept of every point during the runs on it: r of every covariance, c and h of every run. It answers questions
// (questions.hpp) and asks none.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/distances.hpp"
#include "fwsr/solver/questions.hpp"

namespace fwsr {

class PointShard {
 public:
  /// `keep_going` is asked now and then, and Interrupted is thrown when it says no.
  explicit PointShard(int threads, KeepGoing keep_going = {});
  ~PointShard();
  PointShard(const PointShard&) = delete;
  PointShard& operator=(const PointShard&) = delete;

  /// Set number `set`. The points are the caller's, or become the shard's.
  void add(Index set, const Points& points) { points_[set] = &points; }
  void add(Index set, std::unique_ptr<Points> points);
  const Points& points(Index set) const { return *points_.at(set); }

  template <class Question>
  typename Question::Reply answer(const OfSet<Question>& q) {
    return owned_.at(q.set)->answer(q.question, threads_);
  }
  Told answer(const MakeSet& q);
  Told answer(const Narrow& q);
  WhichPoints::Reply answer(const WhichPoints& q) const;
  Told answer(const Forget& q);
  // These may be asked from several threads, ...
  RowsOf::Reply answer(const RowsOf& q) const;
  LargestScore::Reply answer(const LargestScore& q) const;
  FirstScore::Reply answer(const FirstScore& q) const;
  Lead::Reply answer(const Lead& q) const;
  CopiesOf::Reply answer(const CopiesOf& q) const { return points(q.set).copies(q.points); }
  // ... and these too, for different runs; the others from one at a time.
  Told answer(const Rescore& q);

  Moments::Reply answer(const Moments& q) const;
  KeepForms::Reply answer(const KeepForms& q);
  KeepFormsInSingle::Reply answer(const KeepFormsInSingle& q);
  SumPoints::Reply answer(const SumPoints& q) const;
  KeepBordered::Reply answer(const KeepBordered& q);
  Told answer(const BeginRun& q);
  Told answer(const SetPrices& q);
  Told answer(const LowerDistances& q);
  Told answer(const Advance& q);

  DescribeCodes::Reply answer(const DescribeCodes& q) const;
  ResidualSquares::Reply answer(const ResidualSquares& q) const;
  ResidualMoments::Reply answer(const ResidualMoments& q) const;
  ProjectedSquares::Reply answer(const ProjectedSquares& q) const;
  ResidualScores::Reply answer(const ResidualScores& q);
  ResidualLeaders::Reply answer(const ResidualLeaders& q);
  Told answer(const KeepLeft& q);
  TryExchanges::Reply answer(const TryExchanges& q) const;
  SumGroups::Reply answer(const SumGroups& q);
  FindMiddles::Reply answer(const FindMiddles& q);
  BeyondSpan::Reply answer(const BeyondSpan& q) const;
  FarthestFrom::Reply answer(const FarthestFrom& q) const;
  MakeFactor::Reply answer(const MakeFactor& q);
  ProjectInKernel::Reply answer(const ProjectInKernel& q) const;
  NearestInKernel::Reply answer(const NearestInKernel& q) const;

 private:
  struct Run;
  /// r of every candidate, and whether products in float32 have left it some seven digits.
  struct Forms {
    std::vector<double> r;
    bool single = false;
  };
  /// What the points of a set count, and those of them that may be picked.
  struct Narrowed {
    Terms terms;
    std::unique_ptr<Points> candidates;  // null: all
    std::vector<double> left = {};       // of ||a_i||^2 of every candidate (KeepLeft)
  };
  const Terms& terms(Index set) const;
  const Points& candidates(Index set) const;
  std::vector<double> of_candidates(Index set, std::vector<double> r) const;
  /// r of the points of a set from that of its candidates; of the others it is zero.
  std::vector<double> r_of_all(Index set, Index covariance) const;

  Told advance_in_turn(const Advance& q);
  Run& run(Index id) const { return *runs_.at(id); }
  const Distances* distances(Index run) const;  // null: an ordinary one
  const std::vector<double>& r(Index id) const { return forms_.at(id).r; }
  double keep(Index id, std::vector<double> r, bool single);

  int threads_;
  KeepGoing keep_going_;
  std::unordered_map<Index, const Points*> points_;
  std::unordered_map<Index, std::unique_ptr<Points>> owned_;
  std::unordered_map<Index, Narrowed> narrowed_;
  std::unordered_map<Index, Forms> forms_;  // of every covariance
  std::unordered_map<Index, std::unique_ptr<Run>> runs_;
  std::unordered_map<Index, Distances> distances_;  // runs, too
  std::vector<double> residual_scores_;             // between ResidualScores and ResidualLeaders
  std::vector<Index> groups_;                       // between SumGroups and FindMiddles
};

}  // namespace fwsr
