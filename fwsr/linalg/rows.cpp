#include "fwsr/linalg/rows.hpp"

#include <cstddef>

#include "fwsr/linalg/processor.hpp"

namespace fwsr {

namespace {

// The bodies are inlined into one function per instruction set, below.

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
  double (*dot)(const double*, const double*, Index);
  Dots3 (*dot3)(const double*, const double*, const double*, const double*, Index);
};

double dot_base(const double* a, const double* b, Index d) {
  return dot_body(a, b, d);
}
Dots3 dot3_base(const double* a, const double* u, const double* v, const double* w, Index d) {
  return dot3_body(a, u, v, w, d);
}

[[gnu::target("avx2")]] double dot_avx2(const double* a, const double* b, Index d) {
  return dot_body(a, b, d);
}
[[gnu::target("avx2")]] Dots3 dot3_avx2(const double* a, const double* u, const double* v,
                                        const double* w, Index d) {
  return dot3_body(a, u, v, w, d);
}

const Kernels& kernels() {
  static const Kernels chosen = instructions() >= Instructions::avx2 ? Kernels{dot_avx2, dot3_avx2}
                                                                     : Kernels{dot_base, dot3_base};
  return chosen;
}

}  // namespace

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
}  // namespace fwsr
