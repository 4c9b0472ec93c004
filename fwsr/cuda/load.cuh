// How kernels read points (rows.hpp): pieces of 16 bytes, and the numbers in them. Sums over lanes in one fixed order.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "fwsr/cuda/device.hpp"
#include "fwsr/cuda/rows.hpp"

namespace fwsr::cuda {

inline constexpr int warp = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

__device__ inline double wide(float x) {
  return static_cast<double>(x);
}
__device__ inline double wide(double x) {
  return x;
}
__device__ inline double wide(__half x) {
  return static_cast<double>(__half2float(x));
}
__device__ inline double wide(__nv_bfloat16 x) {
  return static_cast<double>(__bfloat162float(x));
}
template <class T>
requires std::is_integral_v<T> __device__ inline double wide(T x) {
  return static_cast<double>(x);
}

/// 16 bytes of a row.
template <class T>
struct alignas(16) Piece {
  static constexpr int count = 16 / static_cast<int>(sizeof(T));
  T x[count];
};

template <class T>
__device__ inline const T* row_of(const Rows& rows, Index i) {
  return static_cast<const T*>(rows.data) + (rows.source ? rows.source[i] : i) * rows.stride;
}
__device__ inline double inner_of(const Rows& rows, Index i) {
  return rows.inner ? rows.inner[i] : rows.every_inner;
}
__device__ inline double mean_of(const Rows& rows, Index i) {
  return rows.mean ? rows.mean[i] : 0.0;
}
__device__ inline double outer_of(const Rows& rows, Index i) {
  return rows.outer ? rows.outer[i] : rows.every_outer;
}

/// inner weights x - means: feature l of a point before its own mean is taken away.
__device__ inline double scaled(const Rows& rows, double inner, double x, Index l) {
  return inner * (rows.weights ? rows.weights[l] : 1.0) * x - (rows.means ? rows.means[l] : 0.0);
}
/// Feature l of point i, eta behind the last.
template <class T>
__device__ inline double feature_of(const Rows& rows, Index i, Index l) {
  if (l >= rows.features) return rows.eta;
  return outer_of(rows, i) *
         (scaled(rows, inner_of(rows, i), wide(row_of<T>(rows, i)[l]), l) - mean_of(rows, i));
}

__device__ inline double feature_at(const Rows& rows, Index i, Index l) {
  switch (rows.number) {
    case Number::float32:
      return feature_of<float>(rows, i, l);
    case Number::float64:
      return feature_of<double>(rows, i, l);
    case Number::float16:
      return feature_of<__half>(rows, i, l);
    case Number::uint8:
      return feature_of<std::uint8_t>(rows, i, l);
    case Number::int8:
      return feature_of<std::int8_t>(rows, i, l);
    case Number::uint16:
      return feature_of<std::uint16_t>(rows, i, l);
    case Number::int16:
      return feature_of<std::int16_t>(rows, i, l);
    default:
      return feature_of<__nv_bfloat16>(rows, i, l);
  }
}

/// The sum over the lanes of a warp, told to all.
__device__ inline double warp_sum(double v) {
  for (int far = warp / 2; far > 0; far /= 2) v += __shfl_xor_sync(all_lanes, v, far);
  return v;
}
__device__ inline double warp_max(double v) {
  for (int far = warp / 2; far > 0; far /= 2) v = fmax(v, __shfl_xor_sync(all_lanes, v, far));
  return v;
}

/// The sum, or the largest, over a block, told to all. `room`: a number for each warp.
template <class Join>
__device__ inline double block_join(double v, double* room, Join&& join) {
  const int lane = static_cast<int>(threadIdx.x) % warp, own = static_cast<int>(threadIdx.x) / warp;
  const int warps = static_cast<int>(blockDim.x) / warp;
  const auto over_lanes = [&] {
    for (int far = warp / 2; far > 0; far /= 2) v = join(v, __shfl_xor_sync(all_lanes, v, far));
  };
  over_lanes();
  __syncthreads();  // who was here before has read his numbers
  if (lane == 0) room[own] = v;
  __syncthreads();
  v = lane < warps ? room[lane] : join.nothing;
  over_lanes();
  return v;
}
struct Sum {
  static constexpr double nothing = 0;
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct Largest {
  static constexpr double nothing = -INFINITY;
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};
__device__ inline double block_sum(double v, double* room) {
  return block_join(v, room, Sum{});
}
__device__ inline double block_max(double v, double* room) {
  return block_join(v, room, Largest{});
}

/// The sum over lanes of f(e), e = 0 .. count, told to all.
template <class F>
__device__ inline double sum_over(Index count, F&& f) {
  double sum = 0;
#pragma unroll 4
  for (Index e = threadIdx.x % warp; e < count; e += warp) sum += f(e);
  return warp_sum(sum);
}

/// The first of the nearest (linalg/pass.hpp), told to all lanes: squares_e - 2 s_e, told apart to within rounding of its
/// terms.
__device__ inline int nearest_of(const double* s, const double* squares, Index k, double rounding) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  double least = INFINITY, terms = 0;
  const auto far = [&](Index e) { return squares[e] - 2 * s[e]; };
  for (Index e = lane; e < k; e += warp) {
    least = fmin(least, far(e));
    terms = fmax(terms, fabs(squares[e]) + fabs(2 * s[e]));
  }
  least = -warp_max(-least), terms = warp_max(terms);
  const double enough = least + rounding * terms;
  for (Index first = 0; first < k; first += warp) {
    const Index e = first + lane;
    const unsigned near = __ballot_sync(all_lanes, e < k && (far(e) <= enough || far(e) == least));
    if (near) return static_cast<int>(first) + __ffs(static_cast<int>(near)) - 1;
  }
  return 0;
}

/// work(T{}) for the type in which the numbers are stored.
template <class Work>
void with_number(Number number, Work&& work) {
  switch (number) {
    case Number::float32:
      return work(float{});
    case Number::float64:
      return work(double{});
    case Number::float16:
      return work(__half{});
    case Number::bfloat16:
      return work(__nv_bfloat16{});
    case Number::uint8:
      return work(std::uint8_t{});
    case Number::int8:
      return work(std::int8_t{});
    case Number::uint16:
      return work(std::uint16_t{});
    case Number::int16:
      return work(std::int16_t{});
  }
}

inline int blocks_for(Index work, Index each, Index most = 1 << 20) {
  const Index blocks = (work + each - 1) / each;
  return static_cast<int>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/// After a kernel was launched.
inline void check_launch(const char* doing) {
  check(cudaGetLastError(), doing);
}

/// f(i), i = 0 .. n, in no order.
template <class F>
__global__ void for_each_kernel(Index n, F f) {
  for (Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += Index{gridDim.x} * blockDim.x)
    f(i);
}
template <class F>
void for_each(const Device& device, Index n, F f) {
  constexpr int threads = 256;
  if (n == 0) return;
  for_each_kernel<<<blocks_for(n, threads, 1 << 16), threads, 0, device.stream()>>>(n, f);
  check_launch("working on numbers of the points");
}

/// f(i, l), i = 0 .. rows, l = 0 .. columns: neighbouring threads have neighbouring columns. No divisions, which would
/// take longer than what is done with a number.
template <class F>
__global__ void for_cells_kernel(Index rows, Index columns, F f) {
  for (Index i = Index{blockIdx.x} * blockDim.y + threadIdx.y; i < rows;
       i += Index{gridDim.x} * blockDim.y)
    for (Index l = threadIdx.x; l < columns; l += blockDim.x) f(i, l);
}
template <class F>
void for_cells(const Device& device, Index rows, Index columns, F f) {
  if (rows == 0 || columns == 0) return;
  const unsigned wide = columns > 64 ? 128 : columns > 16 ? 32 : 8, tall = 256 / wide;
  for_cells_kernel<<<blocks_for(rows, tall, 1 << 16), dim3(wide, tall), 0, device.stream()>>>(
      rows, columns, f);
  check_launch("working on rows of points");
}

}  // namespace fwsr::cuda
