// The three numbers per point that replace the n x n gradient (q = 2), and the search for the best.
//
//   r_i = ||k_i||^2   fixed      c_i = ||p_i||^2   the score squared      h_i = <p_i, k_i>
#pragma once

#include <limits>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/linalg/pass.hpp"

namespace fwsr {

class Scores {
 public:
  explicit Scores(Index n) : r(size(n)), c(size(n)), h(size(n)), block_max(size(block_count(n))) {}
  /// Scores whose r stands elsewhere, c and h as they are at X = 0.
  explicit Scores(const std::vector<double>& r_elsewhere)
      : c(r_elsewhere),
        h(r_elsewhere),
        block_max(size(block_count(static_cast<Index>(c.size())))) {}

  /// The smallest index among the points whose score is within a relative `tie` of the largest.
  /// @pre `block_max` is that of the present c
  Index best(double tie) const;
  /// The first point whose score is at least this; -1: none. @pre as for `best`
  Index first(double enough) const;
  /// Computes `block_max` from c.
  void find_block_max(int threads);

  std::vector<double> r, c, h;
  std::vector<double> block_max;  // the largest score of every block of block_size points
  std::vector<double> prices;     // scores are c times this, 0: not to be picked; empty: c itself

  double score(std::size_t i) const {
    if (prices.empty()) return c[i];
    return prices[i] > 0 ? c[i] * prices[i] : -std::numeric_limits<double>::infinity();
  }

 private:
  static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
};

/// What is within a relative `tie` of the largest.
inline double enough_of(double largest, double tie) {
  return largest - tie * (largest > 0 ? largest : 0.0);
}

/// Scores closer than this, relatively, are equal; the smaller index wins. Rounding then never
/// decides between points that are equally good, whatever the form.
inline constexpr double tie_double = 1e-10;
inline constexpr double tie_single = 1e-6;

}  // namespace fwsr
