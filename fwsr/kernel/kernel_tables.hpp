// Points held against few others by a kernel of distances, wherever the few live: what is told about them, and
// what is done with it. Every number depends on the point and the few alone, not on which other points are here, so that
// points in one place and the same in many come to the same bits. Dense points.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/kernel/kernel.hpp"
#include "fwsr/prep/points.hpp"

namespace fwsr {

/// Few points that all others are held against: v_if = times k(a_i, f).
struct KernelTables {
  KernelType kernel = KernelType::rbf;
  double gamma = 1;  // for points as they are here, scaled
  double times = 1;
  Index dim = 0;
  std::vector<double> shift;  // taken from all of them: what is near the origin keeps its digits
  std::vector<double> rows;   // the few less that, dim numbers each
  std::vector<double> lower;  // G of them: V_ff = G G^T

  Index few() const { return dim ? std::ssize(rows) / dim : 0; }
};

/// Rows of a factor (factor.hpp), V G^-T for some points: as points that know nothing of themselves yet, with what the
/// factor leaves of them.
struct FactorRows {
  std::unique_ptr<Points> points;
  SegmentSums<double> trace, lost;  // of v_ii, and less the squares of the rows
};
/// `single`: in float32, from products in double where they are `wide`.
FactorRows factor_rows(const Points& points, const KernelTables& tables, bool single, bool wide,
                       int threads, const KeepGoing& keep_going);
/// Whether float32 products would be too coarse, asked of some of the points: gamma times the square of the largest
/// distance from the shift, and how large that may be.
double farthest_from(const Points& points, const KernelTables& tables, int threads);
double farthest_in_single();

/// Points per call of `use`; part of the answer.
inline constexpr Index values_block = 512;
/// Calls use(first, last, values) for all points, values_block at a time, on several threads: row by row the values with
/// the few, in double.
using UseValues = std::function<void(Index first, Index last, const double* values)>;
void for_kernel_values(const Points& points, const KernelTables& z, int threads,
                       const KeepGoing& keep_going, const UseValues& use);

}  // namespace fwsr
