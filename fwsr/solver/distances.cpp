#include "fwsr/solver/distances.hpp"

#include <algorithm>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// As many as stay near.
Index rows_at_once(Index dim) {
  return std::clamp<Index>((Index{1} << 15) / std::max<Index>(1, dim), 1, 512);
}

}  // namespace

Distances::Distances(const Points& candidates, const Terms& terms, Index before)
    : candidates_(candidates),
      terms_(terms),
      before_(before),
      least_(at(candidates.size()), infinity) {}

void Distances::lower(const LowerDistances& q, int threads) {
  const Index dim = candidates_.dim();
  const double eta_squared = candidates_.eta() * candidates_.eta();
  std::vector<double> products(least_.size());
  const Index at_once = rows_at_once(dim);
  const int together = at_once == 1
                           ? 1
                           : threads_for(threads, 2.0 * static_cast<double>(dim) *
                                                      static_cast<double>(candidates_.size()));
  for (std::size_t t = 0; t < q.exemplars.size(); ++t) {
    const std::span<const double> exemplar = q.rows.all().subspan(t * at(dim), at(dim));
    candidates_.project(exemplar, products, threads);
    const double own = q.squares.all()[t] + eta_squared;
    for_blocks(
        together, candidates_.size(),
        [&](Index, Index first, Index last) { lower_some(products, exemplar, own, first, last); },
        at_once);
    const Index here = q.exemplars[t] - before_, place = here < 0 ? -1 : terms_.place(here);
    if (place >= 0 && place < candidates_.size() && terms_.point(place) == here)
      least_[at(place)] = -infinity;
  }
}

void Distances::lower_some(std::span<const double> products, std::span<const double> exemplar,
                           double square, Index first, Index last) {
  const Index dim = candidates_.dim();
  const double eta_squared = candidates_.eta() * candidates_.eta();
  std::vector<double> rows;  // where they are needed
  for (Index c = first; c < last; ++c) {
    const double squares = candidates_.squared_norm(c) + eta_squared + square;
    double distance = squares - 2 * products[at(c)];
    if (distance < doubtful_distance * squares) {
      if (rows.empty()) {
        rows.resize(at((last - first) * dim));
        candidates_.rows(first, last, rows.data());
      }
      distance = squared_distance(rows.data() + (c - first) * dim, exemplar.data(), dim);
      if (distance < of_differences * of_differences * (squares - 2 * eta_squared)) distance = 0;
    }
    least_[at(c)] = std::min(least_[at(c)], distance);
  }
}

void Distances::permit(std::span<const double> prices) {
  permitted_.clear();
  for (Index c = 0; c < candidates_.size(); ++c)
    permitted_.push_back(prices[at(before_ + terms_.point(c))] > 0 ? 1 : 0);
}

double Distances::of(std::size_t candidate) const {
  return permitted_.empty() || permitted_[candidate] ? least_[candidate] : -infinity;
}

double Distances::largest() const {
  double most = -infinity;
  for (std::size_t c = 0; c < least_.size(); ++c)
    if (most < of(c)) most = of(c);
  return most;
}

FirstScore::Reply Distances::first(double enough) const {
  const double eta_squared = candidates_.eta() * candidates_.eta();
  for (std::size_t c = 0; c < least_.size(); ++c) {
    const double distance = of(c), square = candidates_.squared_norm(static_cast<Index>(c));
    if (distance + distance_width(distance, square, square + eta_squared) >= enough)
      return {.point = before_ + terms_.point(static_cast<Index>(c)), .square = distance};
  }
  return {};
}

}  // namespace fwsr
