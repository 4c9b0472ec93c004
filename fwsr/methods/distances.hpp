// Dissimilarities between the points of a task, whatever they are: of points by one of some metrics,
// in the space of a kernel, or given as a matrix.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fwsr/base/index.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

/// For a plan: operations of a matrix product that take as long as it takes to make a distance of an inner product.
inline constexpr double distance_flops = 400;

/// The parameter `metric` of methods that work on distances.
Parameter metric_parameter(const std::string& fallback = "euclidean");

/// All dissimilarities, row by row: held here, or where the user's matrix stands.
template <class T>
struct DistanceMatrix {
  LargeArray<T> held = {};  // empty: it is the user's
  const T* data = nullptr;
  Index stride = 0;  // from one row to the next

  const T* row(Index i) const { return data + i * stride; }
};

/// Whether Distances::matrix needs no memory of its own.
bool stands_ready(const Sizes& sizes, const Settings& settings);

class Distances {
 public:
  /// `metric` is one of metric_parameter's words. Throws Error when it does not suit the task, or when what is given
  /// is no matrix of dissimilarities: symmetric but for rounding, 0 on the diagonal, no number negative or so large
  /// that sums of them overflow.
  Distances(const Task& task, const std::string& metric);

  Index size() const { return task_.size(); }
  /// What a distance here has to be multiplied with to be in the user's units.
  double scale() const { return scale_; }

  /// out[r, i - begin] = distance of points[r] and point i, for i in begin .. end, rows `stride` apart.
  /// May be called from many threads.
  void between(std::span<const Index> points, Index begin, Index end, double* out,
               Index stride) const;
  /// The distances of point j from all points. All threads work on it.
  void column(Index j, std::span<double> out) const;
  /// Whether all of them stand in a matrix of the user's.
  bool stands_ready() const;
  /// All of them, n x n. @pre T is the type of a matrix that was given
  template <class T>
  DistanceMatrix<T> matrix() const;

 private:
  enum class Kind { euclidean, squared, manhattan, cosine, given };
  void given(std::span<const Index> points, Index begin, Index end, double* out,
             Index stride) const;
  void absolute(std::span<const Index> points, Index begin, Index end, double* out,
                Index stride) const;
  double cosine(Index i, Index j, double product) const;
  void check_given() const;
  Index source(Index i) const;  // where point i is in a matrix that was given

  const Task& task_;
  Kind kind_;
  double scale_ = 1;
};

/// For every point which of some others is nearest, of equal ones the first, and how far it is.
struct Nearest {
  std::vector<Index> which;
  std::vector<double> distance;
};
Nearest nearest_of(const Distances& distances, std::span<const Index> others, int threads,
                   const KeepGoing& keep_going);

}  // namespace fwsr
