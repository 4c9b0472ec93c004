// The linear kernel: <x, y>.
#include "fwsr/kernel/formula.hpp"

namespace fwsr {

namespace {

/// gamma is 1, in the units of the points at hand.
template <class T>
void from_products(const KernelNumbers& numbers, Index n, T* values) {
  const auto times = static_cast<T>(numbers.gamma * numbers.scale.factor);
  const auto extra = static_cast<T>(numbers.scale.extra);
  for (Index j = 0; j < n; ++j) values[j] = times * values[j] + extra;
}

}  // namespace

KernelFormula linear_kernel() {
  return {.name = "linear",
          .about = "<x, y>",
          .linear = true,
          .centered = true,
          .loops = 10,
          .value = [](const KernelNumbers& k, double x) { return k.gamma * x; },
          .single = {.values = from_products<float>},
          .wide = {.values = from_products<double>}};
}

}  // namespace fwsr
