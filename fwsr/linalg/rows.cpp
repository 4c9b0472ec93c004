#include "fwsr/linalg/rows.hpp"

#include "fwsr/linalg/processor.hpp"
#include "fwsr/linalg/target.hpp"

namespace fwsr {

namespace {

// The bodies are inlined into one function per instruction set, below.

// Eight partial sums, element l in sum l mod 8, added in a fixed tree at the end. Plain arrays: the compiler makes vectors
// of eight neighbours for each instruction set. (Of vector types in a function that is inlined elsewhere it makes code
// for the oldest processor first, which was ten times slower.)
constexpr Index lanes = 8;

[[gnu::always_inline]] inline double add_lanes(const double* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// The sum of term(x, y), with x = a[l] and y = b[l], over all l < d.
template <class Term>
[[gnu::always_inline]] inline double lane_sum(const double* a, const double* b, Index d,
                                              const Term& term) {
  double sums[lanes] = {};
  Index l = 0;
  for (; l + lanes <= d; l += lanes)
    for (Index i = 0; i < lanes; ++i) sums[i] += term(a[l + i], b[l + i]);
  for (Index i = 0; l + i < d; ++i) sums[i] += term(a[l + i], b[l + i]);
  return add_lanes(sums);
}

[[gnu::always_inline]] inline double dot_body(const double* a, const double* b, Index d) {
  return lane_sum(
      a, b, d, [](double x, double y) __attribute__((always_inline)) { return x * y; });
}

/// One after the other: three sums at a time are not made vectors of.
[[gnu::always_inline]] inline Dots3 dot3_body(const double* a, const double* u, const double* v,
                                              const double* w, Index d) {
  return {dot_body(a, u, d), dot_body(a, v, d), dot_body(a, w, d)};
}

[[gnu::always_inline]] inline double distance_body(const double* a, const double* b, Index d) {
  return lane_sum(
      a, b, d, [](double x, double y) __attribute__((always_inline)) { return (x - y) * (x - y); });
}

struct Kernels {
  double (*dot)(const double*, const double*, Index);
  Dots3 (*dot3)(const double*, const double*, const double*, const double*, Index);
  double (*squared_distance)(const double*, const double*, Index);
};

double dot_base(const double* a, const double* b, Index d) {
  return dot_body(a, b, d);
}
Dots3 dot3_base(const double* a, const double* u, const double* v, const double* w, Index d) {
  return dot3_body(a, u, v, w, d);
}

double distance_base(const double* a, const double* b, Index d) {
  return distance_body(a, b, d);
}

[[FWSR_TARGET("avx2")]] double dot_avx2(const double* a, const double* b, Index d) {
  return dot_body(a, b, d);
}
[[FWSR_TARGET("avx2")]] Dots3 dot3_avx2(const double* a, const double* u, const double* v,
                                        const double* w, Index d) {
  return dot3_body(a, u, v, w, d);
}

[[FWSR_TARGET("avx2")]] double distance_avx2(const double* a, const double* b, Index d) {
  return distance_body(a, b, d);
}

const Kernels& kernels() {
  static const Kernels chosen = instructions() >= Instructions::avx2
                                    ? Kernels{dot_avx2, dot3_avx2, distance_avx2}
                                    : Kernels{dot_base, dot3_base, distance_base};
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
  return kernels().squared_distance(a, b, d);
}
double absolute_distance(const double* a, const double* b, Index d) {
  return lane_sum(a, b, d, [](double x, double y) { return x - y < 0 ? y - x : x - y; });
}
double weighted_dot(std::span<const double> weights, Index begin, const double* a, const double* b,
                    Index d) {
  if (weights.empty()) return dot(a, b, d);
  const double* const w = weights.data() + begin;
  double parts[8] = {};
  Index l = 0;
  for (; l + 8 <= d; l += 8)
    for (Index p = 0; p < 8; ++p) parts[p] += w[l + p] * (a[l + p] * b[l + p]);
  for (; l < d; ++l) parts[l % 8] += w[l] * (a[l] * b[l]);
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) +
         ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

}  // namespace fwsr
