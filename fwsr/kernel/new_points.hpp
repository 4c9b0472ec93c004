// Values between new points and some known ones, a block of new points at a time: a kernel, inner
// products, distances, or columns of a matrix that was given.
//
// The known ones are vectors in the frame of the points (prep/frame.hpp). Everything is in double and in
// the user's units; distances are taken from differences.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/prep/frame.hpp"

namespace fwsr {

class KnownPoints {
 public:
  /// `vectors`: rows of as many numbers as points have features; less `shift`, where there is one, as
  /// new points then are. @pre no shift with a kernel other than the linear one
  KnownPoints(Frame frame, const Kernel& kernel, std::vector<double> vectors, Index features,
              std::vector<double> shift = {});
  /// L1 distances from `vectors`.
  static KnownPoints by_absolute_distance(Frame frame, std::vector<double> vectors, Index features);
  /// New points are rows of a matrix: these columns of them.
  explicit KnownPoints(std::vector<Index> columns) : columns_(std::move(columns)) {}

  /// m: the known ones.
  Index count() const {
    return given() ? static_cast<Index>(columns_.size())
                   : static_cast<Index>(vectors_.size()) / std::max<Index>(1, features_);
  }
  bool given() const { return of_ == KernelOf::matrix; }
  bool linear() const { return of_ == KernelOf::products && !formula_; }
  Index features() const { return features_; }
  const std::vector<double>& vectors() const { return vectors_; }

 private:
  friend class NewPoints;
  Frame frame_;
  KernelOf of_ = KernelOf::matrix;
  const KernelFormula* formula_ = nullptr;  // null: products and distances as they are
  KernelNumbers numbers_;
  double unit_ = 1;  // how much larger than the user's the vectors are here: a power of two
  std::vector<double> vectors_;  // m x features
  Index features_ = 0;
  std::vector<double> shift_;
  std::vector<Index> columns_;
};

/// One list of new points and the known ones. May be asked from many threads.
class NewPoints {
 public:
  /// Throws Error where the points have not the features of the known ones.
  NewPoints(const KnownPoints& known, const PointsView& points);

  const KnownPoints& known() const { return known_; }
  Index size() const { return rows_of(points_); }
  /// New points in a block: part of the answer, as it depends on nothing but lengths.
  Index block_rows() const;

  struct Block {
    std::vector<double> rows;       // the points in the frame; empty where they stay sparse
    std::vector<double> diagonals;  // asked for: k(a, a)
  };
  /// The values of points first .. last with all known ones go to `values`, row by row.
  void compare(Index first, Index last, double* values, bool diagonals, Block& out) const;

 private:
  const double* load(Index first, Index last, bool in_place, std::vector<double>& room) const;
  void gather(Index first, Index last, double* values, bool diagonals, Block& out) const;
  void compare_sparse(Index first, Index last, double* values, bool diagonals, Block& out) const;
  void compare_rows(Index first, Index last, double* values, bool diagonals, Block& out) const;

  const KnownPoints& known_;
  PointsView points_;
  bool stays_sparse_ = false;
  // Of points that stay sparse:
  std::vector<double> by_feature_;  // features x m
  std::vector<double> sums_;        // of the numbers of each known vector
  std::vector<double> with_means_;  // its product with the means of the features ...
  std::vector<double> with_shift_;  // ... and with the shift
  double means_squared_ = 0;
};

}  // namespace fwsr
