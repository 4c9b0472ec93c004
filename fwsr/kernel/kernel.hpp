// The kernels by name, and the numbers that people give them.
#pragma once

#include <array>
#include <optional>
#include <string>

/// Every kernel, one a line, in the order of lists: rbf is described by rbf_kernel() of kernel/rbf.cpp.
#define FWSR_KERNELS(KERNEL)                                                          \
  KERNEL(linear)      /* <x, y> */                                                    \
  KERNEL(rbf)         /* exp(-gamma ||x - y||^2) */                                   \
  KERNEL(polynomial)  /* (gamma <x, y> + coef0)^degree */                             \
  KERNEL(cosine)      /* <x, y> / (||x|| ||y||); a zero point is orthogonal to all */ \
  KERNEL(laplacian)   /* exp(-gamma ||x - y||_1) */                                   \
  KERNEL(precomputed) /* the matrix given is K itself */

namespace fwsr {

#define FWSR_NAME(name) name,
enum class KernelType { FWSR_KERNELS(FWSR_NAME) };
#undef FWSR_NAME

constexpr auto values_of(KernelType) {
#define FWSR_VALUE(name) KernelType::name,
  return std::array{FWSR_KERNELS(FWSR_VALUE)};
#undef FWSR_VALUE
}
/// As on the command line: "rbf".
const char* name_of(KernelType v);

/// What help and messages say of all kernels.
struct KernelWords {
  std::string all;          // "linear, rbf, ... or precomputed"
  std::string computed;     // "rbf, polynomial and laplacian": those a factor can stand for
  std::string with_degree;  // "polynomial"
  std::string widths;       // "rbf: 1 / median squared distance; ...": where no gamma is given
};
const KernelWords& kernel_words();

/// The width of a kernel of distances where no gamma is given: gamma = times / this quantile of the distances.
struct Width {
  double times = 1;
  double quantile = 0.5;
};

struct Kernel {
  KernelType type = KernelType::linear;
  /// Unset: 1 / median squared distance (rbf), 1 / median L1 distance (laplacian), or as `width` says; 1 / mean squared
  /// norm (polynomial).
  std::optional<double> gamma = {};
  int degree = 3;
  double coef0 = 1;
  Width width = {};
};

}  // namespace fwsr
