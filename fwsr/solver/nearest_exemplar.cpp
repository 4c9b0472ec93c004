#include "fwsr/solver/nearest_exemplar.hpp"

#include <algorithm>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

namespace {

std::vector<double> diagonal_of(const KernelMatrix& kernel, const std::vector<Index>& points) {
  std::vector<double> squares;
  for (const Index i : points) squares.push_back(kernel.diagonal(i));
  return squares;
}

}  // namespace

NearestExemplar::NearestExemplar(const std::vector<Index>& exemplars, std::vector<double> squares,
                                 double rounding)
    : squares_(std::move(squares)), times_(exemplars.size(), -2.0), rounding_(rounding) {
  for (std::size_t t = 0; t < exemplars.size(); ++t)
    themselves_.emplace_back(exemplars[t], static_cast<Index>(t));
  std::sort(themselves_.begin(), themselves_.end());
}

NearestExemplar::NearestExemplar(const KernelMatrix& kernel, const std::vector<Index>& exemplars)
    : NearestExemplar(exemplars, diagonal_of(kernel, exemplars),
                      kernel.single() ? nearest_rounding_single : nearest_rounding) {}

std::optional<Index> NearestExemplar::itself(Index i) const {
  const auto found =
      std::lower_bound(themselves_.begin(), themselves_.end(), std::pair(i, Index{0}));
  if (found != themselves_.end() && found->first == i) return found->second;
  return std::nullopt;
}

Index NearestExemplar::of(Index i, const double* values) const {
  if (const auto place = itself(i)) return *place;
  return nearest(values, {.add = squares_.data(),
                          .times = times_.data(),
                          .count = static_cast<Index>(squares_.size()),
                          .rounding = rounding_})
      .place;
}

std::vector<Index> nearest_exemplars(const KernelMatrix& kernel,
                                     const std::vector<Index>& exemplars, int threads,
                                     const KeepGoing& keep_going) {
  constexpr Index rows = 384;
  const Index n = kernel.size(), k = static_cast<Index>(exemplars.size());
  const NearestExemplar to(kernel, exemplars);
  std::vector<Index> assignment(at(n));
  for_blocks(
      threads, n,
      [&](Index, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const std::vector<double> values = kernel.values(index_range(first, last), exemplars);
        for (Index i = first; i < last; ++i)
          assignment[at(i)] = to.of(i, values.data() + (i - first) * k);
      },
      rows);
  return assignment;
}

std::vector<double> counts_of(std::span<const Index> assignment, std::size_t count,
                              const std::vector<double>& weights) {
  std::vector<double> counts(count);
  for (std::size_t i = 0; i < assignment.size(); ++i)
    counts[at(assignment[i])] += weights.empty() ? 1.0 : weights[i];
  return counts;
}

}  // namespace fwsr
