#include "fwsr/cuda/kernel.hpp"

#include "fwsr/cuda/load.cuh"

namespace fwsr::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp;

/// work(i) for every row, by one warp each.
template <class Work>
__global__ void __launch_bounds__(threads) for_rows_kernel(Index count, Work work) {
  const Index round = Index{gridDim.x} * warps;
  for (Index i = Index{blockIdx.x} * warps + threadIdx.x / warp; i < count; i += round) work(i);
}
template <class Work>
void for_rows(const Device& device, Index count, Work work) {
  if (count == 0) return;
  for_rows_kernel<<<blocks_for(count, warps, 1 << 16), threads, 0, device.stream()>>>(count, work);
  check_launch("working on rows of points");
}

__device__ bool first_lane() {
  return threadIdx.x % warp == 0;
}

__device__ double distance(const double* a, const double* b, Index d) {
  return sum_over(d, [&](Index l) {
    const double x = a[l] - b[l];
    return x * x;
  });
}

}  // namespace

void launch_shift(const Device& device, const double* shift, Index count, Index d, double* rows,
                  double* squares) {
  for_rows(device, count, [=] __device__(Index i) {
    double* const own = rows + i * d;
    const double square = sum_over(d, [&](Index l) {
      const double x = own[l] - shift[l];
      own[l] = x;
      return x * x;
    });
    if (first_lane()) squares[i] = square;
  });
}

void launch_gaussians(const Device& device, const Gaussians& z, Index count, Index few, double* v) {
  for_cells(device, count, few, [=] __device__(Index i, Index e) {
    double& value = v[i * few + e];
    const double square = z.squares[i] + z.of_few[e] - 2 * value;
    value = z.times * exp(-z.gamma * fmax(0.0, square));
  });
}

void launch_store(const Device& device, const double* rows, Index count, Index d, Number number,
                  Index stride, void* out) {
  for_cells(device, count, stride, [=] __device__(Index i, Index l) {
    const double x = l < d ? rows[i * d + l] : 0.0;
    if (number == Number::float32)
      static_cast<float*>(out)[i * stride + l] = static_cast<float>(x);
    else
      static_cast<double*>(out)[i * stride + l] = x;
  });
}

void launch_nearest(const Device& device, const double* v, const double* squares, Index count,
                    Index few, double rounding, int* nearest) {
  for_rows(device, count, [=] __device__(Index i) {
    const int near = nearest_of(v + i * few, squares, few, rounding);
    if (first_lane()) nearest[i] = near;
  });
}

void launch_memberships(const Device& device, const double* rows, const double* few, Index count,
                        Index k, Index d, double gamma, const int* groups, double* s) {
  for_rows(device, count, [=] __device__(Index i) {
    const Index p = groups[i];
    const double own = gamma > 0 ? exp(-gamma * distance(rows + i * d, few + p * d, d)) : 1.0;
    for (Index e = threadIdx.x % warp; e < k; e += warp) s[i * k + e] = e == p ? own : 0.0;
  });
}

void launch_gains(const Device& device, const double* rows, const Means& z, Index count, Index d,
                  const int* groups, double* gains) {
  for_rows(device, count, [=] __device__(Index i) {
    const Index p = groups[i];
    const double far = distance(rows + i * d, z.means + p * d, d);
    if (first_lane()) gains[i] = z.weight[p] * (z.at[p] - far);
  });
}

void launch_left(const Device& device, double all, Index n, double* squares) {
  for_each(device, n, [=] __device__(Index i) { squares[i] = fmax(0.0, all - squares[i]); });
}

}  // namespace fwsr::cuda
