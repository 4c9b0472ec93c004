#include "fwsr/linalg/rows.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace fwsr {

namespace {

// The bodies are inlined into one function per instruction set, below.

template <class T, bool has_weights, bool has_means>
[[gnu::always_inline]] inline void load_body(const T* x, Index d, const RowTransform& t,
                                             double* out) {
  const double* weights = t.weights;
  const double* means = t.means;
  const double inner = t.inner, mean = t.mean, outer = t.outer;
  for (Index l = 0; l < d; ++l) {
    double v = static_cast<double>(x[l]) * inner;
    if constexpr (has_weights) v *= weights[l];
    if constexpr (has_means) v -= means[l];
    out[l] = (v - mean) * outer;
  }
}

template <class T>
[[gnu::always_inline]] inline void load_any(const T* x, Index d, const RowTransform& t,
                                            double* out) {
  if (t.weights)
    t.means ? load_body<T, true, true>(x, d, t, out) : load_body<T, true, false>(x, d, t, out);
  else
    t.means ? load_body<T, false, true>(x, d, t, out) : load_body<T, false, false>(x, d, t, out);
}

// Eight partial sums, element l in sum l mod 8, added in a fixed tree at the end. A vector type says
// so to the compiler in a way that it keeps: it may not reorder additions by itself.
constexpr Index lanes = 8;
using Lanes [[gnu::vector_size(lanes * sizeof(double))]] = double;

[[gnu::always_inline]] inline double add_lanes(const double* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// The `count` sums of term(k, x, y), with x = a[l] and y = others[k][l], over all l < d.
template <std::size_t count, class Term>
[[gnu::always_inline]] inline void lane_sums(const double* a, const double* const (&others)[count],
                                             Index d, const Term& term, double (&out)[count]) {
  Lanes sums[count] = {};
  Index l = 0;
  for (; l + lanes <= d; l += lanes) {
    Lanes x;
    __builtin_memcpy(&x, a + l, sizeof x);
    for (std::size_t k = 0; k < count; ++k) {
      Lanes y;
      __builtin_memcpy(&y, others[k] + l, sizeof y);
      term(sums[k], x, y);
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    double s[lanes];
    __builtin_memcpy(s, &sums[k], sizeof s);
    for (Index i = 0; l + i < d; ++i) {
      const double x = a[l + i], y = others[k][l + i];
      term(s[i], x, y);
    }
    out[k] = add_lanes(s);
  }
}

[[gnu::always_inline]] inline Dots3 dot3_body(const double* a, const double* u, const double* v,
                                              const double* w, Index d) {
  double out[3];
  const double* const others[3] = {u, v, w};
  lane_sums<3>(
      a, others, d,
      [](auto& sum, const auto& x, const auto& y) __attribute__((always_inline)) { sum += x * y; },
      out);
  return {out[0], out[1], out[2]};
}

[[gnu::always_inline]] inline double dot_body(const double* a, const double* b, Index d) {
  double out[1];
  const double* const others[1] = {b};
  lane_sums<1>(
      a, others, d,
      [](auto& sum, const auto& x, const auto& y) __attribute__((always_inline)) { sum += x * y; },
      out);
  return out[0];
}

struct Kernels {
  void (*load_single)(const float*, Index, const RowTransform&, double*);
  void (*load_double)(const double*, Index, const RowTransform&, double*);
  double (*dot)(const double*, const double*, Index);
  Dots3 (*dot3)(const double*, const double*, const double*, const double*, Index);
};

void load_single_base(const float* x, Index d, const RowTransform& t, double* out) {
  load_any(x, d, t, out);
}
void load_double_base(const double* x, Index d, const RowTransform& t, double* out) {
  load_any(x, d, t, out);
}
double dot_base(const double* a, const double* b, Index d) {
  return dot_body(a, b, d);
}
Dots3 dot3_base(const double* a, const double* u, const double* v, const double* w, Index d) {
  return dot3_body(a, u, v, w, d);
}

[[gnu::target("avx2")]] void load_single_avx2(const float* x, Index d, const RowTransform& t,
                                              double* out) {
  load_any(x, d, t, out);
}
[[gnu::target("avx2")]] void load_double_avx2(const double* x, Index d, const RowTransform& t,
                                              double* out) {
  load_any(x, d, t, out);
}
[[gnu::target("avx2")]] double dot_avx2(const double* a, const double* b, Index d) {
  return dot_body(a, b, d);
}
[[gnu::target("avx2")]] Dots3 dot3_avx2(const double* a, const double* u, const double* v,
                                        const double* w, Index d) {
  return dot3_body(a, u, v, w, d);
}

const Kernels& kernels() {
  static const Kernels chosen =
      __builtin_cpu_supports("avx2")
          ? Kernels{load_single_avx2, load_double_avx2, dot_avx2, dot3_avx2}
          : Kernels{load_single_base, load_double_base, dot_base, dot3_base};
  return chosen;
}

template <class T>
double max_abs_of(const T* x, Index d) {
  T largest = 0;
  bool finite = true;
  for (Index l = 0; l < d; ++l) {
    const T v = std::abs(x[l]);
    finite &= v <= std::numeric_limits<T>::max();
    largest = v > largest ? v : largest;
  }
  return finite ? static_cast<double>(largest) : std::numeric_limits<double>::infinity();
}

}  // namespace

void load_row(const float* x, Index d, const RowTransform& t, double* out) {
  kernels().load_single(x, d, t, out);
}
void load_row(const double* x, Index d, const RowTransform& t, double* out) {
  kernels().load_double(x, d, t, out);
}
double dot(const double* a, const double* b, Index d) {
  return kernels().dot(a, b, d);
}
Dots3 dot3(const double* a, const double* u, const double* v, const double* w, Index d) {
  return kernels().dot3(a, u, v, w, d);
}
double squared_distance(const double* a, const double* b, Index d) {
  double out[1];
  const double* const others[1] = {b};
  lane_sums<1>(
      a, others, d, [](auto& sum, const auto& x, const auto& y) { sum += (x - y) * (x - y); }, out);
  return out[0];
}
double absolute_distance(const double* a, const double* b, Index d) {
  double out[1];
  const double* const others[1] = {b};
  lane_sums<1>(
      a, others, d,
      [](auto& sum, const auto& x, const auto& y) {
        const auto difference = x - y;
        sum += difference < 0 ? -difference : difference;
      },
      out);
  return out[0];
}
double max_abs(const float* x, Index d) {
  return max_abs_of(x, d);
}
double max_abs(const double* x, Index d) {
  return max_abs_of(x, d);
}

}  // namespace fwsr
