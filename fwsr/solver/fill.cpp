#include "fwsr/solver/fill.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/solver/open_rows.hpp"

namespace fwsr {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

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
             Selection& selection, const MayBeAdded& open) {
  const Index n = kernel.size();
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
    double most = -std::numeric_limits<double>::infinity();
    std::vector<bool> may(at(n), true);
    for (Index i = 0; i < n && open; ++i) may[at(i)] = open(i);
    for (Index i = 0; i < n; ++i)
      if (may[at(i)] && most < distance[at(i)]) most = distance[at(i)];
    const double enough = std::min(most, most - 1e-12);  // K is near 1: closer than this is a tie
    if (open && most == -std::numeric_limits<double>::infinity()) break;  // nobody is left
    Index next = 0;
    while (next < n && !(may[at(next)] && distance[at(next)] >= enough)) ++next;
    if (next == n) throw_not_finite();
    selection.exemplars.push_back(next);
    selection.strength.push_back(0);
    selection.filled.push_back(true);
    selection.included.push_back(false);
    lower(next);
  }
  if (codes) widen(selection.codes, at(n), found, selection.exemplars.size());
}

bool fill_short_answer(const KernelMatrix& kernel, const SelectOptions& o, const Terms& terms,
                       int threads, Selection& selection) {
  const auto included = static_cast<Index>(terms.included.size());
  const auto found = static_cast<Index>(selection.exemplars.size());
  if (found - included >= o.exemplars) return false;
  OpenRows rows(o, terms, kernel.size());
  const auto chosen = [&] {
    return std::vector<Index>(selection.exemplars.begin() + included, selection.exemplars.end());
  };
  const auto missing = [&] { return missing_of_floors(o.conditions, chosen()); };
  const bool enough = !o.fill || selection.status == Status::error_reached;
  if (enough && missing() == 0) return false;
  if (!rows.conditional()) {
    fill_up(kernel, o.exemplars, threads, o.codes, selection);
    return true;
  }
  // Without `fill` only what the floors lack: the rule of the last few holds from the start.
  SelectOptions only = o;
  if (enough) only.exemplars = found - included + missing();
  rows = OpenRows(only, terms, kernel.size());
  Index last = -1;
  fill_up(kernel, included + only.exemplars, threads, o.codes, selection, [&](Index i) {
    if (last != std::ssize(selection.exemplars)) {
      rows.update(chosen());
      last = std::ssize(selection.exemplars);
    }
    return rows.prices()[at(i)] > 0;
  });
  return std::ssize(selection.exemplars) > found;
}

}  // namespace fwsr
