// Drawing one of many, each as likely as its weight says.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/base/random.hpp"

namespace fwsr {

class Lottery {
 public:
  /// @pre no weight is negative
  explicit Lottery(std::span<const double> weights) : sums_(weights.size()) {
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sums_[i] = sum += weights[i];
  }
  double total() const { return sums_.empty() ? 0 : sums_.back(); }
  /// Never one of weight zero. @pre total() > 0
  Index draw(Rng& rng) const {
    const double mark = rng.uniform() * total();
    auto it = std::upper_bound(sums_.begin(), sums_.end(), mark);
    // Rounding may have brought the mark to the total: then the last of positive weight.
    if (it == sums_.end()) it = std::lower_bound(sums_.begin(), sums_.end(), total());
    return it - sums_.begin();
  }

 private:
  std::vector<double> sums_;
};

/// Drawn one after the other with probabilities proportional to the weights of those left, fewer than `count` where no
/// more have a weight: the first of waits that are exponential with these rates (Efraimidis, Spirakis 2006).
inline std::vector<Index> draw_in_turn(std::span<const double> weights, Index count, Rng& rng) {
  std::vector<std::pair<double, Index>> times;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double wait = -std::log1p(-rng.uniform());
    if (weights[i] > 0) times.push_back({wait / weights[i], static_cast<Index>(i)});
  }
  const Index drawn = std::min(static_cast<Index>(times.size()), count);
  std::partial_sort(times.begin(), times.begin() + drawn, times.end());
  std::vector<Index> chosen;
  for (Index t = 0; t < drawn; ++t) chosen.push_back(times[static_cast<std::size_t>(t)].second);
  return chosen;
}

/// One of n, as likely as its weight, which is at most 1; empty: equally likely. Equal weights of 1 draw what none do.
/// @pre some weight is 1
inline Index draw_by_weight(std::span<const double> weights, Index n, Rng& rng) {
  const auto any = [&] { return static_cast<Index>(rng.below(static_cast<std::uint64_t>(n))); };
  Index i = any();
  if (weights.empty()) return i;
  const auto passed_over = [&] {
    const double weight = weights[static_cast<std::size_t>(i)];
    return weight < 1 && rng.uniform() >= weight;
  };
  while (passed_over()) i = any();
  return i;
}

}  // namespace fwsr
