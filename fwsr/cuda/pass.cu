// The pass over all points. Eight lanes share eight rows: each lane reads 16 bytes of every row at a time, copied ahead
// into a ring in shared memory that only it reads, so that many bytes are on their way while few registers wait. The sums
// of the eight lanes are folded so that each lane ends up with one point.
#include <cuda_pipeline.h>

#include "fwsr/cuda/load.cuh"
#include "fwsr/cuda/step.hpp"

namespace fwsr::cuda {

namespace {

constexpr int lanes = 8;   // of a row
constexpr int rows_each = 8;  // of a lane; 4 x 8 rows are the 32 points of a warp
constexpr int depth = 4;   // pieces of every row on their way

template <class T>
constexpr int unit = lanes * Piece<T>::count;  // features that the lanes of a row read at a time

/// Where feature l stands in shared memory: lanes read pairs of neighbouring numbers side by side.
template <class T>
__device__ int place_of(int l) {
  constexpr int each = Piece<T>::count;
  const int of_unit = l % unit<T>, lane = of_unit / each, in_piece = of_unit % each;
  return l - of_unit + in_piece / 2 * (2 * lanes) + lane * 2 + in_piece % 2;
}

/// What the products p = <row_i, z> become: <a_i, z>.
struct Finish {
  double inner, outer;
  __device__ double operator()(double p, double offset, double last) const {
    return outer * (inner * p - offset) + last;
  }
};

__device__ double score_of(const RunView& run, Index i, double square) {
  if (!run.prices) return square;
  const double price = run.prices[i];
  return price > 0 ? square * price : -INFINITY;
}

/// E and E^T after the step, a part of each by every block.
__device__ void update_e(const RunView& run, const RunState& s) {
  if (!run.e) return;
  const Index dim = run.rows.dim(), all = dim * dim;
  const double keep = 1 - s.gamma;
  for (Index at = blockIdx.x * blockDim.x + threadIdx.x; at < all; at += gridDim.x * blockDim.x) {
    const Index k = at / dim, l = at % dim;
    const double own = k == l ? s.gamma : 0.0;
    run.e[at] = keep * run.e[at] - s.factor * run.a[k] * run.w[l] + own;
    run.et[at] = keep * run.et[at] - s.factor * run.a[l] * run.w[k] + own;
  }
}

template <class T, bool ahead>
__global__ void __launch_bounds__(pass_threads) pass(const RunView run) {
  extern __shared__ __align__(16) unsigned char memory[];
  const RunState& s = *run.state;
  if (s.waits != Waits::no) return;
  const Rows& rows = run.rows;
  constexpr bool centred_first = std::is_same_v<T, double>;
  constexpr int each = Piece<T>::count, vectors = centred_first ? 5 : 3;
  const int padded = static_cast<int>(run.padded);

  auto* const u = reinterpret_cast<double*>(memory);
  for (int l = static_cast<int>(threadIdx.x); l < padded; l += pass_threads) {
    const int to = place_of<T>(l);
    for (int q = 0; q < 3; ++q) u[q * padded + to] = run.vectors[q * run.padded + l];
    if (centred_first) {
      u[3 * padded + to] = rows.weights && l < rows.features ? rows.weights[l] : 1.0;
      u[4 * padded + to] = rows.means && l < rows.features ? rows.means[l] : 0.0;
    }
  }
  auto* const ring = reinterpret_cast<Piece<T>*>(u + vectors * padded);
  update_e(run, s);
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % warp, part = lane % lanes;
  const int warps = static_cast<int>(gridDim.x) * (pass_threads / warp);
  const int own = static_cast<int>(blockIdx.x) * (pass_threads / warp) + static_cast<int>(threadIdx.x) / warp;
  const int units = padded / unit<T>;
  const Index pieces = (rows.features + each - 1) / each;
  const double gamma = s.gamma, length = s.length, keep = 1 - gamma;

  // What this lane reads: of rows first + 0 .. 7 of a group, piece `part` of every unit.
  const T* from[rows_each];
  const auto point_to = [&](Index group) {
    const Index first = group * group_points + lane / lanes * rows_each;
    for (int r = 0; r < rows_each; ++r)
      from[r] = row_of<T>(rows, first + r < rows.size ? first + r : rows.size - 1);
  };
  const auto slot = [&](int stage, int r) -> Piece<T>& {
    return ring[(stage * rows_each + r) * pass_threads + static_cast<int>(threadIdx.x)];
  };
  Index next_group = own;
  int next_unit = 0, next_stage = 0;
  const auto fetch = [&] {
    if (next_group < run.groups) {
      if (next_unit == 0) point_to(next_group);
      Index piece = next_unit * lanes + part;
      piece = piece < pieces ? piece : pieces - 1;  // beyond the last one the vectors are zero
      for (int r = 0; r < rows_each; ++r)
        __pipeline_memcpy_async(&slot(next_stage, r), from[r] + piece * each, 16);
      if (++next_unit == units) next_unit = 0, next_group += warps;
    }
    __pipeline_commit();
    next_stage = (next_stage + 1) % depth;
  };
  if (ahead)
    for (int f = 0; f < depth - 1; ++f) fetch();

  double largest = -INFINITY;
  int stage = 0;
  for (Index group = own; group < run.groups; group += warps) {
    const Index i = group * group_points + lane;  // the point that this lane ends up with
    const bool there = i < rows.size;
    double r = 0, c = 0, h = 0;
    if (there) r = run.r[i], c = run.c[i], h = run.h[i];
    double inner[centred_first ? rows_each : 1], mean[centred_first ? rows_each : 1];
    if constexpr (centred_first || !ahead) {
      if constexpr (!ahead) point_to(group);
      const Index first = group * group_points + lane / lanes * rows_each;
      if constexpr (centred_first)
        for (int k = 0; k < rows_each; ++k) {
          const Index row = first + k < rows.size ? first + k : rows.size - 1;
          inner[k] = inner_of(rows, row), mean[k] = mean_of(rows, row);
        }
    }
    double sums[rows_each][3] = {};
    for (int q = 0; q < units; ++q) {
      if constexpr (ahead) {
        __pipeline_wait_prior(depth - 2);
        fetch();
      }
      double with[vectors][each];
#pragma unroll
      for (int v = 0; v < vectors; ++v)
#pragma unroll
        for (int pair = 0; pair < each / 2; ++pair) {
          const double2 two = *reinterpret_cast<const double2*>(
              u + v * padded + q * unit<T> + pair * (2 * lanes) + part * 2);
          with[v][2 * pair] = two.x, with[v][2 * pair + 1] = two.y;
        }
#pragma unroll
      for (int k = 0; k < rows_each; ++k) {
        Piece<T> piece;
        if constexpr (ahead) {
          piece = slot(stage, k);
        } else {
#pragma unroll
          for (int x = 0; x < each; ++x) {
            const Index l = Index{q} * unit<T> + part * each + x;
            piece.x[x] = from[k][l < rows.features ? l : rows.features - 1];
          }
        }
#pragma unroll
        for (int x = 0; x < each; ++x) {
          double value = wide(piece.x[x]);
          if constexpr (centred_first) value = inner[k] * with[3][x] * value - with[4][x] - mean[k];
#pragma unroll
          for (int v = 0; v < 3; ++v) sums[k][v] = fma(value, with[v][x], sums[k][v]);
        }
      }
      if constexpr (ahead) stage = (stage + 1) % depth;
    }
    // Eight lanes with sums of eight rows each become eight lanes with the sum of one row each.
#pragma unroll
    for (int half = rows_each / 2; half > 0; half /= 2) {
      const bool upper = lane & half;
#pragma unroll
      for (int k = 0; k < half; ++k)
#pragma unroll
        for (int v = 0; v < 3; ++v) {
          const double kept = upper ? sums[k + half][v] : sums[k][v];
          const double sent = upper ? sums[k][v] : sums[k + half][v];
          sums[k][v] = kept + __shfl_xor_sync(all_lanes, sent, half);
        }
    }
    double score = -INFINITY;
    if (there) {
      const Finish finish{centred_first ? 1.0 : inner_of(rows, i), outer_of(rows, i)};
      const double x = finish(sums[0][0], s.offset[0], s.last[0]);
      const double y = finish(sums[0][1], s.offset[1], s.last[1]);
      const double z = finish(sums[0][2], s.offset[2], s.last[2]);
      const double bx = length * x;
      c = keep * keep * c + gamma * gamma * r - 2 * gamma * bx * y + bx * bx +
          2 * keep * (gamma * h - bx * z);
      h = keep * h + gamma * r - bx * y;
      run.c[i] = c, run.h[i] = h;
      score = score_of(run, i, c);
    }
    score = warp_max(score);
    if (lane == 0) run.group_best[group] = score;
    largest = fmax(largest, score);
  }
  __shared__ double room[pass_threads / warp];
  largest = block_max(largest, room);
  if (threadIdx.x == 0) run.block_best[blockIdx.x] = largest;
}

__global__ void __launch_bounds__(pass_threads) find_best(const RunView run) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const int warps = static_cast<int>(gridDim.x) * (pass_threads / warp);
  const int own = static_cast<int>(blockIdx.x) * (pass_threads / warp) + static_cast<int>(threadIdx.x) / warp;
  double largest = -INFINITY;
  for (Index group = own; group < run.groups; group += warps) {
    const Index i = group * group_points + lane;
    const double score = warp_max(i < run.rows.size ? score_of(run, i, run.c[i]) : -INFINITY);
    if (lane == 0) run.group_best[group] = score;
    largest = fmax(largest, score);
  }
  __shared__ double room[pass_threads / warp];
  largest = block_max(largest, room);
  if (threadIdx.x == 0) run.block_best[blockIdx.x] = largest;
}

template <class T>
int shared_bytes(const Rows& rows, Index padded, bool ahead) {
  const Index vectors = rows.centred_first() ? 5 : 3;
  const Index ring = ahead ? Index{depth} * rows_each * pass_threads * 16 : 0;
  return static_cast<int>(vectors * padded * 8 + ring);
}

/// The kernel for such points, with room for their vectors.
template <class T>
auto kernel_for(const Rows& rows) {
  auto* const kernel = rows.whole_pieces ? pass<T, true> : pass<T, false>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes<T>(rows, padded_features(rows), rows.whole_pieces)),
        "making room for a pass over the points");
  return kernel;
}

}  // namespace

