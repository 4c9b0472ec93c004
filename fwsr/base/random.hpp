// Random numbers that are the same on every machine, and their uses.
#pragma once

#include <cstdint>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// SplitMix64 (Steele, Lea, Flood 2014): tiny, well tested, splittable.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Uniform in 0 .. n - 1, without bias.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    std::uint64_t x = next();
    while (x >= limit) x = next();
    return x % n;
  }
  /// Standard normal (Box-Muller, one of the pair).
  double normal();
  /// An independent stream for `key`.
  Rng split(std::uint64_t key) { return Rng(next() ^ (key * 0xD1342543DE82EF95u)); }

 private:
  std::uint64_t state_;
};

/// `count` distinct numbers out of 0 .. n - 1, uniformly, in random order (Floyd is not needed:
/// O(n) memory is fine here). @pre 0 <= count <= n
std::vector<Index> sample_without_replacement(Index n, Index count, Rng& rng);

}  // namespace fwsr
