// What conditions (solver/conditions.hpp) make of the points of a CudaShard: what each counts, and who may be picked.
#include <algorithm>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/cuda/after.hpp"
#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/cuda/statistics.hpp"

namespace fwsr::cuda {

Told CudaShard::answer(const Narrow& q) {
  const DevicePoints& own = points(q.set);
  const auto list = [](const Numbers& v) {
    return std::vector<double>(v.all().begin(), v.all().end());
  };
  Narrowed made;
  made.terms = terms_of(Terms{.weights = list(q.weights),
                              .candidates = q.candidates,
                              .costs = list(q.costs),
                              .included = {},
                              .groups = q.groups},
                        own.portion().first, own.size());
  const Terms& terms = made.terms;
  if (q.some) made.candidates = std::make_unique<DevicePoints>(own, terms.candidates);
  if (terms.weighted()) made.weights = put(terms.weights);
  const Index candidates = q.some ? made.candidates->size() : own.size();
  std::vector<double> costs, prices;
  std::vector<Index> groups;
  for (Index c = 0; c < candidates; ++c) {
    const double cost = terms.cost(terms.point(c));
    costs.push_back(cost);
    prices.push_back(1 / (cost * cost));
    if (!terms.groups.empty()) groups.push_back(terms.groups[at(terms.point(c))]);
  }
  if (!terms.costs.empty()) made.costs = put(costs), made.prices = put(prices);
  if (!groups.empty()) made.groups = Array<Index>(*device_, std::span<const Index>(groups));
  narrowed_[q.set] = std::move(made);
  return {};
}

const CudaShard::Narrowed& CudaShard::narrowed(Index set) const {
  static const Narrowed nothing_asked;
  const auto found = narrowed_.find(set);
  return found == narrowed_.end() ? nothing_asked : found->second;
}

const DevicePoints& CudaShard::candidates(Index set) const {
  const Narrowed& own = narrowed(set);
  return own.candidates ? *own.candidates : points(set);
}

void CudaShard::weigh_rows(Index set, Index first, Index last, double* rows) {
  const Array<double>& weights = narrowed(set).weights;
  if (!weights.empty())
    launch_times_roots(*device_, weights.get() + first, last - first, points(set).dim(), rows);
}

void CudaShard::weigh(Index set, double* numbers) {
  const Array<double>& weights = narrowed(set).weights;
  if (!weights.empty()) launch_times(*device_, weights.get(), points(set).size(), numbers);
}

std::vector<double> CudaShard::counts(Index set, const Array<int>& nearest, Index k) {
  std::vector<double> counts(at(k));
  if (const Terms& terms = narrowed(set).terms; terms.weighted()) {
    // In the order of the points, which a card would not keep.
    const std::vector<int> all = nearest.get_all();
    for (std::size_t i = 0; i < all.size(); ++i) counts[at(all[i])] += terms.weights[i];
    return counts;
  }
  Array<unsigned long long> told(*device_, k);
  told.set_to_zero();
  launch_count(*device_, nearest.get(), nearest.size(), told.get());
  const std::vector<unsigned long long> all = told.get_all();
  std::transform(all.begin(), all.end(), counts.begin(),
                 [](unsigned long long c) { return static_cast<double>(c); });
  return counts;
}

Array<double> CudaShard::squares_beyond(const DevicePoints& own, const Numbers& orthonormal,
                                        Index d) {
  const Index n = own.size(), dim = own.dim();
  const Index rank = d > 0 ? std::ssize(orthonormal.all()) / d : 0;
  Array<double> squares(*device_, n), along, rest;
  if (rank >= d) {  // they span everything
    squares.set_to_zero();
    return squares;
  }
  const Array<double> basis = put(orthonormal.all());
  for_rows(own, rank + d, [&](Index first, Index last, const double* rows) {
    const Index count = last - first;
    if (rest.empty()) {
      along = Array<double>(*device_, count * rank);
      rest = Array<double>(*device_, count * d);
    }
    check(cudaMemcpy2DAsync(rest.get(), at(d) * sizeof(double), rows, at(dim) * sizeof(double),
                            at(d) * sizeof(double), at(count), cudaMemcpyDeviceToDevice,
                            device_->stream()),
          "copying on the card");
    for (int turn = 0; turn < 2 && rank > 0;
         ++turn) {  // twice: what rounding has left of the span goes too
      times(rest.get(), count, d, basis.get(), rank, along.get(), rank);
      device_->blas().multiply({.left = {along.get(), count, rank, rank},
                                .right = {basis.get(), rank, d, d},
                                .a = -1,
                                .b = 1,
                                .out = rest.get(),
                                .out_stride = d});
    }
    launch_row_dots(*device_, rest.get(), rest.get(), count, d, squares.get() + first);
  });
  return squares;
}

Told CudaShard::answer(const KeepLeft& q) {
  const DevicePoints& own = candidates(q.set);
  narrowed_.at(q.set).left = squares_beyond(own, q.orthonormal, own.dim());
  return {};
}

}  // namespace fwsr::cuda
