// The kernel of points that live somewhere else, on other machines or on a card, where a factor stands for it: what is
// asked about the kernel itself.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/solver/point_set.hpp"
#include "fwsr/solver/regression.hpp"

namespace fwsr {

class FarKernel {
 public:
  virtual ~FarKernel() = default;
  /// The points that the factor is of.
  virtual PointSet& points() const = 0;
  /// What is left of them in the kernel's space beyond the span of some of them.
  virtual Regression project(std::span<const Index> exemplars) const = 0;
  /// How many of them each exemplar is the nearest of, and which they are, where wanted.
  struct Nearest {
    std::vector<double> counts;
    std::vector<Index> assignment;
  };
  virtual Nearest nearest(const std::vector<Index>& exemplars, bool assignment) const = 0;
};

}  // namespace fwsr
