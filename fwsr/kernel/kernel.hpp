// The kernels, and their values between points.
#pragma once

#include <optional>

namespace fwsr {

enum class KernelType {
  linear,       ///< <x, y>
  rbf,          ///< exp(-gamma ||x - y||^2)
  polynomial,   ///< (gamma <x, y> + coef0)^degree
  cosine,       ///< <x, y> / (||x|| ||y||); a zero point is orthogonal to everything
  laplacian,    ///< exp(-gamma ||x - y||_1)
  precomputed,  ///< the matrix given is K itself
};

struct Kernel {
  KernelType type = KernelType::linear;
  /// Unset: 1 / median squared distance (rbf), 1 / median L1 distance (laplacian), 1 / mean squared
  /// norm (polynomial).
  std::optional<double> gamma = {};
  int degree = 3;
  double coef0 = 1;
};

}  // namespace fwsr
