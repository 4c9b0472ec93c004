// What a kernel is: its formula, and what others must know of it. Each is described by one file
// (rbf.cpp) and one line of the table in kernel.hpp; nobody else asks for a kernel by its name.
//
//   products            k = phi(<x, y>)
//   squared_distances   k = phi(gamma ||x - y||^2)     phi(0) = 1, 0 <= -phi' <= phi
//   absolute_distances  k = phi(gamma ||x - y||_1)     the same
//
// From that follow the width for people who give none (width.cpp), how rounding shows in k, and how
// blocks of K are computed.
#pragma once

#include <type_traits>

#include "fwsr/base/index.hpp"
#include "fwsr/kernel/kernel.hpp"

namespace fwsr {

enum class KernelOf { products, squared_distances, absolute_distances, matrix };

/// What is asked for is K = factor k + extra.
struct Affine {
  double factor = 1, extra = 0;
};

/// The numbers of a formula, gamma in the units of what it is multiplied with.
struct KernelNumbers {
  double gamma = 1;
  double coef0 = 0;
  int degree = 1;
  Affine scale = {};
};

/// Norms of a point a and of others b_j, for their distances: ||a||^2 + ||b_j||^2 - 2 <a, b_j>.
template <class T>
struct Norms {
  double own = 0;             // ||a||^2
  const T* others = nullptr;  // ||b_j||^2
};

/// The formula on many values at once, in place (value_loops.hpp makes them from a formula).
template <class T>
struct KernelLoops {
  /// From inner products or distances.
  void (*values)(const KernelNumbers& numbers, Index n, T* values) = nullptr;
  /// Squared distances: from inner products and norms. Answers how many are `unsure`.
  Index (*from_norms)(const KernelNumbers& numbers, const Norms<T>& norms, Index n,
                      T* values) = nullptr;
  /// From `column_times` times inner products, or times minus half of the squared distances; extra is 0.
  void (*columns)(const KernelNumbers& numbers, Index n, T* values) = nullptr;
};

struct KernelFormula {
  const char* name = "";
  const char* about = "";  // the formula in a line
  KernelOf of = KernelOf::products;
  bool linear = false;      // the inner product of the points as prepared: no n x n matrix
  bool normalize = false;   // of points divided by their norm
  bool centered = false;    // each point by its mean, unless told otherwise
  bool has_gamma = false;   // a width
  bool has_degree = false;  // degree and coef0
  bool indefinite = false;  // for some numbers it is no kernel, and the objective may be negative
  double loops = 0;         // operations for one value, as plan_time.cpp counts them

  /// The formula itself, for one inner product or distance, without factor and extra.
  double (*value)(const KernelNumbers& numbers, double x) = nullptr;
  /// By how much rounding of the inner product is multiplied. Null: by 1.
  double (*steepness)(const Kernel& kernel) = nullptr;
  /// Where one matrix product gives whole columns of K (factor.hpp): what it is multiplied by.
  double (*column_times)(const KernelNumbers& numbers) = nullptr;
  KernelLoops<float> single = {};
  KernelLoops<double> wide = {};

  template <class T>
  const KernelLoops<T>& on() const {
    if constexpr (std::is_same_v<T, float>)
      return single;
    else
      return wide;
  }
  /// Computed entry by entry: neither an inner product of the points nor given.
  bool computed() const { return !linear && of != KernelOf::matrix; }
  bool of_distances() const {
    return of == KernelOf::squared_distances || of == KernelOf::absolute_distances;
  }
  double steepness_of(const Kernel& kernel) const { return steepness ? steepness(kernel) : 1.0; }
};

const KernelFormula& formula_of(KernelType type);

/// The kernel's numbers for points that are `unit` times larger than the user's.
KernelNumbers numbers_of(const Kernel& kernel, double unit, const Affine& scale = {});

/// float32, from_norms: the value must be computed from the difference of the points.
inline constexpr float unsure = -1;

}  // namespace fwsr
