// Who of many exemplars is nearest to a point, mostly by products in float32 or of eight-bit numbers.
//
// With m the mean of the exemplars, u_i = a_i - m and b_t = a_t - m,
//
//   ||a_i - a_t||^2 = ||u_i||^2 + ||b_t||^2 - 2 u_i.b_t
//
// A sum of d products in float32, in whatever order, is off by at most (d + 4) 2^-24 ||u_i|| ||b_t||, the rounding of u_i
// and b_t included; one of whole numbers of eight bits by what linalg/eight_bit.hpp says. Exemplars that this leaves in
// doubt, mostly one or a few, are told apart in double; so the answer does not depend on what came before that.
#pragma once

#include <optional>
#include <vector>

#include "fwsr/linalg/eight_bit.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

class ScreenedNearest {
 public:
  /// `rows`: the exemplars as points have them, one after the other. @pre there is one
  ScreenedNearest(std::vector<double> rows, Index dim);

  /// A distance in double, less ||u||^2, and the terms that it is the difference of.
  struct Told {
    Index place = 0;
    double far = 0, terms = 0;
  };
  /// For one thread and up to this many points at a time.
  struct Scratch {
    std::vector<float> points, products;
    std::vector<double> row;
    std::vector<Index> open;  // exemplars in doubt
    std::vector<Told> told;
    EightBitRows::Scratch eight_bit;
    bool eight_bit_pays = true;  // it has left few exemplars so far
  };
  /// The places of the nearest of points first .. last: of those that rounding in double cannot tell apart the first.
  void of(const Points& points, Index first, Index last, Scratch& scratch, Index* places) const;

 private:
  double doubt(const float* u) const;
  bool by_eight_bits(const Points& points, Index first, Index last, Scratch& scratch,
                     Index* places) const;
  void by_single(const Points& points, Index first, Index last, Scratch& scratch,
                 Index* places) const;
  Index among(const Points& points, Index i, Scratch& scratch) const;

  Index dim_, count_;
  std::vector<double> shift_;    // m, padded
  std::vector<double> wide_;     // b_t
  std::vector<double> squares_;  // ||b_t||^2
  std::vector<float> small_;     // b_t
  std::vector<float> halves_;    // ||b_t||^2 / 2
  double longest_ = 0;           // max_t ||b_t||
  std::optional<EightBitRows> eight_bit_;
};

}  // namespace fwsr
