#include "bench/exponentials.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

// -ffast-math lets the compiler call libmvec's vector exponentials here.
#define FWSR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))

namespace bench {

using fwsr::Index;

FWSR_CLONES void library_exp(const float* x, float* y, Index n) {
  for (Index i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}

FWSR_CLONES void library_exp(const double* x, double* y, Index n) {
  for (Index i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}

/// e^x = 2^m e^r with m whole and |r| <= ln 2 / 2; e^r by its series of degree 6.
FWSR_CLONES void polynomial_exp(const float* x, float* y, Index n) {
  for (Index i = 0; i < n; ++i) {
    const float t = x[i] * 1.44269504f;
    const auto m = static_cast<std::int32_t>(t - 0.5f);  // rounds for t <= 0
    const float r = x[i] - static_cast<float>(m) * 0.693147182f;
    float p = 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    y[i] = p * std::bit_cast<float>((m + 127) << 23);
  }
}

}  // namespace bench