Index padded_features(const Rows& rows) {
  const Index unit_numbers = lanes * 16 / bytes_of(rows.number);
  return (rows.features + unit_numbers - 1) / unit_numbers * unit_numbers;
}

int pass_blocks(const Device& device, const Rows& rows) {
  int each = 0;
  with_number(rows.number, [&]<class T>(T) {
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &each, kernel_for<T>(rows), pass_threads,
              static_cast<std::size_t>(
                  shared_bytes<T>(rows, padded_features(rows), rows.whole_pieces))),
          "planning a pass over the points");
  });
  const Index groups = (rows.size + group_points - 1) / group_points;
  return blocks_for(groups, pass_threads / warp, Index{each} * device.processors());
}

void launch_pass(const Device& device, const RunView& run) {
  with_number(run.rows.number, [&]<class T>(T) {
    auto* const kernel = run.rows.whole_pieces ? pass<T, true> : pass<T, false>;
    kernel<<<run.blocks, pass_threads, shared_bytes<T>(run.rows, run.padded, run.rows.whole_pieces),
             device.stream()>>>(run);
  });
  check_launch("passing over the points");
}

void launch_find_best(const Device& device, const RunView& run) {
  find_best<<<run.blocks, pass_threads, 0, device.stream()>>>(run);
  check_launch("looking for the best point");
}

}  // namespace fwsr::cuda
