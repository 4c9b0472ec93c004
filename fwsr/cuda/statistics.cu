#include "fwsr/cuda/statistics.hpp"

#include <limits>

#include "fwsr/cuda/load.cuh"

namespace fwsr::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp;

__device__ double power_near_inverse(double value) {
  if (!(value > 0)) return 1;
  const int power = -ilogb(value);
  return ldexp(1.0, power < -1000 ? -1000 : power > 1000 ? 1000 : power);
}

template <class T>
__global__ void __launch_bounds__(threads) row_sums(const Rows rows, const PointSums out) {
  const Index d = rows.features, round = Index{gridDim.x} * warps;
  for (Index i = Index{blockIdx.x} * warps + threadIdx.x / warp; i < rows.size; i += round) {
    const T* const row = row_of<T>(rows, i);
    const double inner = inner_of(rows, i);
    const auto value = [&](Index l) { return scaled(rows, inner, wide(row[l]), l); };
    if (out.largest) {
      double most = 0;
      bool good = true;
      for (Index l = threadIdx.x % warp; l < d; l += warp) {
        const double x = wide(row[l]);
        good = good && isfinite(x);
        most = fmax(most, fabs(x));
      }
      most = warp_max(good ? most : INFINITY);
      if (threadIdx.x % warp == 0) out.largest[i] = most;
    }
    // Twice over the row: deviations from the mean lose no digits to a large offset, and their own sum mends it.
    double mean = 0, mended = 0;
    if (out.mean) {
      mean = sum_over(d, value) / static_cast<double>(d);
      mended = sum_over(d, [&](Index l) { return value(l) - mean; }) / static_cast<double>(d);
      if (threadIdx.x % warp == 0) out.mean[i] = mean + mended;
    }
    if (out.squares) {
      const double sum = sum_over(d, [&](Index l) {
        const double x = value(l) - mean;
        return x * x;
      });
      if (threadIdx.x % warp == 0) out.squares[i] = sum - static_cast<double>(d) * mended * mended;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(threads)
    unit_norms(const Rows rows, double scale, double* inner) {
  const Index d = rows.features, round = Index{gridDim.x} * warps;
  for (Index i = Index{blockIdx.x} * warps + threadIdx.x / warp; i < rows.size; i += round) {
    const T* const row = row_of<T>(rows, i);
    double most = 0;
    for (Index l = threadIdx.x % warp; l < d; l += warp) most = fmax(most, fabs(wide(row[l])));
    const double near = scale * power_near_inverse(warp_max(most));  // keeps squares in range
    const double squares = sum_over(d, [&](Index l) {
      const double x = near * (rows.weights ? rows.weights[l] : 1.0) * wide(row[l]);
      return x * x;
    });
    if (threadIdx.x % warp == 0)
      inner[i] =
          squares > 0 ? fmin(near / sqrt(squares), std::numeric_limits<double>::max()) : near;
  }
}

__global__ void __launch_bounds__(threads)
    scan_block(const PointSums sums, Index n, Index features, bool centred, Index each, Scan* out) {
  __shared__ double room[warp];
  const Index first = blockIdx.x * each, last = first + each < n ? first + each : n;
  double largest = 0, other = 0, constant = 0, at = INFINITY, bad = INFINITY;
  for (Index i = first + threadIdx.x; i < last; i += threads) {
    const double x = sums.largest[i], all = static_cast<double>(features) * x * x;
    if (!isfinite(x)) {
      bad = fmin(bad, static_cast<double>(i));
      continue;
    }
    largest = fmax(largest, x);
    const double s = sums.squares[i];
    const bool one_value =
        x > 0 && features > 1 && (centred ? s <= 1e-24 * all : s >= (1 - 1e-12) * all);
    if (!one_value)
      other = fmax(other, x);
    else if (x > constant)
      constant = x, at = static_cast<double>(i);
  }
  const double most_constant = block_max(constant, room);
  largest = block_max(largest, room), other = block_max(other, room);
  bad = -block_max(-bad, room);
  at = -block_max(constant == most_constant ? -at : -INFINITY, room);
  if (threadIdx.x == 0)
    out[blockIdx.x] = {largest, other, most_constant,
                       most_constant > 0 ? static_cast<Index>(at) : -1,
                       isfinite(bad) ? static_cast<Index>(bad) : -1};
}

/// Rows of a chunk, feature by feature: a block has 32 features and 8 rows at a time.
constexpr int chunk_rows = 2048, tall = 8;
template <class Value>
__device__ void sum_chunk(Index n, Index width, double* partial, Value&& value) {
  __shared__ double room[tall][warp];
  const Index l = Index{blockIdx.y} * warp + threadIdx.x;
  const Index first = Index{blockIdx.x} * chunk_rows;
  const Index last = first + chunk_rows < n ? first + chunk_rows : n;
  double sum = 0;
  if (l < width)
    for (Index i = first + threadIdx.y; i < last; i += tall) sum += value(i, l);
  room[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || l >= width) return;
  for (int y = 1; y < tall; ++y) sum += room[y][threadIdx.x];
  partial[Index{blockIdx.x} * width + l] = sum;
}
template <class T>
__global__ void sum_features(const Rows rows, bool squared, double* partial) {
  sum_chunk(rows.size, rows.features, partial, [&](Index i, Index l) {
    const double x = scaled(rows, inner_of(rows, i), wide(row_of<T>(rows, i)[l]), l);
    return squared ? x * x : x;
  });
}
__global__ void sum_columns_of_chunk(const double* rows, Index count, Index d, double* partial) {
  sum_chunk(count, d, partial, [&](Index i, Index l) { return rows[i * d + l]; });
}
__global__ void add_chunks(const double* partial, Index chunks, Index d, double* out) {
  const Index l = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (l >= d) return;
  double sum = 0;
  for (Index b = 0; b < chunks; ++b) sum += partial[b * d + l];
  out[l] = sum;
}

constexpr Index part = 8192;  // of a sum
__global__ void __launch_bounds__(threads) sum_parts(const double* v, Index n, double* out) {
  __shared__ double room[warp];
  const Index first = Index{blockIdx.x} * part, last = first + part < n ? first + part : n;
  double sum = 0;
  for (Index i = first + threadIdx.x; i < last; i += threads) sum += v[i];
  sum = block_sum(sum, room);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(threads) max_parts(const double* v, Index n, double* out) {
  __shared__ double room[warp];
  const Index first = Index{blockIdx.x} * part, last = first + part < n ? first + part : n;
  double most = -INFINITY;
  for (Index i = first + threadIdx.x; i < last; i += threads) most = fmax(most, v[i]);
  most = block_max(most, room);
  if (threadIdx.x == 0) out[blockIdx.x] = most;
}
__global__ void find_beyond(const double* v, Index n, double limit, unsigned long long* first) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && v[i] > limit) atomicMin(first, static_cast<unsigned long long>(i));
}

template <class T, int count>
struct alignas(count * sizeof(T)) Some {
  T x[count];
};
/// Some lanes to a row, as many rows at a time as a block has threads for, some numbers to a lane.
template <class T, int lanes, int each>
__global__ void __launch_bounds__(threads)
    fill(const __grid_constant__ Rows rows, Index first, Index count, double* out) {
  constexpr int tall = threads / lanes;
  const int d = static_cast<int>(rows.features), dim = static_cast<int>(rows.dim());
  const int lane = static_cast<int>(threadIdx.x) % lanes,
            own = static_cast<int>(threadIdx.x) / lanes;
  for (Index at = Index{blockIdx.x} * tall + own; at < count; at += Index{gridDim.x} * tall) {
    const Index i = first + at;
    const T* const row = row_of<T>(rows, i);
    const double inner = inner_of(rows, i), mean = mean_of(rows, i), outer = outer_of(rows, i);
    double* const to = out + at * dim;
#pragma unroll 4
    for (int l = each * lane; l < d; l += each * lanes) {
      const auto numbers = *reinterpret_cast<const Some<T, each>*>(row + l);
      Some<double, each> points;
#pragma unroll
      for (int x = 0; x < each; ++x)
        points.x[x] = outer * (scaled(rows, inner, wide(numbers.x[x]), l + x) - mean);
      *reinterpret_cast<Some<double, each>*>(to + l) = points;
    }
    if (dim > d && lane == 0) to[d] = rows.eta;
  }
}
template <class T>
void gather(const Device& device, const Rows& rows, const double* squares, const Index* which,
            Index count, double* out) {
  const Index dim = rows.dim(), width = dim + own_numbers;
  for_cells(device, count, width, [=] __device__(Index at, Index l) {
    const Index i = which[at];
    out[at * width + l] = l < dim        ? feature_of<T>(rows, i, l)
                          : l == dim     ? squares[i]
                          : l == dim + 1 ? inner_of(rows, i)
                          : l == dim + 2 ? mean_of(rows, i)
                                         : outer_of(rows, i);
  });
}
template <class T>
void gather_stored(const Device& device, const Rows& rows, const Index* which, Index count,
                   double* out) {
  const Index d = rows.features;
  for_cells(device, count, d, [=] __device__(Index at, Index l) {
    out[at * d + l] = wide(row_of<T>(rows, which[at])[l]);
  });
}
__global__ void __launch_bounds__(threads)
    row_dots(const double* x, const double* y, Index count, Index d, double* out) {
  const Index round = Index{gridDim.x} * warps;
  for (Index i = Index{blockIdx.x} * warps + threadIdx.x / warp; i < count; i += round) {
    const double sum = sum_over(d, [&](Index l) { return x[i * d + l] * y[i * d + l]; });
    if (threadIdx.x % warp == 0) out[i] = sum;
  }
}

/// Parts of an array, joined on the host first to last.
template <class Kernel>
std::vector<double> parts_of(Device& device, const double* v, Index n, Kernel&& kernel) {
  const Index count = (n + part - 1) / part;
  Array<double> out(device, count);
  if (count > 0)
    kernel<<<static_cast<unsigned>(count), threads, 0, device.stream()>>>(v, n, out.get());
  check_launch("adding up");
  return out.get_all();
}

}  // namespace

void launch_row_sums(const Device& device, const Rows& rows, const PointSums& out) {
  if (rows.size == 0) return;
  with_number(rows.number, [&]<class T>(T) {
    row_sums<T><<<blocks_for(rows.size, warps, 1 << 16), threads, 0, device.stream()>>>(rows, out);
  });
  check_launch("looking at the points");
}

void launch_unit_norms(const Device& device, const Rows& rows, double scale, double* inner) {
  if (rows.size == 0) return;
  with_number(rows.number, [&]<class T>(T) {
    unit_norms<T><<<blocks_for(rows.size, warps, 1 << 16), threads, 0, device.stream()>>>(
        rows, scale, inner);
  });
  check_launch("finding norms");
}

Scan scan(Device& device, Index points, Index features, const PointSums& sums, bool centred) {
  const Index each = part, count = (points + each - 1) / each;
  Array<Scan> blocks(device, count);
  if (count > 0)
    scan_block<<<static_cast<unsigned>(count), threads, 0, device.stream()>>>(
        sums, points, features, centred, each, blocks.get());
  check_launch("looking at the points");
  Scan all;
  for (const Scan& b : blocks.get_all()) {
    all.largest = std::max(all.largest, b.largest);
    all.largest_other = std::max(all.largest_other, b.largest_other);
    if (b.constant > all.constant) all.constant = b.constant, all.first_constant = b.first_constant;
    if (all.first_bad < 0) all.first_bad = b.first_bad;
  }
  return all;
}

void launch_column_sums(const Device& device, const double* rows, Index count, Index d,
                        double* out) {
  if (d == 0) return;
  auto& own = const_cast<Device&>(device);
  const Index chunks = (count + chunk_rows - 1) / chunk_rows;
  Array<double> partial(own, chunks * d);
  const dim3 grid(static_cast<unsigned>(chunks), static_cast<unsigned>(blocks_for(d, warp)));
  if (chunks > 0)
    sum_columns_of_chunk<<<grid, dim3(warp, tall), 0, device.stream()>>>(rows, count, d,
                                                                         partial.get());
  add_chunks<<<blocks_for(d, threads), threads, 0, device.stream()>>>(partial.get(), chunks, d,
                                                                      out);
  check_launch("adding up columns");
}

std::vector<double> feature_sums(Device& device, const Rows& rows, bool squared) {
  const Index d = rows.features, chunks = (rows.size + chunk_rows - 1) / chunk_rows;
  Array<double> partial(device, chunks * d), out(device, d);
  const dim3 grid(static_cast<unsigned>(chunks), static_cast<unsigned>(blocks_for(d, warp)));
  with_number(rows.number, [&]<class T>(T) {
    if (chunks > 0)
      sum_features<T><<<grid, dim3(warp, tall), 0, device.stream()>>>(rows, squared, partial.get());
  });
  add_chunks<<<blocks_for(d, threads), threads, 0, device.stream()>>>(partial.get(), chunks, d,
                                                                      out.get());
  check_launch("adding up features");
  return out.get_all();
}

double sum_of(Device& device, const double* v, Index n) {
  double sum = 0;
  for (const double s : parts_of(device, v, n, sum_parts)) sum += s;
  return sum;
}
double largest_of(Device& device, const double* v, Index n) {
  double most = -std::numeric_limits<double>::infinity();
  for (const double s : parts_of(device, v, n, max_parts)) most = std::max(most, s);
  return most;
}
Index first_beyond(Device& device, const double* v, Index n, double limit) {
  const unsigned long long none = ~0ull;
  Array<unsigned long long> first(device, std::span(&none, 1));
  if (n > 0)
    find_beyond<<<static_cast<unsigned>((n + threads - 1) / threads), threads, 0,
                  device.stream()>>>(v, n, limit, first.get());
  check_launch("looking for a point");
  const unsigned long long found = first.get_all().front();
  return found == none ? -1 : static_cast<Index>(found);
}

void launch_scale(const Device& device, double* v, Index n, double times) {
  for_each(device, n, [=] __device__(Index i) { v[i] *= times; });
}
void launch_set(const Device& device, double* v, Index n, double value) {
  for_each(device, n, [=] __device__(Index i) { v[i] = value; });
}
void launch_drop(const Device& device, const DropLimits& limits, Index features, Index n,
                 const double* mean, double* outer, double* squares) {
  const double d = static_cast<double>(features);
  for_each(device, n, [=] __device__(Index i) {
    const double known = limits.rounding * mean[i];
    const bool drop = limits.by_limit ? squares[i] == 0 && fabs(mean[i]) > limits.limit
                                      : squares[i] <= known * known * d;
    if (drop) outer[i] = squares[i] = 0;
  });
}
void launch_normalize(const Device& device, Index n, double* outer, double* squares) {
  for_each(device, n, [=] __device__(Index i) {
    const bool some = squares[i] > 0;
    outer[i] = some ? 1 / sqrt(squares[i]) : 0.0;
    if (some) squares[i] = 1;
  });
}

void launch_fill(cudaStream_t stream, const Rows& rows, Index first, Index last, double* out) {
  const Index count = last - first;
  if (count <= 0) return;
  with_number(rows.number, [&]<class T>(T) {
    constexpr int few = 8;
    const auto start = [&](auto* kernel, int tall) {
      kernel<<<blocks_for(count, tall, 1 << 16), threads, 0, stream>>>(rows, first, count, out);
    };
    const bool pairs = rows.whole_pieces && rows.features % 2 == 0 && rows.dim() % 2 == 0;
    if (rows.features <= 2 * few)
      start(fill<T, few, 1>, threads / few);
    else if (pairs)
      start(fill<T, warp, 2>, warps);
    else
      start(fill<T, warp, 1>, warps);
  });
  check_launch("writing out points");
}
void launch_gather(const Device& device, const Rows& rows, const double* squares,
                   const Index* which, Index count, double* out) {
  with_number(rows.number,
              [&]<class T>(T) { gather<T>(device, rows, squares, which, count, out); });
}
void launch_gather_stored(const Device& device, const Rows& rows, const Index* which, Index count,
                          double* out) {
  with_number(rows.number, [&]<class T>(T) { gather_stored<T>(device, rows, which, count, out); });
}
void launch_row_dots(const Device& device, const double* x, const double* y, Index count, Index d,
                     double* out) {
  if (count == 0) return;
  row_dots<<<blocks_for(count, warps, 1 << 16), threads, 0, device.stream()>>>(x, y, count, d, out);
  check_launch("multiplying points");
}

}  // namespace fwsr::cuda
