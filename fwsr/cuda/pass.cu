// The pass over all points. Some lanes share some rows: each lane reads 16 bytes of every row at a time, copied ahead
// into a ring in shared memory that only it reads, so that many bytes are on their way while few registers wait. The sums
// of the lanes are folded so that each of 32 lanes ends up with one of 32 points.
#include <cuda_pipeline.h>

#include "fwsr/cuda/load.cuh"
#include "fwsr/cuda/step.hpp"

namespace fwsr::cuda {

namespace {

/// How a warp shares 32 rows: `lanes` lanes to a row, `rows` rows to a lane, `depth` pieces of each on their way.
template <int lanes_, int rows_, int depth_>
struct Share {
  static constexpr int lanes = lanes_, rows = rows_, depth = depth_;
  static constexpr int batch = warp / lanes * rows;  // rows at a time
  static constexpr int batches = group_points / batch;
  static constexpr int holders = lanes / rows;  // lanes that end up with the same row
};

template <class T, class S>
constexpr int unit = S::lanes* Piece<T>::count;  // features that the lanes of a row read at a time

/// Where feature l stands in shared memory: lanes read pairs of neighbouring numbers side by side.
template <class T, class S>
__device__ int place_of(int l) {
  constexpr int each = Piece<T>::count;
  const int of_unit = l % unit<T, S>, lane = of_unit / each, in_piece = of_unit % each;
  return l - of_unit + in_piece / 2 * (2 * S::lanes) + lane * 2 + in_piece % 2;
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
  const Index dim = run.rows.dim();
  const double keep = 1 - s.gamma;
  for (Index k = blockIdx.x; k < dim; k += gridDim.x)
    for (Index l = threadIdx.x; l < dim; l += blockDim.x) {
      const Index at = k * dim + l;
      const double own = k == l ? s.gamma : 0.0;
      run.e[at] = keep * run.e[at] - s.factor * run.a[k] * run.w[l] + own;
      run.et[at] = keep * run.et[at] - s.factor * run.a[l] * run.w[k] + own;
    }
}

/// Blocks that a processor of the card has registers for: left to itself the compiler takes more of them for halves, and
/// there is room for two.
template <class T>
constexpr int blocks_at_once = sizeof(T) == 2 || sizeof(T) == 4 ? 3 : 2;

template <class T, class S, bool ahead>
__global__ void __launch_bounds__(pass_threads, blocks_at_once<T>) pass(const RunView run) {
  extern __shared__ __align__(
      128) unsigned char memory[];  // else a row of the ring would straddle banks
  const Rows& rows = run.rows;
  constexpr bool centred_first = std::is_same_v<T, double>;
  constexpr int each = Piece<T>::count, vectors = centred_first ? 5 : 3;
  const int padded = static_cast<int>(run.padded);
  auto* const u = reinterpret_cast<double*>(memory);
  auto* const ring = reinterpret_cast<Piece<T>*>(u + vectors * padded);
  const int lane = static_cast<int>(threadIdx.x) % warp, part = lane % S::lanes;
  const int warps = static_cast<int>(gridDim.x) * (pass_threads / warp);
  const int own =
      static_cast<int>(blockIdx.x) * (pass_threads / warp) + static_cast<int>(threadIdx.x) / warp;
  const int units = padded / unit<T, S>;
  const Index pieces = (rows.features + each - 1) / each;

  // What this lane reads: of `rows` rows of a batch, piece `part` of every unit.
  const T* from[S::rows];
  const auto first_of = [&](Index group, int batch) {
    return group * group_points + batch * S::batch + lane / S::lanes * S::rows;
  };
  const auto point_to = [&](Index first) {
#pragma unroll
    for (int r = 0; r < S::rows; ++r)
      from[r] = row_of<T>(rows, first + r < rows.size ? first + r : rows.size - 1);
  };
  const auto slot = [&](int stage, int r) -> Piece<T>& {
    return ring[(stage * S::rows + r) * pass_threads + static_cast<int>(threadIdx.x)];
  };
  Index next_group = own;
  int next_batch = 0, next_unit = 0, next_stage = 0;
  const auto fetch = [&] {
    if (next_group < run.groups) {
      if (next_unit == 0) point_to(first_of(next_group, next_batch));
      Index piece = next_unit * S::lanes + part;
      piece = piece < pieces ? piece : pieces - 1;  // beyond the last one the vectors are zero
#pragma unroll
      for (int r = 0; r < S::rows; ++r)
        __pipeline_memcpy_async(&slot(next_stage, r), from[r] + piece * each, 16);
      if (++next_unit == units) {
        next_unit = 0;
        if (++next_batch == S::batches) next_batch = 0, next_group += warps;
      }
    }
    __pipeline_commit();
    next_stage = next_stage + 1 == S::depth ? 0 : next_stage + 1;
  };
  // The points do not depend on the step: they are on their way before it is known.
  let_next_kernel_come();
  if (ahead)
    for (int f = 0; f < S::depth - 1; ++f) fetch();
  wait_for_kernel_before();
  const RunState& s = *run.state;
  if (s.waits != Waits::no) {
    __pipeline_wait_prior(0);
    return;
  }
  for (int l = static_cast<int>(threadIdx.x); l < padded; l += pass_threads) {
    const int to = place_of<T, S>(l);
    for (int q = 0; q < 3; ++q) u[q * padded + to] = run.vectors[q * run.padded + l];
    if (centred_first) {
      u[3 * padded + to] = rows.weights && l < rows.features ? rows.weights[l] : 1.0;
      u[4 * padded + to] = rows.means && l < rows.features ? rows.means[l] : 0.0;
    }
  }
  update_e(run, s);
  __syncthreads();
  const double gamma = s.gamma, length = s.length, keep = 1 - gamma;

  double largest = -INFINITY;
  int stage = 0;
  for (Index group = own; group < run.groups; group += warps) {
    const Index i = group * group_points + lane;  // the point that this lane ends up with
    const bool there = i < rows.size;
    double r = 0, c = 0, h = 0;
    if (there) r = run.r[i], c = run.c[i], h = run.h[i];
    double products[3] = {};
    for (int batch = 0; batch < S::batches; ++batch) {
      const Index first = first_of(group, batch);
      double inner[centred_first ? S::rows : 1], mean[centred_first ? S::rows : 1];
      if constexpr (!ahead) point_to(first);
      if constexpr (centred_first)
        for (int k = 0; k < S::rows; ++k) {
          const Index row = first + k < rows.size ? first + k : rows.size - 1;
          inner[k] = inner_of(rows, row), mean[k] = mean_of(rows, row);
        }
      double sums[S::rows][3] = {};
      for (int q = 0; q < units; ++q) {
        if constexpr (ahead) {
          __pipeline_wait_prior(S::depth - 2);
          fetch();
        }
        double with[vectors][each];
#pragma unroll
        for (int v = 0; v < vectors; ++v)
#pragma unroll
          for (int pair = 0; pair < each / 2; ++pair) {
            const double2 two = *reinterpret_cast<const double2*>(u + v * padded + q * unit<T, S> +
                                                                  pair * (2 * S::lanes) + part * 2);
            with[v][2 * pair] = two.x, with[v][2 * pair + 1] = two.y;
          }
#pragma unroll
        for (int k = 0; k < S::rows; ++k) {
          Piece<T> piece;
          if constexpr (ahead) {
            piece = slot(stage, k);
          } else {
#pragma unroll
            for (int x = 0; x < each; ++x) {
              const Index l = Index{q} * unit<T, S> + part * each + x;
              piece.x[x] = from[k][l < rows.features ? l : rows.features - 1];
            }
          }
#pragma unroll
          for (int x = 0; x < each; ++x) {
            double value = wide(piece.x[x]);
            if constexpr (centred_first)
              value = inner[k] * with[3][x] * value - with[4][x] - mean[k];
#pragma unroll
            for (int v = 0; v < 3; ++v) sums[k][v] = fma(value, with[v][x], sums[k][v]);
          }
        }
        if constexpr (ahead) stage = stage + 1 == S::depth ? 0 : stage + 1;
      }
      // Lanes with sums of all rows each become lanes with the sum of one row each.
#pragma unroll
      for (int far = S::lanes / 2; far > 0; far /= 2) {
        const int half =
            far / S::holders;  // rows that a lane keeps; none left to part: sums are added
        const bool upper = lane & far;
        if (half > 0) {
#pragma unroll
          for (int k = 0; k < half; ++k)
#pragma unroll
            for (int v = 0; v < 3; ++v) {
              const double kept = upper ? sums[k + half][v] : sums[k][v];
              const double sent = upper ? sums[k][v] : sums[k + half][v];
              sums[k][v] = kept + __shfl_xor_sync(all_lanes, sent, far);
            }
        } else {
#pragma unroll
          for (int v = 0; v < 3; ++v) sums[0][v] += __shfl_xor_sync(all_lanes, sums[0][v], far);
        }
      }
      // To the lane that has the number of the row among the 32.
      const int in_batch = lane % S::batch;
      const int holder = in_batch / S::rows * S::lanes + in_batch % S::rows * S::holders;
#pragma unroll
      for (int v = 0; v < 3; ++v) {
        const double told = S::batches == 1 && S::holders == 1
                                ? sums[0][v]
                                : __shfl_sync(all_lanes, sums[0][v], holder);
        if (S::batches == 1 || lane / S::batch == batch) products[v] = told;
      }
    }
    double score = -INFINITY;
    if (there) {
      const Finish finish{centred_first ? 1.0 : inner_of(rows, i), outer_of(rows, i)};
      const double x = finish(products[0], s.offset[0], s.last[0]);
      const double y = finish(products[1], s.offset[1], s.last[1]);
      const double z = finish(products[2], s.offset[2], s.last[2]);
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
  __shared__ double room[warp];
  largest = block_max(largest, room);
  if (threadIdx.x == 0) run.block_best[blockIdx.x] = largest;
}

__global__ void __launch_bounds__(pass_threads) find_best(const RunView run) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const int warps = static_cast<int>(gridDim.x) * (pass_threads / warp);
  const int own =
      static_cast<int>(blockIdx.x) * (pass_threads / warp) + static_cast<int>(threadIdx.x) / warp;
  double largest = -INFINITY;
  for (Index group = own; group < run.groups; group += warps) {
    const Index i = group * group_points + lane;
    const double score = warp_max(i < run.rows.size ? score_of(run, i, run.c[i]) : -INFINITY);
    if (lane == 0) run.group_best[group] = score;
    largest = fmax(largest, score);
  }
  __shared__ double room[warp];
  largest = block_max(largest, room);
  if (threadIdx.x == 0) run.block_best[blockIdx.x] = largest;
}

// By how long a row is; what was measured: bench/results/gpu.md.
using Short = Share<8, 8, 3>;
using Middle = Share<16, 8, 3>;
using Long = Share<32, 8, 3>;

/// What a pass over such points is: its kernel, and the room it needs.
struct Pass {
  void (*kernel)(RunView);
  Index unit_features;
  Index ring_bytes;
};
template <class T, class S>
Pass pass_with(bool ahead) {
  return {.kernel = ahead ? pass<T, S, true> : pass<T, S, false>,
          .unit_features = unit<T, S>,
          .ring_bytes = ahead ? Index{S::depth} * S::rows * pass_threads * 16 : 0};
}
Pass pass_for(const Rows& rows) {
  Pass found{};
  with_number(rows.number, [&]<class T>(T) {
    const Index pieces = (rows.features + Piece<T>::count - 1) / Piece<T>::count;
    found = pieces <= 16    ? pass_with<T, Short>(rows.whole_pieces)
            : pieces <= 192 ? pass_with<T, Middle>(rows.whole_pieces)
                            : pass_with<T, Long>(rows.whole_pieces);
  });
  return found;
}
int shared_bytes(const Rows& rows, const Pass& how, Index padded) {
  return static_cast<int>((rows.centred_first() ? 5 : 3) * padded * 8 + how.ring_bytes);
}

}  // namespace

Index padded_features(const Rows& rows) {
  const Index each = pass_for(rows).unit_features;
  return (rows.features + each - 1) / each * each;
}

int pass_blocks(const Device& device, const Rows& rows) {
  const Pass how = pass_for(rows);
  const int room = shared_bytes(rows, how, padded_features(rows));
  // As much as there is: another run of this process may need more than this one.
  check(cudaFuncSetAttribute(how.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(device.shared_bytes()) - kept_shared),
        "making room for a pass over the points");
  int each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, how.kernel, pass_threads,
                                                      static_cast<std::size_t>(room)),
        "planning a pass over the points");
  const Index groups = (rows.size + group_points - 1) / group_points;
  return blocks_for(groups, pass_threads / warp, Index{each} * device.processors());
}

void launch_pass(const Device& device, const RunView& run) {
  const Pass how = pass_for(run.rows);
  Launch launch(device, run.blocks, pass_threads,
                static_cast<std::size_t>(shared_bytes(run.rows, how, run.padded)));
  check(cudaLaunchKernelEx(&launch.config, how.kernel, run), "passing over the points");
}

void launch_find_best(const Device& device, const RunView& run) {
  find_best<<<run.blocks, pass_threads, 0, device.stream()>>>(run);
  check_launch("looking for the best point");
}

}  // namespace fwsr::cuda
