// Which exemplar stands for a point: the nearest in the space that the run works in.
//
//   ||a_i - a_t||^2 = K_ii - 2 K_it + K_tt
//
// Codes would not do: those of a run that ended after some k steps still carry its first ones, so that the first exemplar
// has the largest code of most points.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"

namespace fwsr {

/// Of those that rounding cannot tell apart the first chosen; an exemplar stands for itself.
class NearestExemplar {
 public:
  /// `squares`: K_tt. `rounding`: of the values that will be given (linalg/pass.hpp).
  NearestExemplar(const std::vector<Index>& exemplars, std::vector<double> squares,
                  double rounding);
  /// Of the exemplars of a kernel.
  NearestExemplar(const KernelMatrix& kernel, const std::vector<Index>& exemplars);

  /// For point i, whose values K_it are given. @pre there is an exemplar
  Index of(Index i, const double* values) const;
  /// The place of point i among the exemplars, where it is one.
  std::optional<Index> itself(Index i) const;

 private:
  std::vector<std::pair<Index, Index>> themselves_;  // exemplars and their places, sorted
  std::vector<double> squares_, times_;
  double rounding_;
};

/// That of every point. @pre there is an exemplar
std::vector<Index> nearest_exemplars(const KernelMatrix& kernel,
                                     const std::vector<Index>& exemplars, int threads,
                                     const KeepGoing& keep_going);
/// How many points go to each of `count` exemplars, every one by its weight; no weights: 1 each.
std::vector<double> counts_of(std::span<const Index> assignment, std::size_t count,
                              const std::vector<double>& weights = {});

}  // namespace fwsr
