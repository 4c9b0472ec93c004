// Loops over many values of a kernel, made from its formula; compiled for several instruction sets
// (linalg/widest.hpp) in the file of the kernel. A formula of distances is
//
//   template <class T> static T of(T t)      phi(t), in straight-line code that always inlines
//
// Everything a loop reads is a local variable of the lambda: what is captured by reference could
// change with every store, and the loop would stay scalar.
#pragma once

#include <algorithm>
#include <limits>

#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/widest.hpp"

namespace fwsr {

/// Large enough to make any distance infinite, small enough not to overflow with it.
template <class T>
inline constexpr double largest_gamma = std::numeric_limits<T>::digits > 30 ? 1e250 : 1e30;

/// A distance below this many units of rounding of the norms may be none at all.
inline constexpr double rounding_units = 16;

/// float32: t K above which an entry is unsure (t times some 3e-7 is then the error), and t below
/// which a distance that rounding could have made may as well be zero.
inline constexpr float most_at_stake = 4;
inline constexpr float least_at_stake = 0.25f;

template <class Phi, class T>
void from_distances(const KernelNumbers& numbers, Index n, T* values) {
  run_widest([&]() __attribute__((always_inline)) {
    const T gamma = static_cast<T>(std::min(numbers.gamma, largest_gamma<T>));
    const T factor = static_cast<T>(numbers.scale.factor);
    const T extra = static_cast<T>(numbers.scale.extra);
    T* const out = values;
    const Index count = n;
    for (Index j = 0; j < count; ++j) out[j] = factor * Phi::of(gamma * out[j]) + extra;
  });
}

/// The squared distance carries the rounding of its terms, some units of T's last place of
/// t = gamma (||a||^2 + ||b_j||^2), and the kernel t K units. Where that is too much for float, or
/// where rounding could have made the whole distance and it matters, the entry is `unsure`.
template <class Phi, class T>
[[gnu::always_inline]] inline T entry_from_norms(T product, T norms, T gamma, T factor, T extra) {
  constexpr T tiny = static_cast<T>(rounding_units) * std::numeric_limits<T>::epsilon();
  T squared = norms - (product + product);
  squared = squared <= tiny * norms ? T{0} : squared;
  const T k = Phi::of(gamma * squared);
  const T value = factor * k + extra;
  if constexpr (std::numeric_limits<T>::digits > 30) return value;
  const T stake = gamma * norms;
  const T none = squared > 0 ? T{0} : stake;
  const T sure = stake * k > most_at_stake ? unsure : value;
  return none > least_at_stake ? unsure : sure;
}

template <class Phi, class T>
Index from_norms(const KernelNumbers& numbers, const Norms<T>& norms, Index n, T* values) {
  int doubtful = 0;
  run_widest([&]() __attribute__((always_inline)) {
    const T norm = static_cast<T>(norms.own);
    const T gamma = static_cast<T>(std::min(numbers.gamma, largest_gamma<T>));
    const T factor = static_cast<T>(numbers.scale.factor);
    const T extra = static_cast<T>(numbers.scale.extra);
    const T* __restrict others = norms.others;
    T* __restrict out = values;
    const Index count = n;
    for (Index j = 0; j < count; ++j)
      out[j] = entry_from_norms<Phi>(out[j], norm + others[j], gamma, factor, extra);
    if constexpr (std::numeric_limits<T>::digits > 30) return;
    int negative = 0;
    for (Index j = 0; j < count; ++j) negative += out[j] < 0 ? 1 : 0;
    doubtful = negative;
  });
  return doubtful;
}

/// phi(t) where the products are -t already: column_times is 2 gamma.
template <class Phi, class T>
void from_negatives(const KernelNumbers& numbers, Index n, T* values) {
  from_distances<Phi>({.gamma = -1, .scale = numbers.scale}, n, values);
}

template <class Phi, class T>
constexpr KernelLoops<T> squared_distance_loops() {
  return {.values = from_distances<Phi, T>,
          .from_norms = from_norms<Phi, T>,
          .columns = from_negatives<Phi, T>};
}

template <class Phi, class T>
constexpr KernelLoops<T> absolute_distance_loops() {
  return {.values = from_distances<Phi, T>};
}

}  // namespace fwsr
