// The polynomial kernel: (gamma <x, y> + coef0)^degree.
#include <algorithm>
#include <cmath>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

constexpr Index some = 64;  // values at a time

/// power <- base^degree by repeated squaring; base is used up.
template <class T>
[[gnu::always_inline]] inline void raise(int degree, Index count, T* base, T* power) {
  for (Index j = 0; j < count; ++j) power[j] = 1;
  for (int rest = degree; rest > 0; rest /= 2) {
    if (rest % 2)
      for (Index j = 0; j < count; ++j) power[j] *= base[j];
    for (Index j = 0; j < count && rest > 1; ++j) base[j] *= base[j];
  }
}

/// In double whatever T is: powers leave the range of float long before `factor` brings them back.
template <class T>
void from_products(const KernelNumbers& numbers, Index n, T* values) {
  run_widest([&]() __attribute__((always_inline)) {
    const double gamma = numbers.gamma, coef0 = numbers.coef0;
    const double factor = numbers.scale.factor, extra = numbers.scale.extra;
    for (Index first = 0; first < n; first += some) {
      const Index count = std::min(some, n - first);
      double base[some], power[some];
      for (Index j = 0; j < count; ++j)
        base[j] = gamma * static_cast<double>(values[first + j]) + coef0;
      raise(numbers.degree, count, base, power);
      for (Index j = 0; j < count; ++j)
        values[first + j] = static_cast<T>(factor * power[j] + extra);
    }
  });
}

/// factor (gamma x + coef0)^degree as ((gamma x + coef0) root)^degree: no power leaves the range of T.
double root_of_factor(const KernelNumbers& numbers) {
  return std::pow(numbers.scale.factor, 1.0 / numbers.degree);
}

template <class T>
void from_scaled_products(const KernelNumbers& numbers, Index n, T* values) {
  const T coef0 = static_cast<T>(numbers.coef0 * root_of_factor(numbers));
  run_widest([&]() __attribute__((always_inline)) {
    for (Index first = 0; first < n; first += some) {
      const Index count = std::min(some, n - first);
      T base[some], power[some];
      for (Index j = 0; j < count; ++j) base[j] = values[first + j] + coef0;
      raise(numbers.degree, count, base, power);
      for (Index j = 0; j < count; ++j) values[first + j] = power[j];
    }
  });
}

template <class T>
constexpr KernelLoops<T> loops() {
  return {.values = from_products<T>, .columns = from_scaled_products<T>};
}

}  // namespace

KernelFormula polynomial_kernel() {
  return {.name = "polynomial",
          .about = "(gamma <x, y> + coef0)^degree",
          .of = KernelOf::products,
          .has_gamma = true,
          .has_degree = true,
          .indefinite = true,
          .loops = 40,
          .value = [](const KernelNumbers& k,
                      double x) { return std::pow(k.gamma * x + k.coef0, k.degree); },
          .steepness = [](const Kernel& k) { return static_cast<double>(k.degree); },
          .column_times = [](const KernelNumbers& k) { return k.gamma * root_of_factor(k); },
          .single = loops<float>(),
          .wide = loops<double>()};
}

}  // namespace fwsr
