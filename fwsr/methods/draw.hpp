// Drawing one of many, each as likely as its weight says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
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
