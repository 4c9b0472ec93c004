#include "fwsr/solver/distances.hpp"

#include <algorithm>
#include <limits>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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
  for (std::size_t t = 0; t < q.exemplars.size(); ++t) {
    candidates_.project(q.rows.all().subspan(t * at(dim), at(dim)), products, threads);
    const double own = q.squares.all()[t] + eta_squared;
    for (std::size_t c = 0; c < least_.size(); ++c) {
      const double square = candidates_.squared_norm(static_cast<Index>(c)) + eta_squared;
      least_[c] = std::min(least_[c], square + own - 2 * products[c]);
    }
    const Index here = q.exemplars[t] - before_, place = here < 0 ? -1 : terms_.place(here);
    if (place >= 0 && place < candidates_.size() && terms_.point(place) == here)
      least_[at(place)] = -infinity;
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
  for (std::size_t c = 0; c < least_.size(); ++c)
    if (of(c) >= enough)
      return {.point = before_ + terms_.point(static_cast<Index>(c)), .square = of(c)};
  return {};
}

}  // namespace fwsr
