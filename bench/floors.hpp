// What this machine can do with a plain loop or BLAS: the rates that the times of the library are held
// against. Every rate
// is that of the best of several ways to do the same thing, on all threads at once: of each way the
// median of several tries.
#pragma once

#include <string>
#include <vector>

#include "fwsr/base/index.hpp"

namespace bench {

using fwsr::Index;

struct Rate {
  double value = 0;  // per second, all threads together
  std::string way;   // the one that was best
};

/// Seconds on a clock that only goes forward.
double now();

/// Bytes read per second from `p`.
Rate read_rate(const float* p, Index count, int threads);

/// Flops per second of the lower half of A^T A, counted as rows x d^2; A in blocks of rows x d.
template <class T>
Rate syrk_rate(Index d, int threads);

/// Flops per second of (rows x d) times (d x d), and of the block times another block's transpose;
/// counted as two for a multiplication and an addition.
template <class T>
Rate gemm_rate(Index d, int threads);

/// Flops per second of many small Gram matrices: for each problem of n rows x d the lower half of
/// A A^T, counted as n^2 d. Walks over the given numbers, so that reading them counts.
Rate small_gram_rate(const float* p, Index problems, Index n, Index d, int threads);

/// Exponentials per second on numbers in cache.
template <class T>
Rate exp_rate(int threads);

/// Bytes per second that zlib inflates from a gzip file already in memory; one thread, as the format
/// demands. `bytes`, where given, is set to the inflated size.
Rate inflate_rate(const std::string& path, double* bytes = nullptr);

/// Bytes per second of pread from a file in the page cache.
Rate pread_rate(const std::string& path, int threads);

/// Clusters of points in float32: a centre per cluster, and a number of own for every entry.
std::vector<float> make_points(Index n, Index d, Index clusters, int threads);

}  // namespace bench
