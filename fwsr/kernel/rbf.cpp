// The Gaussian kernel: exp(-gamma ||x - y||^2).
#include <cmath>

#include "fwsr/kernel/value_loops.hpp"
#include "fwsr/linalg/exp.hpp"

namespace fwsr {

namespace {

struct Gaussian {
  template <class T>
  [[gnu::always_inline]] static T of(T t) {
    return exp_of(-t);
  }
};

}  // namespace

KernelFormula rbf_kernel() {
  return {.name = "rbf",
          .about = "exp(-gamma ||x - y||^2)",
          .of = KernelOf::squared_distances,
          .has_gamma = true,
          .loops = 120,
          .value = [](const KernelNumbers& k, double x) { return std::exp(-k.gamma * x); },
          .column_times = [](const KernelNumbers& k) { return 2 * k.gamma; },
          .single = squared_distance_loops<Gaussian, float>(),
          .wide = squared_distance_loops<Gaussian, double>()};
}

}  // namespace fwsr
