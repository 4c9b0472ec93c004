// What centring and scaling start from, of points in the memory of a card. Sums are added in an order that depends on the
// number of points alone.
#pragma once

#include <vector>

#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/rows.hpp"

namespace fwsr::cuda {

/// One number for each point; those that are null are not told.
struct PointSums {
  double* largest = nullptr;  // |x| as stored; infinite when any is not finite
  double* mean = nullptr;     // of inner weights x
  double* squares = nullptr;  // of inner weights x - means - mean, the last only where it is told

  /// The same of points from `first` on.
  PointSums from(Index first) const {
    const auto behind = [first](double* v) { return v ? v + first : v; };
    return {behind(largest), behind(mean), behind(squares)};
  }
};
void launch_row_sums(const Device& device, const Rows& rows, const PointSums& out);
/// inner = scale / norm of every point as stored; 1 / 0 is scale.
void launch_unit_norms(const Device& device, const Rows& rows, double scale, double* inner);

/// What a visit to all points has found, joined from blocks of points first to last.
struct Scan {
  double largest = 0;        // |x|
  double largest_other = 0;  // in rows that are not of one value
  double constant = 0;       // in rows that are ...
  Index first_constant = -1,
        first_bad = -1;  // ... and the first of these, and the first not finite
};
/// `centred`: the squares are those of numbers less their mean (prep/marks.hpp).
Scan scan(Device& device, Index points, Index features, const PointSums& sums, bool centred);

/// Sums of inner weights x - means over the points, or of their squares, feature by feature.
std::vector<double> feature_sums(Device& device, const Rows& rows, bool squared);

/// sum_i v_i, and the largest.
double sum_of(Device& device, const double* v, Index n);
double largest_of(Device& device, const double* v, Index n);
/// The first i with v_i > limit; -1: none.
Index first_beyond(Device& device, const double* v, Index n, double limit);

/// v_i <- v_i times.
void launch_scale(const Device& device, double* v, Index n, double times);
/// Points of which centring leaves nothing but rounding: outer and squares become 0 where squares is at most
/// (rounding mean)^2 features, or, with a limit, where squares is 0 and |mean| beyond it.
struct DropLimits {
  double rounding = 0, limit = 0;
  bool by_limit = false;
};
void launch_drop(const Device& device, const DropLimits& limits, Index features, Index n,
                 const double* mean, double* outer, double* squares);
/// outer = 1 / norm, squares = 1; both 0 where the norm is.
void launch_normalize(const Device& device, Index n, double* outer, double* squares);
void launch_set(const Device& device, double* v, Index n, double value);

/// Points first .. last as they are, dim numbers each, `stride` apart.
void launch_fill(cudaStream_t stream, const Rows& rows, Index first, Index last, double* out);
/// The same of some points, by their index (in the memory of the card), and behind every one what it has for itself:
/// its square, inner, mean and outer.
inline constexpr Index own_numbers = 4;
void launch_gather(const Device& device, const Rows& rows, const double* squares,
                   const Index* which, Index count, double* out);
/// The numbers of some points as they are stored.
void launch_gather_stored(const Device& device, const Rows& rows, const Index* which, Index count,
                          double* out);
/// out_i = <x_i, y_i> of `count` rows of d numbers each.
void launch_row_dots(const Device& device, const double* x, const double* y, Index count, Index d,
                     double* out);
/// out_l = sum over `count` rows of d numbers, first to last.
void launch_column_sums(const Device& device, const double* rows, Index count, Index d,
                        double* out);

}  // namespace fwsr::cuda
