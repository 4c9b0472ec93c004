// The Laplacian kernel: exp(-gamma ||x - y||_1).
#include <cmath>

#include "fwsr/kernel/value_loops.hpp"
#include "fwsr/linalg/exp.hpp"

namespace fwsr {

namespace {

struct Decay {
  template <class T>
  [[gnu::always_inline]] static T of(T t) {
    return exp_of(-t);
  }
};

}  // namespace

KernelFormula laplacian_kernel() {
  return {.name = "laplacian",
          .about = "exp(-gamma ||x - y||_1)",
          .of = KernelOf::absolute_distances,
          .has_gamma = true,
          .loops = 120,
          .value = [](const KernelNumbers& k, double x) { return std::exp(-k.gamma * x); },
          .single = absolute_distance_loops<Decay, float>(),
          .wide = absolute_distance_loops<Decay, double>()};
}

}  // namespace fwsr
