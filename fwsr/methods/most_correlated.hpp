// The points most correlated with some vectors v: argmax_j |<a_j, v>| / ||a_j||, of equal ones the first.
//
// Sparse points: all products in double. Dense ones: all products of the directions a_j / ||a_j|| and v / ||v|| in
// float32, which is twice as fast, in tiles. In any order of summing, such a product of d numbers is within
//
//   x / (1 - x),  x = (d + 8) 2^-24
//
// of the true one (Higham 2002, section 3.1; of the eight, two are for rounding the directions, one for comparing). Only
// points that could be the best for all that are multiplied again, in double and in one order: the answer is that of
// double precision, the same for any BLAS.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/methods/all_products.hpp"
#include "fwsr/methods/first_best.hpp"
#include "fwsr/methods/method.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// Room for one thread: make one in each.
class MostCorrelated {
 public:
  /// For up to `vectors` vectors at a time. `scales`: 1 / ||a_j||, 0 for points that are zero.
  MostCorrelated(const Points& points, const std::vector<double>& scales, Index vectors);

  /// How many vectors to take at a time: as many as fill a few megabytes. Part of no answer.
  static Index at_once(Index d) { return std::clamp<Index>((Index{1} << 19) / d, 16, 512); }

  static constexpr Index tile = 512, group = 128;  // points, and vectors of a product

  /// True: point j is none to choose for vector v.
  using Passed = std::function<bool(Index v, Index j)>;
  /// For `count` rows of dim() numbers. Scores that agree to the part `width` are equal; -1: none is more than 1e-12.
  std::vector<Index> find(const std::vector<double>& vectors, Index count, const Passed& passed,
                          double width, const KeepGoing& keep_going);

 private:
  void screen(const std::vector<double>& vectors, Index count, const Passed& passed,
              std::vector<FirstBest>& best, const KeepGoing& keep_going);

  const Points& points_;
  const std::vector<double>& scales_;
  Index vectors_;             // at most
  std::vector<double> rows_;  // of a tile
  std::vector<float> directions_, asked_,
      products_;  // of a tile; of the vectors; of a group of these
};

/// For a plan: what is held for so many vectors at a time, and the operations for `vectors` in all.
double most_correlated_bytes(const Sizes& s, double vectors);
double most_correlated_flops(const Sizes& s, double vectors);

}  // namespace fwsr
