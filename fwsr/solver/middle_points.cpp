// Where exemplars move: among the points of a set, or in the space of a kernel.
#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/middle.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

namespace {

constexpr Index block_rows = 256;

/// sum_j w_j K_ij over the points j of the group of i, for every point i.
std::vector<double> sums_within(const KernelMatrix& kernel,
                                const std::vector<std::vector<Index>>& members,
                                const std::vector<double>& weights, int threads,
                                const KeepGoing& keep_going) {
  std::vector<double> sums(at(kernel.size()));
  if (kernel.by_products()) {
    std::vector<double> of_group(sums.size()), product(sums.size());
    for (const std::vector<Index>& group : members) {
      throw_if_cancelled(keep_going);
      for (const Index i : group) of_group[at(i)] = weights[at(i)];
      kernel.multiply(of_group, product, threads);
      for (const Index i : group) sums[at(i)] = product[at(i)], of_group[at(i)] = 0;
    }
    return sums;
  }
  constexpr Index columns = 1024;
  std::vector<std::span<const Index>> rows, others;  // blocks of a group, and all of it
  for (const std::vector<Index>& group : members)
    for (Index first = 0; first < std::ssize(group); first += block_rows) {
      const Index count = std::min(block_rows, std::ssize(group) - first);
      rows.push_back(std::span(group).subspan(at(first), at(count)));
      others.emplace_back(group);
    }
  for_tasks(threads, std::ssize(rows), [&](Index task) {
    const std::span<const Index> mine = rows[at(task)], all = others[at(task)];
    for (Index first = 0; first < std::ssize(all); first += columns) {
      throw_if_cancelled(keep_going);
      const Index count = std::min(columns, std::ssize(all) - first);
      const std::vector<double> values = kernel.values(mine, all.subspan(at(first), at(count)));
      for (std::size_t i = 0; i < mine.size(); ++i)
        for (Index j = 0; j < count; ++j)
          sums[at(mine[i])] += weights[at(all[at(first + j)])] * values[i * at(count) + at(j)];
    }
  });
  return sums;
}

class MiddleInKernel final : public MiddlePoints {
 public:
  MiddleInKernel(const KernelMatrix& kernel, const MiddleWeights& weights, int threads,
                 KeepGoing keep_going)
      : kernel_(kernel), weights_(weights), threads_(threads), keep_going_(std::move(keep_going)) {
    for (Index i = 0; i < kernel.size(); ++i) trace_ += kernel.diagonal(i);
  }
  /// The kernel's own.
  MiddleInKernel(std::unique_ptr<KernelMatrix> kernel, const MiddleWeights& weights, int threads,
                 KeepGoing keep_going)
      : MiddleInKernel(*kernel, weights, threads, std::move(keep_going)) {
    own_ = std::move(kernel);
  }

  Middles middles(const std::vector<Index>& exemplars) override {
    const std::vector<Index> groups = nearest_exemplars(kernel_, exemplars, threads_, keep_going_);
    std::vector<std::vector<Index>> members(exemplars.size());
    for (Index i = 0; i < kernel_.size(); ++i) members[at(groups[at(i)])].push_back(i);
    const std::vector<double> weights = weights_of(members, exemplars);
    const std::vector<double> sums = sums_within(kernel_, members, weights, threads_, keep_going_);
    Middles found{.offers = std::vector<Offer>(exemplars.size()),
                  .least = (kernel_.single() ? tie_single : tie_double) * trace_};
    for (std::size_t p = 0; p < members.size(); ++p) {
      double weight = 0;
      for (const Index i : members[p]) weight += weights[at(i)];
      const auto far = [&](Index i) { return kernel_.diagonal(i) - 2 * sums[at(i)] / weight; };
      const double at_exemplar = far(exemplars[p]);
      for (const Index i : members[p])
        found.offers[p].see({.point = i, .gain = weight * (at_exemplar - far(i))}, found.least);
    }
    return found;
  }

 private:
  std::vector<double> weights_of(const std::vector<std::vector<Index>>& members,
                                 const std::vector<Index>& exemplars) const {
    std::vector<double> weights(at(kernel_.size()), 1.0), column(weights.size());
    for (std::size_t p = 0; p < members.size() && !formula_of(weights_.kernel).linear; ++p) {
      throw_if_cancelled(keep_going_);
      kernel_.column(exemplars[p], column);
      for (const Index i : members[p])
        weights[at(i)] = weights_.of(std::max(
            0.0, kernel_.diagonal(i) + kernel_.diagonal(exemplars[p]) - 2 * column[at(i)]));
    }
    return weights;
  }

  std::unique_ptr<KernelMatrix> own_;
  const KernelMatrix& kernel_;
  MiddleWeights weights_;
  int threads_;
  KeepGoing keep_going_;
  double trace_ = 0;
};

class MiddleInSet final : public MiddlePoints {
 public:
  explicit MiddleInSet(PointSet& set, const MiddleWeights& weights = {})
      : set_(set), weights_(weights) {}
  MiddleInSet(std::unique_ptr<PointSet> set, const MiddleWeights& weights)
      : own_(std::move(set)), set_(*own_), weights_(weights) {}
  Middles middles(const std::vector<Index>& exemplars) override {
    return set_.middles(exemplars, weights_);
  }

 private:
  std::unique_ptr<PointSet> own_;
  PointSet& set_;
  MiddleWeights weights_;
};

}  // namespace

std::unique_ptr<MiddlePoints> middle_points(const PreparedProblem& prepared, int threads,
                                            const KeepGoing& keep_going) {
  const Points* const points = prepared.points.get();
  const auto weights_for = [&](double unit) {
    return MiddleWeights{.kernel = prepared.type.type,
                         .gamma = numbers_of(prepared.type, unit, {}).gamma};
  };
  if (prepared.far)
    return std::make_unique<MiddleInSet>(prepared.far->points(),
                                         weights_for(prepared.far->points().facts().unit));
  if (!points && prepared.set) return std::make_unique<MiddleInSet>(*prepared.set);
  if (!points || !middle_of_points(prepared.type.type))
    return std::make_unique<MiddleInKernel>(prepared.factor ? *prepared.source : prepared.kernel(),
                                            MiddleWeights{}, threads, keep_going);
  const MiddleWeights weights = weights_for(points->unit());
  if (!points->sparse())
    return std::make_unique<MiddleInSet>(
        std::make_unique<LocalPoints>(*points, threads, keep_going), weights);
  return std::make_unique<MiddleInKernel>(
      make_tiled_kernel(*points, {.type = KernelType::linear}, {.threads = threads}), weights,
      threads, keep_going);
}

}  // namespace fwsr
