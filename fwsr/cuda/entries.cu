#include "fwsr/cuda/entries.hpp"

#include <algorithm>
#include <limits>

#include "fwsr/cuda/load.cuh"

namespace fwsr::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp;

// ----------------------------------------------------------------------------------------- the values of the kernel

/// work(i, l) for a block of a matrix, in squares of 32 columns and 8 rows: what is written on the other side of the
/// diagonal is then whole sectors of memory, too.
template <class Work>
__global__ void __launch_bounds__(threads) for_block_kernel(Index rows, Index columns, Work work) {
  for (Index i = Index{blockIdx.y} * warps + threadIdx.y; i < rows; i += Index{gridDim.y} * warps)
    for (Index l = Index{blockIdx.x} * warp + threadIdx.x; l < columns;
         l += Index{gridDim.x} * warp)
      work(i, l);
}
template <class Work>
void for_block(const Device& device, Index rows, Index columns, Work work) {
  if (rows == 0 || columns == 0) return;
  const dim3 grid(static_cast<unsigned>(blocks_for(columns, warp, 1 << 12)),
                  static_cast<unsigned>(blocks_for(rows, warps, 1 << 12)));
  for_block_kernel<<<grid, dim3(warp, warps), 0, device.stream()>>>(rows, columns, work);
  check_launch("computing the kernel");
}

/// base^degree by repeated squaring, as on the processor.
__device__ double raised(double base, int degree) {
  double power = 1;
  for (int rest = degree; rest > 0; rest /= 2) {
    if (rest % 2) power *= base;
    if (rest > 1) base *= base;
  }
  return power;
}

/// ||a_i - a_j||^2 from norms; from differences where both are far from the middle (kernel/middle_row.hpp).
__device__ double squared_distance(const EntryFormula& f, const PlainRows& points, double product,
                                   Index i, Index j) {
  // Below so many units of rounding of the norms there may be no distance at all.
  constexpr double units = 16 * std::numeric_limits<double>::epsilon();
  const double one = points.squares[i], other = points.squares[j], norms = one + other;
  if (f.gamma * one > f.far && f.gamma * other > f.far) {
    const double *a = points.rows + i * points.d, *b = points.rows + j * points.d;
    double sum = 0;
    for (Index l = 0; l < points.d; ++l) sum = fma(a[l] - b[l], a[l] - b[l], sum);
    return sum;
  }
  const double squared = norms - (product + product);
  return squared <= units * norms ? 0.0 : squared;
}

/// K_ij from the inner product of i and j, or from their distance.
__device__ double entry(const EntryFormula& f, const PlainRows& points, double value, Index i,
                        Index j) {
  if (i == j) return points.diagonal[i];
  switch (f.of) {
    case EntryFormula::Of::products:
      return value;
    case EntryFormula::Of::powers:
      return f.factor * raised(f.gamma * value + f.coef0, f.degree) + f.extra;
    case EntryFormula::Of::squared_distances:
      value = squared_distance(f, points, value, i, j);
      break;
    case EntryFormula::Of::absolute_distances:
      break;
  }
  return f.factor * exp(-(f.gamma * value)) + f.extra;
}

