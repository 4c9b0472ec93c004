// Ties have a width: of numbers that are equal but for rounding the first wins, whatever processor rounded them.
//
// BLAS adds in an order of its own on every kind of processor, so that the last digits differ from one to the
// next. Where two points are equally good (copies, mirror images, all points once one dimension is left) exact comparison
// would let those digits choose. Numbers here keep at least nine: squares of residuals and energies are computed
// again when they have fallen to 1e-6 of what they were (2^-53 / 1e-6 = 1e-10, a few times that after sums), squared
// distances from inner products when they are below 1e-7 of the norms (2^-53 / 1e-7 = 1e-9).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// Scores and distances that agree to this part of the larger are equal.
inline constexpr double tie_width = 1e-8;
/// Sums over all points, in which roundings cancel: so are these.
inline constexpr double sum_width = 1e-9;
/// Numbers that were held in float32, or are the end of an iteration: so are these.
inline constexpr double rough_width = 1e-6;

/// The first whose score is the largest but for a part `width` of it; -1 when none is positive.
template <class Score>
Index first_largest(Index n, const Score& score, double width = tie_width) {
  double most = 0;
  for (Index i = 0; i < n; ++i) most = std::max(most, score(i));
  const double enough = most - width * most;
  for (Index i = 0; i < n && most > 0; ++i)
    if (score(i) >= enough) return i;
  return -1;
}

/// The first of some numbers that is the least but for `width`, absolutely; one of them even when some are
/// no numbers. @pre there are some
inline Index first_least(std::span<const double> numbers, double width) {
  const auto least = std::min_element(numbers.begin(), numbers.end());
  const double enough = *least + width;
  return std::find_if(numbers.begin(), least, [&](double v) { return v <= enough; }) -
         numbers.begin();
}

/// Those of positive score from the largest down; of equal ones, but for a part `width` of the largest of them, the
/// smaller index first.
inline std::vector<Index> by_score(std::span<const double> scores, double width) {
  const auto score = [&](Index i) { return scores[static_cast<std::size_t>(i)]; };
  std::vector<Index> order;
  for (Index i = 0; i < static_cast<Index>(scores.size()); ++i)
    if (score(i) > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return score(a) > score(b); });
  for (auto first = order.begin(); first != order.end();) {
    const double enough = score(*first) * (1 - width);
    const auto last = std::find_if(first, order.end(), [&](Index i) { return score(i) < enough; });
    std::sort(first, last);
    first = last;
  }
  return order;
}

}  // namespace fwsr
