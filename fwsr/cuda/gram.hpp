// sum_i a_i a_i^T of points on the card, in double.
#pragma once

#include <vector>

#include "fwsr/cuda/device.hpp"

namespace fwsr::cuda {

/// The sum is made of tiles of its upper triangle, and each of these by many products side by side, of some rows each, so
/// that every processor of the card has one: a single product with so few results would leave most of them without work.
class GramSum {
 public:
  /// `rows`: at most so many at a time.
  GramSum(Device& device, Index dim, Index rows);
  /// Rows of dim numbers, one after the other.
  void add(const double* rows, Index count);
  /// dim x dim, row by row; the upper triangle.
  std::vector<double> total();

 private:
  Index tile_start(Index tile) const;

  Device& device_;
  Index dim_, width_, tiles_, pairs_, shares_;
  Array<double> parts_, rest_;  // pairs x shares tiles; what was left over, dim x dim
  Array<const double*> left_, right_;
  Array<double*> out_;
};

}  // namespace fwsr::cuda
