// The frame of the row-sparse program (row_sparse.hpp): all that it knows of the points.
//
// K = A^T A = V diag(s) V^T, V with orthonormal columns. With the constraint 1^T X = 1^T the points are centred, and
// 1 / sqrt(n) is one more column of V, with s = infinity.
#pragma once

#include <span>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// V and s. The constraint, where there is one, is the last column, with an infinite s.
struct RowFrame {
  Index points = 0, columns = 0;
  LargeArray<double> vectors;   // points x columns, row by row
  std::vector<double> squares;  // s

  bool affine() const;
  /// 1^T X = 1^T: the mean of the squared distances between two of the points; else the same, of
  /// points that have not been centred.
  double mean_squared_distance() const;
};
/// Of the points of the task, or of the `members` among them, in the space of its kernel.
RowFrame make_row_frame(const Task& task, std::span<const Index> members, bool affine);

/// Without the constraint the smallest lambda whose solution is zero, max_i ||a_i^T A||_2 (KKT: X = 0
/// is optimal when the gradient's rows, a_i^T A, are in the ball of radius lambda). With it zero is not
/// feasible, and no finite lambda ends the path: as lambda grows X tends to c 1^T with c >= 0, 1^T c = 1 and
/// A c the mean, but at c 1^T the norms are smooth in the rows that c uses, so there the gradient
/// would have to vanish. The number used is that of the points less their mean,
/// max_i ||(a_i - mean)^T (A - mean 1^T)||_2: like the program it does not change with a shift.
double largest_lambda(const RowFrame& frame);

}  // namespace fwsr
