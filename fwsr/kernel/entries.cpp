#include "fwsr/kernel/entries.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "fwsr/linalg/exp.hpp"
#include "fwsr/linalg/widest.hpp"

namespace fwsr {

namespace {

/// Large enough to make any distance infinite, small enough not to overflow with it.
constexpr double largest_gamma = 1e30;

/// A distance below this many units of rounding of the norms may be none at all.
constexpr double rounding_units = 16;

/// float32: t K above which an entry is unsure (t times some 3e-7 is then the error), and t below
/// which a distance that rounding could have made may as well be zero.
constexpr float most_at_stake = 4;
constexpr float least_at_stake = 0.25f;

template <class T>
[[gnu::always_inline]] inline T gaussian_entry(T product, T norms, T gamma, T factor, T extra) {
  constexpr T tiny = static_cast<T>(rounding_units) * std::numeric_limits<T>::epsilon();
  T squared = norms - (product + product);
  squared = squared <= tiny * norms ? T{0} : squared;
  const T k = exp_of(-gamma * squared);
  const T value = factor * k + extra;
  if constexpr (std::numeric_limits<T>::digits > 30) return value;
  const T stake = gamma * norms;
  const T none = squared > 0 ? T{0} : stake;
  const T sure = stake * k > most_at_stake ? unsure : value;
  return none > least_at_stake ? unsure : sure;
}

// Everything a loop reads is a local variable of the lambda: what is captured by reference could
// change with every store, and the loop would stay scalar.

template <class T>
Index gaussian(const GaussianRow<T>& row, Index n, T* values) {
  int doubtful = 0;
  run_widest([&]() __attribute__((always_inline)) {
    const T norm = static_cast<T>(row.norm);
    const T gamma = static_cast<T>(std::min(row.gamma, largest_gamma));
    const T factor = static_cast<T>(row.scale.factor), extra = static_cast<T>(row.scale.extra);
    const T* __restrict others = row.norms;
    T* __restrict out = values;
    const Index count = n;
    for (Index j = 0; j < count; ++j)
      out[j] = gaussian_entry(out[j], norm + others[j], gamma, factor, extra);
    if constexpr (std::numeric_limits<T>::digits > 30) return;
    int negative = 0;
    for (Index j = 0; j < count; ++j) negative += out[j] < 0 ? 1 : 0;
    doubtful = negative;
  });
  return doubtful;
}

template <class T>
void decay(double gamma, const Affine& scale, Index n, T* values) {
  run_widest([&]() __attribute__((always_inline)) {
    const T g = static_cast<T>(std::min(gamma, largest_gamma));
    const T factor = static_cast<T>(scale.factor), extra = static_cast<T>(scale.extra);
    T* const out = values;
    const Index count = n;
    for (Index j = 0; j < count; ++j) out[j] = factor * exp_of(-g * out[j]) + extra;
  });
}

template <class T>
void exponential(Index n, T* values) {
  run_widest([&]() __attribute__((always_inline)) {
    T* const out = values;
    const Index count = n;
    for (Index j = 0; j < count; ++j) out[j] = exp_of(out[j]);
  });
}

/// In double whatever T is: powers leave the range of float long before `factor` brings them back.
template <class T>
void polynomial(const PolynomialRow& row, Index n, T* values) {
  const double gamma = row.gamma, coef0 = row.coef0;
  const double factor = row.scale.factor, extra = row.scale.extra;
  constexpr Index some = 64;
  run_widest([&]() __attribute__((always_inline)) {
    for (Index first = 0; first < n; first += some) {
      const Index count = std::min(some, n - first);
      double base[some], power[some];
      for (Index j = 0; j < count; ++j) {
        base[j] = gamma * static_cast<double>(values[first + j]) + coef0;
        power[j] = 1;
      }
      for (int rest = row.degree; rest > 0; rest /= 2) {
        if (rest % 2)
          for (Index j = 0; j < count; ++j) power[j] *= base[j];
        for (Index j = 0; j < count && rest > 1; ++j) base[j] *= base[j];
      }
      for (Index j = 0; j < count; ++j)
        values[first + j] = static_cast<T>(factor * power[j] + extra);
    }
  });
}

template <class T>
[[gnu::always_inline]] inline void load_some(const T* from, Index count,
                                             typename Vector<T>::Values& to) {
  T all[Vector<T>::lanes] = {};
  std::copy(from, from + count, all);
  __builtin_memcpy(&to, all, sizeof to);
}

/// sums += |x - y|: the sign bit is masked out.
template <class T>
[[gnu::always_inline]] inline void add_absolute(const typename Vector<T>::Values& x,
                                                const typename Vector<T>::Values& y,
                                                typename Vector<T>::Values& sums) {
  using Bits = typename Vector<T>::Bits;
  typename Vector<T>::Values difference = x - y;
  Bits bits;
  __builtin_memcpy(&bits, &difference, sizeof bits);
  bits &= std::numeric_limits<std::decay_t<decltype(bits[0])>>::max();
  __builtin_memcpy(&difference, &bits, sizeof bits);
  sums += difference;
}

/// Four columns at a time; partial sums over the lanes of a vector, added first to last in double.
template <std::size_t count, class T>
[[gnu::always_inline]] inline void some_distances(const T* a, const T* const (&b)[count], Index d,
                                                  T* out) {
  using Values = typename Vector<T>::Values;
  constexpr auto lanes = static_cast<Index>(Vector<T>::lanes);
  Values sums[count] = {};
  Values x, y;
  Index l = 0;
  for (; l + lanes <= d; l += lanes) {
    __builtin_memcpy(&x, a + l, sizeof x);
    for (std::size_t c = 0; c < count; ++c) {
      __builtin_memcpy(&y, b[c] + l, sizeof y);
      add_absolute<T>(x, y, sums[c]);
    }
  }
  if (l < d) {
    load_some(a + l, d - l, x);
    for (std::size_t c = 0; c < count; ++c) {
      load_some(b[c] + l, d - l, y);
      add_absolute<T>(x, y, sums[c]);
    }
  }
  for (std::size_t c = 0; c < count; ++c) {
    double sum = 0;
    for (std::size_t e = 0; e < Vector<T>::lanes; ++e) sum += static_cast<double>(sums[c][e]);
    out[c] = static_cast<T>(sum);
  }
}

template <class T>
void all_distances(const DistanceBlock<T>& p) {
  constexpr Index rows_at_once = 48;  // stay in the cache while the columns pass by
  run_widest([&]() __attribute__((always_inline)) {
    for (Index top = 0; top < p.rows; top += rows_at_once) {
      const Index bottom = std::min(p.rows, top + rows_at_once);
      Index j = 0;
      for (; j + 4 <= p.columns; j += 4) {
        const T* const b = p.right + j * p.d;
        const T* const four[4] = {b, b + p.d, b + 2 * p.d, b + 3 * p.d};
        for (Index i = top; i < bottom; ++i)
          some_distances(p.left + i * p.d, four, p.d, p.out + i * p.stride + j);
      }
      for (; j < p.columns; ++j) {
        const T* const one[1] = {p.right + j * p.d};
        for (Index i = top; i < bottom; ++i)
          some_distances(p.left + i * p.d, one, p.d, p.out + i * p.stride + j);
      }
    }
  });
}

}  // namespace

Index gaussian_row(const GaussianRow<float>& row, Index n, float* values) {
  return gaussian(row, n, values);
}
Index gaussian_row(const GaussianRow<double>& row, Index n, double* values) {
  return gaussian(row, n, values);
}
void decay_row(double gamma, const Affine& scale, Index n, float* values) {
  decay(gamma, scale, n, values);
}
void decay_row(double gamma, const Affine& scale, Index n, double* values) {
  decay(gamma, scale, n, values);
}
void polynomial_row(const PolynomialRow& row, Index n, float* values) {
  polynomial(row, n, values);
}
void polynomial_row(const PolynomialRow& row, Index n, double* values) {
  polynomial(row, n, values);
}
void absolute_distances(const DistanceBlock<float>& block) {
  all_distances(block);
}
void absolute_distances(const DistanceBlock<double>& block) {
  all_distances(block);
}
void exp_row(Index n, float* values) {
  exponential(n, values);
}
void exp_row(Index n, double* values) {
  exponential(n, values);
}

}  // namespace fwsr