/// |a_i - b_j| summed over features, 32 of these at a time in shared memory: a block of 8 warps has 32 x 32 results, and
/// a thread four of them.
__global__ void __launch_bounds__(threads)
    absolute_distances_kernel(PlainRows points, EntryBlock block, double* out) {
  constexpr int each = warp / warps;
  __shared__ double a[warp][warp + 1], b[warp][warp + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Index columns = points.n - block.column;
  const Index row = Index{blockIdx.y} * warp, column = Index{blockIdx.x} * warp;
  double sums[each] = {};
  for (Index from = 0; from < points.d; from += warp) {
    for (int r = y; r < warp; r += warps) {
      const bool feature = from + x < points.d;
      a[r][x] = feature && row + r < block.rows
                    ? points.rows[(block.first + row + r) * points.d + from + x]
                    : 0.0;
      b[r][x] = feature && column + r < columns
                    ? points.rows[(block.column + column + r) * points.d + from + x]
                    : 0.0;
    }
    __syncthreads();
    for (int l = 0; l < warp; ++l) {
      const double other = b[x][l];
      for (int r = 0; r < each; ++r) sums[r] += fabs(a[y + r * warps][l] - other);
    }
    __syncthreads();
  }
  for (int r = 0; r < each; ++r) {
    const Index i = row + y + r * warps, l = column + x;
    if (i < block.rows && l < columns) out[i * columns + l] = sums[r];
  }
}

// -------------------------------------------------------------------------------------------------- rows of entries

/// K x of `count` vectors at a time: a warp has four rows, each lane every 32nd column of them. A sum is added in the same
/// order whatever stands beside it.
template <int count, class T>
__global__ void __launch_bounds__(threads)
    products_kernel(EntryRows<T> k, const double* x, double* out, Index stride) {
  constexpr int rows_each = 4;
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const Index round = Index{gridDim.x} * warps * rows_each;
  for (Index first = (Index{blockIdx.x} * warps + threadIdx.x / warp) * rows_each; first < k.rows;
       first += round) {
    const T* row[rows_each];
#pragma unroll
    for (int r = 0; r < rows_each; ++r)  // behind the last row there is the last row
      row[r] = k.k + (first + r < k.rows ? first + r : k.rows - 1) * k.n;
    double sums[rows_each][count] = {};
#pragma unroll 2
    for (Index l = lane; l < k.n; l += warp) {
      double entries[rows_each];
#pragma unroll
      for (int r = 0; r < rows_each; ++r) entries[r] = wide(row[r][l]);
#pragma unroll
      for (int c = 0; c < count; ++c) {
        const double own = x[c * k.n + l];
#pragma unroll
        for (int r = 0; r < rows_each; ++r) sums[r][c] = fma(entries[r], own, sums[r][c]);
      }
    }
#pragma unroll
    for (int r = 0; r < rows_each; ++r)
#pragma unroll
      for (int c = 0; c < count; ++c) {
        const double sum = warp_sum(sums[r][c]);
        if (lane == 0 && first + r < k.rows) out[c * stride + first + r] = sum;
      }
  }
}

/// work(i) for every row, by one warp each.
template <class Work>
__global__ void __launch_bounds__(threads) for_rows_kernel(Index rows, Work work) {
  const Index round = Index{gridDim.x} * warps;
  for (Index i = Index{blockIdx.x} * warps + threadIdx.x / warp; i < rows; i += round) work(i);
}
template <class Work>
void for_rows(const Device& device, Index rows, Work work) {
  if (rows == 0) return;
  for_rows_kernel<<<blocks_for(rows, warps, 1 << 16), threads, 0, device.stream()>>>(rows, work);
  check_launch("adding up rows of the kernel");
}

__device__ bool first_lane() {
  return threadIdx.x % warp == 0;
}

}  // namespace

void launch_absolute_distances(const Device& device, const PlainRows& points,
                               const EntryBlock& block, double* out) {
  const Index columns = points.n - block.column;
  if (block.rows == 0 || columns == 0) return;
  const dim3 grid(static_cast<unsigned>((columns + warp - 1) / warp),
                  static_cast<unsigned>((block.rows + warp - 1) / warp));
  absolute_distances_kernel<<<grid, dim3(warp, warps), 0, device.stream()>>>(points, block, out);
  check_launch("computing distances");
}

void launch_entries(const Device& device, const EntryFormula& formula, const PlainRows& points,
                    const EntryBlock& block, double* values) {
  const Index columns = points.n - block.column;
  for_block(device, block.rows, columns, [=] __device__(Index i, Index l) {
    double& value = values[i * columns + l];
    value = entry(formula, points, value, block.first + i, block.column + l);
  });
}

template <class T>
void launch_entries_to(const Device& device, const EntryFormula& formula, const PlainRows& points,
                       const EntryBlock& block, const double* values, T* k) {
  const Index columns = points.n - block.column, n = points.n;
  for_block(device, block.rows, columns, [=] __device__(Index i, Index l) {
    const Index row = block.first + i, column = block.column + l;
    if (column < row) return;
    const T value = static_cast<T>(entry(formula, points, values[i * columns + l], row, column));
    k[row * n + column] = value;
    k[column * n + row] = value;
  });
}

