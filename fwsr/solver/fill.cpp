#include "fwsr/solver/fill.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/finite.hpp"

namespace fwsr {

namespace {

/// Codes of n points over more exemplars: the new columns are zero. Nothing to do when no codes are
/// kept.
void widen(std::vector<double>& codes, std::size_t n, std::size_t from, std::size_t to) {
  std::vector<double> wide(n * to, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t t = 0; t < from; ++t) wide[i * to + t] = codes[i * from + t];
  codes = std::move(wide);
}

}  // namespace

void fill_up(const KernelMatrix& kernel, Index wanted, int threads, bool codes,
             Selection& selection) {
  const Index n = kernel.size();
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<double> distance(at(n), std::numeric_limits<double>::infinity());
  std::vector<double> column(at(n));
  const auto lower = [&](Index t) {  // ||a_i - a_t||^2 = K_ii + K_tt - 2 K_it
    kernel.column(t, column);
    const double self = kernel.diagonal(t);
    for_blocks(threads, n, [&](Index, Index first, Index last) {
      for (Index i = first; i < last; ++i)
        distance[at(i)] = std::min(distance[at(i)], kernel.diagonal(i) + self - 2 * column[at(i)]);
    });
    distance[at(t)] = -std::numeric_limits<double>::infinity();  // never again
  };
  for (const Index t : selection.exemplars) lower(t);
  const std::size_t found = selection.exemplars.size();
  while (static_cast<Index>(selection.exemplars.size()) < wanted) {
    const double most = *std::max_element(distance.begin(), distance.end());
    const double enough = std::min(most, most - 1e-12);  // K is near 1: closer than this is a tie
    Index next = 0;
    while (next < n && !(distance[at(next)] >= enough)) ++next;
    if (next == n) throw_not_finite();
    selection.exemplars.push_back(next);
    selection.strength.push_back(0);
    selection.filled.push_back(true);
    lower(next);
  }
  if (codes) widen(selection.codes, at(n), found, at(wanted));
}

}  // namespace fwsr
