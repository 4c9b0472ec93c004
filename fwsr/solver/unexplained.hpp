// The share of the points that is beyond the span of the exemplars, ||A - P_T A||^2 / ||A||^2, without the eta row: kept up
// to date while exemplars are added one by one.
#pragma once

#include <memory>
#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

struct PreparedProblem;

class Unexplained {
 public:
  virtual ~Unexplained() = default;
  /// Of these exemplars and what is included. As cheap as one more direction when they are those of the last call and
  /// one more.
  double of(const std::vector<Index>& exemplars);

 private:
  /// Forgets all directions but those of what is included.
  virtual void restart() = 0;
  virtual void add(Index point) = 0;
  virtual double share() const = 0;

  std::vector<Index> known_;
  bool begun_ = false;
};

/// By C where the covariance form has it, one product with C for every exemplar; else by a column of the kernel. @pre the
/// problem outlives it
std::shared_ptr<Unexplained> make_unexplained(const PreparedProblem& prepared, int threads);

}  // namespace fwsr