template <class T>
void launch_place(const Device& device, const TilePlace& place, const T* tile, T* k) {
  for_block(device, place.rows, place.columns, [=] __device__(Index i, Index l) {
    const Index row = place.first_row + i, column = place.first_column + l;
    const T value = tile[i * place.columns + l];
    k[row * place.n + column] = value;
    if (column > row) k[column * place.n + row] = value;
  });
}

template <class T>
void launch_products(const Device& device, const EntryRows<T>& k, const double* x, Index count,
                     double* out, Index stride) {
  if (k.rows == 0) return;
  const int blocks = blocks_for(k.rows, 4 * warps, 1 << 16);
  Index done = 0;
  const auto some = [&](auto* kernel, Index vectors) {
    while (count - done >= vectors) {
      kernel<<<blocks, threads, 0, device.stream()>>>(k, x + done * k.n, out + done * stride,
                                                      stride);
      check_launch("multiplying by the kernel");
      done += vectors;
    }
  };
  some(products_kernel<8, T>, 8);
  some(products_kernel<4, T>, 4);
  some(products_kernel<2, T>, 2);
  some(products_kernel<1, T>, 1);
}

template <class T>
void launch_squares(const Device& device, const EntryRows<T>& k, const double* weights,
                    double* out) {
  for_rows(device, k.rows, [=] __device__(Index i) {
    const T* const row = k.k + i * k.n;
    const double sum = sum_over(k.n, [&](Index l) {
      const double entry = wide(row[l]);
      return (weights ? weights[l] : 1.0) * (entry * entry);
    });
    if (first_lane()) out[i] = sum;
  });
}

template <class T>
void launch_left_sums(const Device& device, const EntryRows<T>& k, const double* left,
                      const double* weights, double* squares, double* with_k) {
  for_rows(device, k.rows, [=] __device__(Index i) {
    const double* const own = left + i * k.n;
    const T* const row = k.k + i * k.n;
    const double sum =
        sum_over(k.n, [&](Index l) { return (weights ? weights[l] : 1.0) * (own[l] * own[l]); });
    if (first_lane()) squares[i] = sum;
    if (!with_k) return;
    const double with = sum_over(
        k.n, [&](Index l) { return (weights ? weights[l] : 1.0) * (own[l] * wide(row[l])); });
    if (first_lane()) with_k[i] = with;
  });
}

template <class T>
void launch_widen(const Device& device, const EntryRows<T>& k, double* out) {
  for_block(device, k.rows, k.n,
            [=] __device__(Index i, Index l) { out[i * k.n + l] = wide(k.k[i * k.n + l]); });
}

template <class T>
void launch_entries_at(const Device& device, const T* k, Index n, const EntryPlaces& places,
                       double* out) {
  for_block(device, places.row_count, places.column_count, [=] __device__(Index i, Index l) {
    out[i * places.column_count + l] = wide(k[places.rows[i] * n + places.columns[l]]);
  });
}

#define FWSR_ENTRIES(T)                                                                            \
  template void launch_entries_to(const Device&, const EntryFormula&, const PlainRows&,            \
                                  const EntryBlock&, const double*, T*);                           \
  template void launch_place(const Device&, const TilePlace&, const T*, T*);                       \
  template void launch_products(const Device&, const EntryRows<T>&, const double*, Index, double*, \
                                Index);                                                            \
  template void launch_squares(const Device&, const EntryRows<T>&, const double*, double*);        \
  template void launch_left_sums(const Device&, const EntryRows<T>&, const double*, const double*, \
                                 double*, double*);                                                \
  template void launch_widen(const Device&, const EntryRows<T>&, double*);                         \
  template void launch_entries_at(const Device&, const T*, Index, const EntryPlaces&, double*);
FWSR_ENTRIES(float)
FWSR_ENTRIES(double)
#undef FWSR_ENTRIES

}  // namespace fwsr::cuda
