// The kernel between a few points out of many that are somewhere else: what a run asks about its picks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fwsr/kernel/kernel.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"
#include "fwsr/solver/point_set.hpp"

namespace fwsr {

/// How the points are reached.
struct FewPoints {
  PointFacts facts;
  /// ||a_i||^2 without eta.
  std::function<std::vector<double>(const std::vector<Index>& points)> squares;
  /// The points themselves, in this order.
  std::function<std::unique_ptr<Points>(const std::vector<Index>& points)> copies;
  /// <a_i, a_j> of them all without eta, row by row; none where copies serve as well.
  std::function<std::vector<double>(const std::vector<Index>& points)> products = {};
};

/// Their inner products.
std::unique_ptr<KernelMatrix> make_kernel_of_few(FewPoints points);
/// A kernel of distances between them, K_ii = 1; eta as in TileOptions.
std::unique_ptr<KernelMatrix> make_kernel_of_few(FewPoints points, const Kernel& kernel, double eta,
                                                 bool eta_relative);

}  // namespace fwsr
