#include "bench/memory_reads.hpp"

namespace bench {

namespace {

using fwsr::Index;
constexpr Index step = 64;  // floats: four cache lines

}  // namespace

__attribute__((target_clones("avx512f", "avx2", "default"))) float read_all(const float* p, Index n,
                                                                            Walk walk) {
  const Index part = n / walk.streams / step * step;
  const Index ahead = walk.ahead / static_cast<Index>(sizeof(float));
  float sums[step] = {};
  for (Index i = 0; i < part; i += step) {
    for (Index s = 0; s < walk.streams; ++s) {
      const float* q = p + s * part + i;
      if (ahead > 0)
        for (Index l = 0; l < step; l += 16) __builtin_prefetch(q + ahead + l);
      for (Index l = 0; l < step; ++l) sums[l] += q[l];
    }
  }
  float sum = 0;
  for (const float s : sums) sum += s;
  return sum;
}

}  // namespace bench
