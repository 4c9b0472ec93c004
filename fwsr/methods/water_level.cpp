#include "fwsr/methods/water_level.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/linalg/processor.hpp"
#include "fwsr/linalg/target.hpp"

namespace fwsr {

namespace {

constexpr Index lanes = 8;
constexpr int newton_steps = 100;

/// Of the entries of `a` above s: how many, sum of a - s, and sum of squares.
struct Excess {
  double count = 0, sum = 0, squares = 0;
};

// A vector type says what the compiler does not find by itself. Entry j is in sum j mod 8 on every
// instruction set, so that the bits are the same on all of them.
using Lanes [[gnu::vector_size(lanes / 2 * sizeof(double))]] = double;
using Flags [[gnu::vector_size(lanes / 2 * sizeof(double))]] = long long;

struct Sums {
  Lanes count = {}, sum = {}, squares = {};

  [[gnu::always_inline]] void add(const double* a, double s) {
    Lanes v;
    __builtin_memcpy(&v, a, sizeof v);
    const Lanes more = v - s, one = Lanes{} + 1.0;
    const Flags above = (Flags)(more > Lanes{});  // all bits of those
    const Lanes part = (Lanes)((Flags)more & above);
    count += (Lanes)((Flags)one & above);
    sum += part;
    squares += part * part;
  }
};

[[gnu::always_inline]] inline Excess excess_body(const double* a, Index n, double s) {
  Sums even, odd;
  Index j = 0;
  for (; j + lanes <= n; j += lanes) {
    even.add(a + j, s);
    odd.add(a + j + lanes / 2, s);
  }
  if (j < n) {
    double rest[lanes];
    std::fill_n(rest, lanes, s);
    std::copy(a + j, a + n, rest);
    even.add(rest, s);
    odd.add(rest + lanes / 2, s);
  }
  Excess all;
  for (Index l = 0; l < lanes / 2; ++l) {
    all.count += even.count[l] + odd.count[l];
    all.sum += even.sum[l] + odd.sum[l];
    all.squares += even.squares[l] + odd.squares[l];
  }
  return all;
}

Excess excess_base(const double* a, Index n, double s) {
  return excess_body(a, n, s);
}
[[FWSR_TARGET("avx2")]] Excess excess_avx2(const double* a, Index n, double s) {
  return excess_body(a, n, s);
}
Excess excess(const double* a, Index n, double s) {
  static const auto chosen = instructions() >= Instructions::avx2 ? excess_avx2 : excess_base;
  return chosen(a, n, s);
}

}  // namespace

double largest(const double* a, Index n) {
  double most[lanes];
  std::fill_n(most, lanes, a[0]);
  Index j = 0;
  for (; j + lanes <= n; j += lanes)
    for (Index l = 0; l < lanes; ++l) most[l] = a[j + l] > most[l] ? a[j + l] : most[l];
  return std::max(*std::max_element(most, most + lanes),
                  *std::max_element(a + std::min(j, n - 1), a + n));
}

// The norm is convex and falling in s, so that Newton's steps come from below, after the first.
double level(const double* a, Index n, double mass, bool infinite, double guess) {
  const double top = largest(a, n);
  double s = guess < top ? std::max(guess, top - mass) : top - mass;
  double count = 0;
  for (int step = 0; step < newton_steps; ++step) {
    const Excess e = excess(a, n, s);
    if (infinite && e.count == count) break;  // the same entries: s is exact
    count = e.count;
    const double norm = infinite ? e.sum : std::sqrt(e.squares);
    const double slope = infinite ? e.count : e.sum / norm;
    const double next = std::max(s + (norm - mass) / slope, top - mass);
    if (next == s || (step > 0 && next < s)) break;
    s = next;
  }
  return s;
}

}  // namespace fwsr
