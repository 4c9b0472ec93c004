// The leading right singular vectors of all points, and the leverage scores they give.
//
//   A    points a_i are its columns: A = U S V^T
//   V_r  the leading r columns of V: row i belongs to point i
//
// They come from the eigenvectors of A A^T (features x features) where there are fewer features than
// points, else of the kernel matrix A^T A. Both have the squares of the singular values, and lose
// those below 1e-8 of the largest. So where there are vectors only values down to 1e-4 of the largest
// count; for smaller ones what V_r represents is taken from the points, and the same is done with
// B = A (I - V_r V_r^T), again and again, until nothing but rounding of the points is left.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

class SingularSpace {
 public:
  /// At most `rank` of them; fewer where other singular values are rounding.
  SingularSpace(const Task& task, Index rank);

  Index rank() const { return rank_; }
  /// More singular vectors there cannot be.
  Index most_rank() const { return length_; }
  /// Row i of V_r.
  void row(Index i, double* out) const;
  /// ||row i of V_r||^2 for every point.
  std::vector<double> leverage_scores() const;
  /// What is to be told when there are fewer than asked for by the rounding of a kernel matrix alone.
  std::vector<std::string> warnings() const;

 private:
  /// Vectors that were found together, from points b_i from which those before are taken.
  struct Stage {
    Index rank = 0;
    std::vector<double> squares;  // of the singular values
    std::vector<double> forms;    // rank x d: entry i of vector r is <forms_r, b_i>; or
    std::vector<double> vectors;  // rank x n
    /// rank x d: sum_i b_i v_ir, to be taken from b_i v_ir times; and the same of what that leaves.
    std::array<std::vector<double>, 2> images;
  };

  Index block_rows() const;
  bool has_vectors() const { return task_.linear && task_.points; }
  std::vector<double> matrix() const;
  std::vector<double> inner_products() const;
  double least_square(double largest) const;
  EigenDecomposition leading_eigen(Index asked);
  void add_stage(Index asked);
  void make_forms();
  void take_away();
  std::vector<double> sum_of_images() const;
  void load(Index first, Index last, Index rows, double* b, double* v) const;
  void coordinates(const Stage& stage, Index first, Index last, Index rows, const double* b,
                   double* v) const;

  const Task& task_;
  bool by_features_;
  bool short_of_digits_ = false;
  Index rank_ = 0, length_ = 0, d_ = 0;
  double floor_ = -1;  // squares of singular values up to here are rounding
  std::vector<Stage> stages_;
};

/// @pre rank: as asked for
Cost singular_space_cost(const Sizes& sizes, double rank);

}  // namespace fwsr
