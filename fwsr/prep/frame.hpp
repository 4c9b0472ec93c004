// How points were scaled and centred, apart from the points: what makes new ones comparable with them.
//
//   a = (x / deviation or x / ||x||) - mean, or less its own mean;  then perhaps a / ||a||
//
// The numbers are those of points.hpp, in the user's units and without eta.
#pragma once

#include <vector>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/prep/preprocessing.hpp"
#include "fwsr/prep/statistics.hpp"

namespace fwsr {

struct Frame {
  Center center = Center::none;
  Scale scale = Scale::none;
  bool normalize = false;         // each point to norm 1 at the end: the cosine kernel
  std::vector<double> deviation;  // of each feature (scale standard); 1 where it is constant
  std::vector<double> mean;       // of each feature, scaled (centre feature)

  /// Points stay as they are.
  bool plain() const { return center == Center::none && scale == Scale::none && !normalize; }
};

/// Looks at all points where features have a deviation or a mean, else at none.
Frame frame_of(const PointsView& view, const Preprocessing& prep, int threads,
               const KeepGoing& keep_going = {});

/// From what points of `features` numbers have in common, wherever they live (statistics.hpp).
Frame frame_from(const Preprocessing& prep, const Common& common, Index features);

/// Throws Error for NaN and infinity.
void require_numbers(const double* values, Index count);

/// Points first .. last in the frame, row by row. Throws Error for what is no number.
void load_in_frame(const Frame& frame, const PointsView& points, Index first, Index last,
                   double* out);

/// A sparse point in the frame, as it is stored:
///   a = times (y - mean_of_each - own_mean 1),   y: `values` at `columns`, else 0
struct SparseInFrame {
  std::vector<Index> columns;
  std::vector<double> values;
  double own_mean = 0;
  double times = 1;
  double squares = 0;  // ||a||^2
};
/// `means_squared`: of frame.mean. @pre is_sparse(points), and not both normalize and the means of features
void load_in_frame(const Frame& frame, double means_squared, const PointsView& points, Index i,
                   SparseInFrame& out);

}  // namespace fwsr
