// A factor of the kernel of points that live somewhere else: width and landmarks come from a sample of them, the rows of F
// are made where the points are, and stay there. Kernels of distances.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/kernel/landmarks.hpp"
#include "fwsr/kernel/width.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/solver/learnt_points.hpp"
#include "fwsr/solver/prepared_problem.hpp"

namespace fwsr {

/// i n / count, i = 0 .. count: as all samples are taken.
std::vector<Index> evenly_spaced(Index n, Index count);
/// Few points as others are held against them. `rows`: these, dim numbers each; `lower`: G of their values.
KernelTables kernel_tables(const Kernel& kernel, const PointFacts& facts, double times,
                           std::vector<double> rows, std::vector<double> lower);

template <class Set>
class FarKernelOf final : public FarKernel {
 public:
  /// `values`: the kernel between few of the points. @pre it outlives this
  FarKernelOf(std::unique_ptr<Set> points, const Kernel& kernel, const KernelMatrix& values)
      : points_(std::move(points)), kernel_(kernel), values_(values) {}

  PointSet& points() const override { return *points_; }

  /// The factor's rows, made where the points are.
  Index make_rows(Factor& factor, bool single) const {
    const double unit = factor.unit() * values_.unit();
    MakeFactor question{.set = Set::new_id(),
                        .of = points_->set(),
                        .tables = tables(factor.landmarks(), unit * unit, factor.lower()),
                        .single = single};
    const FarthestFrom how_far{.set = points_->set(), .tables = question.tables};
    if (single)
      for (const double far : points_->shards()->ask(how_far))
        question.wide |= far > farthest_in_single();
    std::vector<SegmentSums<double>> trace, lost;
    for (MakeFactor::Reply& reply : points_->shards()->ask(question)) {
      trace.push_back(std::move(reply.trace));
      lost.push_back(std::move(reply.lost));
    }
    factor.tell_error(total_of(lost), total_of(trace));
    return question.set;
  }

  Regression project(std::span<const Index> exemplars) const override {
    const PivotedCholesky among = pivoted_cholesky(
        values_.values(exemplars, exemplars, Eta::left_out), std::ssize(exemplars));
    std::vector<Index> spanning;
    for (Index r = 0; r < among.rank; ++r)
      spanning.push_back(
          exemplars[static_cast<std::size_t>(among.pivots[static_cast<std::size_t>(r)])]);
    std::vector<SegmentSums<double>> projection, trace;
    for (BeyondSpanSums& sums : points_->shards()->ask(ProjectInKernel{.set = points_->set(),
                                .tables = tables(spanning, own_times(), among.lower)})) {
      projection.push_back(std::move(sums.projection));
      trace.push_back(std::move(sums.trace));
    }
    const double left = total_of(projection);
    return {.projection = left, .ridge = left, .trace = total_of(trace)};
  }

  Nearest nearest(const std::vector<Index>& exemplars, bool assignment) const override {
    Nearest all;
    std::vector<SegmentSums<std::vector<double>>> counts;
    for (NearestInKernel::Reply& reply :
         points_->shards()->ask(NearestInKernel{.set = points_->set(),
         .tables = tables(exemplars, own_times(), {}),
         .exemplars = exemplars,
         .assignment = assignment})) {
      counts.push_back(std::move(reply.counts));
      all.assignment.insert(all.assignment.end(), reply.assignment.begin(), reply.assignment.end());
    }
    all.counts = total_of(counts);
    return all;
  }

 private:
  double own_times() const { return values_.unit() * values_.unit(); }

  KernelTables tables(const std::vector<Index>& few, double times,
                      std::vector<double> lower) const {
    const PointFacts facts = points_->facts();
    std::vector<double> rows(few.size() * static_cast<std::size_t>(facts.dim));
    points_->whole_rows_of(few, rows.data());
    return kernel_tables(kernel_, facts, times, std::move(rows), std::move(lower));
  }

  std::unique_ptr<Set> points_;
  Kernel kernel_;
  const KernelMatrix& values_;
};

/// All that a run by a factor needs but its form. @pre plan.kernel_by is factor, and the kernel one of distances
template <class Set>
PreparedProblem prepare_far_factor(std::unique_ptr<Set> points, const SelectOptions& o,
                                   const Plan& plan, const KeepGoing& keep_going) {
  const Set& all = *points;
  const Index n = all.facts().size;
  const bool single = all.facts().single && !o.precise;
  PreparedProblem prepared;
  prepared.warning = all.warning();
  prepared.type =
      kernel_of(o, *all.copies(evenly_spaced(n, width_sample(n, o.kernel.width))), plan.threads);
  prepared.source = make_kernel_of_few(all.few(), prepared.type, o.eta, o.eta_relative);
  const Index rank = std::min(o.rank, n);
  const std::vector<Index> sample = evenly_spaced(n, landmark_sample(n, rank));
  const std::unique_ptr<Points> some = all.copies(sample);
  Landmarks chosen = choose_landmarks(
      *make_tiled_kernel(*some, prepared.type,
                         {.eta = o.eta, .eta_relative = o.eta_relative, .threads = plan.threads}),
      rank, Factor::least_pivot(single), plan.threads, keep_going);
  for (Index& landmark : chosen.points) landmark = sample[static_cast<std::size_t>(landmark)];
  prepared.factor =
      std::make_unique<Factor>(n, std::move(chosen), prepared.source->diagonal(0, Eta::left_out));
  auto shards = all.shards();
  auto far = std::make_unique<FarKernelOf<Set>>(std::move(points), prepared.type, *prepared.source);
  const Index made = far->make_rows(*prepared.factor, single);
  prepared.far = std::move(far);
  auto rows = std::make_unique<Set>(
      std::move(shards),
      PointsShape{
          .size = n, .features = prepared.factor->rank(), .sparse = false, .single = single},
      Preprocessing{.center = Center::none,
                    .eta = prepared.source->eta() * prepared.factor->unit()},
      made);
  prepared.approximate = make_factor_kernel(*prepared.factor, rows->kernel(), *prepared.source);
  prepared.set = std::move(rows);
  return prepared;
}

}  // namespace fwsr
