#include "fwsr/base/random.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "fwsr/base/index_range.hpp"

namespace fwsr {

double Rng::normal() {
  const double u = 1 - uniform();  // (0, 1], so that the logarithm is finite
  const double v = uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

std::vector<Index> sample_without_replacement(Index n, Index count, Rng& rng) {
  std::vector<Index> all = index_range(0, n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    std::swap(all[i], all[i + rng.below(all.size() - i)]);
  all.resize(static_cast<std::size_t>(count));
  return all;
}

}  // namespace fwsr
