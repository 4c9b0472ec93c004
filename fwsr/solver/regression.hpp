// How well some points stand for all: least squares and ridge regression of every point on them.
#pragma once

#include <span>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel_matrix.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

// `weights`: of the points in all sums; empty: 1 each.

/// In the kernel's units, without the eta row.
struct Regression {
  double projection = 0;  // ||A - P_T A||^2
  double ridge = 0;       // min_X ||A_T X - A||^2 + rho^2 ||X||^2
  double trace = 0;       // ||A||^2
};

/// An orthonormal basis of the span of some rows of `dim` numbers, the first `features` of them each.
std::vector<double> span_of(const std::vector<double>& rows, Index dim, Index features,
                            int threads = 1);
/// ||a_i - P a_i||^2 and ||a_i||^2 added up, P the projection on that span. `spanning`: points here that are known to be
/// in it; none need be told.
struct BeyondSpanSums {
  SegmentSums<double> projection, trace;
};
BeyondSpanSums beyond_span(const Points& points, std::span<const double> orthonormal,
                           std::span<const Index> spanning, const std::vector<double>& weights,
                           int threads, const KeepGoing& keep_going);

/// From the points themselves, which keep twice the digits of their inner products; ridge is the projection.
Regression project_points(const Points& points, std::span<const Index> exemplars, int threads,
                          const KeepGoing& keep_going);
/// The ridge alone, from the kernel. @pre rho > 0, in the kernel's units
double ridge_of(const KernelMatrix& kernel, std::span<const Index> exemplars, double rho,
                const std::vector<double>& weights, int threads, const KeepGoing& keep_going);

/// All of it. `linear`: the points themselves where the kernel is their inner product, else null. `rho` in the
/// kernel's units; negative when nobody asked.
Regression regress(const KernelMatrix& kernel, const Points* linear,
                   std::span<const Index> exemplars, double rho, int threads,
                   const KeepGoing& keep_going, const std::vector<double>& weights = {});

}  // namespace fwsr
