// Who is picked, and how far the step goes: all that is small, on the card. One block where C and E are small, several
// that wait for each other where they are not.
#include <cooperative_groups.h>

#include "fwsr/cuda/load.cuh"
#include "fwsr/cuda/step.hpp"

namespace fwsr::cuda {

namespace {

constexpr int step_threads = 1024;
constexpr int step_warps = step_threads / warp;
constexpr int most_sums = 6;  // that are added up at once

/// Vectors of dim numbers that every block has a copy of.
struct Vectors {
  double *a, *w, *cw, *rv;
};

/// The smallest index among the points whose score is within a relative `tie` of the largest. Every block finds it.
struct Leader {
  Index point;
  double square;
};
__device__ Leader find_leader(const RunView& run, double tie, double* room, double* blocks_best) {
  __shared__ unsigned long long first_group;
  __shared__ Leader found;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warp;
  double most = -INFINITY;
  for (int b = thread; b < run.blocks; b += step_threads) {
    blocks_best[b] = run.block_best[b];
    most = fmax(most, blocks_best[b]);
  }
  if (thread == 0) first_group = ~0ull;
  const double largest = block_max(most, room);
  const double enough = largest - tie * (largest > 0 ? largest : 0.0);
  // The groups of a block stand one round of all warps apart.
  constexpr int block_warps = pass_threads / warp;
  const Index round = Index{run.blocks} * block_warps;
  for (int b = thread / warp; b < run.blocks; b += step_warps) {
    if (!(blocks_best[b] >= enough)) continue;
    for (Index turn = lane / block_warps;; turn += warp / block_warps) {
      const Index group = turn * round + Index{b} * block_warps + lane % block_warps;
      if (group >= run.groups) break;
      if (!(run.group_best[group] >= enough)) continue;
      atomicMin(&first_group, static_cast<unsigned long long>(group));
      break;  // later ones are larger
    }
  }
  __syncthreads();
  if (thread < warp) {
    // Nobody, where scores are no numbers: the first point, for the host to see.
    const Index group = first_group == ~0ull ? 0 : static_cast<Index>(first_group);
    const Index i = group * group_points + lane;
    double score = -INFINITY, square = 0;
    if (i < run.rows.size) {
      const double price = run.prices ? run.prices[i] : 1.0;
      square = run.c[i];
      if (price > 0) score = square * price;
    }
    const unsigned good = __ballot_sync(all_lanes, score >= enough);
    if (lane == (good ? __ffs(static_cast<int>(good)) - 1 : 0)) found = {i, square};
  }
  __syncthreads();
  return found;
}

/// out_l = sum_k m[l, k] x_k for the rows l of this block, four to a warp at a time.
__device__ void multiply_rows(const double* m, Index dim, const double* x, double* out) {
  constexpr int rows = 4;
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const Index own = (Index{blockIdx.x} * step_warps + threadIdx.x / warp) * rows;
  for (Index first = own; first < dim; first += Index{gridDim.x} * step_warps * rows) {
    double sums[rows] = {};
    const double* row[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) row[r] = m + (first + r < dim ? first + r : dim - 1) * dim;
#pragma unroll 4
    for (Index k = lane; k < dim; k += warp)
#pragma unroll
      for (int r = 0; r < rows; ++r) sums[r] = fma(row[r][k], x[k], sums[r]);
    // Four sums over 32 lanes become one of every quarter.
#pragma unroll
    for (int far = 16, half = rows / 2; half > 0; far /= 2, half /= 2) {
      const bool upper = lane & far;
#pragma unroll
      for (int r = 0; r < half; ++r)
        sums[r] = (upper ? sums[r + half] : sums[r]) +
                  __shfl_xor_sync(all_lanes, upper ? sums[r] : sums[r + half], far);
    }
#pragma unroll
    for (int far = 4; far > 0; far /= 2) sums[0] += __shfl_xor_sync(all_lanes, sums[0], far);
    const Index l = first + lane / 8;
    if (lane % 8 == 0 && l < dim) out[l] = sums[0];
  }
}

/// A product with a matrix of all blocks: `mine` has all of it in every block. `shared` is where blocks tell each other.
__device__ void multiply(const double* m, Index dim, const double* x, double* shared, double* mine) {
  if (gridDim.x == 1) {
    multiply_rows(m, dim, x, mine);
    __syncthreads();
    return;
  }
  multiply_rows(m, dim, x, shared);
  cooperative_groups::this_grid().sync();
  for (Index l = threadIdx.x; l < dim; l += step_threads) mine[l] = __ldcg(shared + l);
  __syncthreads();
}

/// Takes the step: f and tr E C after it, and what the pass needs: a, A v and R v made ready for products with the stored
/// rows (Points::prepare, prep/points.hpp), and a and w. One block.
__device__ void take_step(const RunView& run, const Vectors& v, double gamma, double length,
                          double* room) {
  const Rows& rows = run.rows;
  const Index d = rows.features, dim = rows.dim();
  RunState& s = *run.state;
  const Probe probe = s.probe;
  const double per_score = probe.score > 0 ? 1 / probe.score : 0.0;
  const double* const z[3] = {v.a, v.cw, v.rv};
  const double times[3] = {1, per_score, 1};
  const bool afterwards = !rows.centred_first();
  double sums[most_sums] = {};  // of every vector: its entries, and their products with the means
  if (afterwards && (rows.mean || rows.means)) {
    for (Index l = threadIdx.x; l < d; l += step_threads)
#pragma unroll
      for (int q = 0; q < 3; ++q) {
        sums[q] += z[q][l];
        if (rows.means) sums[3 + q] = fma(rows.means[l], z[q][l], sums[3 + q]);
      }
    block_sums(sums, room);
  }
  for (Index l = threadIdx.x; l < run.padded; l += step_threads) {
    const double weight = rows.weights && afterwards && l < d ? rows.weights[l] : 1.0;
#pragma unroll
    for (int q = 0; q < 3; ++q) {
      const double mean = afterwards && rows.mean ? sums[q] / static_cast<double>(d) : 0.0;
      run.vectors[q * run.padded + l] = l < d ? times[q] * ((z[q][l] - mean) * weight) : 0.0;
    }
  }
  for (Index l = threadIdx.x; l < dim; l += step_threads) run.a[l] = v.a[l], run.w[l] = v.w[l];
  if (threadIdx.x != 0) return;
  for (int q = 0; q < 3; ++q) {
    s.offset[q] = times[q] * sums[3 + q];
    s.last[q] = rows.eta != 0 ? rows.eta * (times[q] * z[q][d]) : 0.0;
  }
  const double factor = probe.score > 0 ? length / probe.score : 0.0;
  s.gamma = gamma, s.length = length, s.factor = factor;
  s.f += change_of_objective(probe, gamma, length);
  s.tr_ec = (1 - gamma) * s.tr_ec + gamma * s.trace - factor * s.along;
  run.record[s.recorded++] = {s.point, probe, gamma, length, s.f};
}

__global__ void __launch_bounds__(step_threads) decide(const RunView run, bool ahead) {
  extern __shared__ double memory[];
  __shared__ double room[most_sums * warp];
  const Index dim = run.rows.dim();
  const Vectors v{memory, memory + dim, memory + 2 * dim, memory + 3 * dim};
  let_next_kernel_come();
  wait_for_kernel_before();
  RunState& s = *run.state;
  if (s.waits != Waits::no) return;
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  const bool no_steps = ahead && s.steps == 0, f_reached = ahead && !(s.f > s.least_f);
  const double tie = s.tie, drift = s.drift;
  if (no_steps || f_reached) {
    // Nobody changes the state while others still look at it.
    if (gridDim.x > 1) cooperative_groups::this_grid().sync();
    if (first) s.waits = no_steps ? Waits::no_steps : Waits::f;
    return;
  }
  const Leader leader = find_leader(run, tie, room, v.w);
  for (Index l = threadIdx.x; l < dim; l += step_threads)
    v.a[l] = feature_at(run.rows, leader.point, l);
  __syncthreads();
  multiply(run.et, dim, v.a, run.w, v.w);
  multiply(run.covariance, dim, v.w, run.cw, v.cw);
  double sums[4] = {};  // nu^2, a.a, a.(C w); later a.(R v)
  for (Index l = threadIdx.x; l < dim; l += step_threads) {
    sums[0] = fma(v.w[l], v.cw[l], sums[0]);
    sums[1] = fma(v.a[l], v.a[l], sums[1]);
    sums[2] = fma(v.a[l], v.cw[l], sums[2]);
  }
  block_sums(sums, room);
  const double square = fmax(0.0, sums[0]);
  if (fabs(square - leader.square) > drift * square || !isfinite(square)) {
    if (first) s.waits = Waits::drift, s.point = leader.point;
    return;
  }
  const double score = sqrt(square), per_score = score > 0 ? 1 / score : 0.0;
  multiply(run.e, dim, v.cw, run.rv, v.rv);
  if (blockIdx.x != 0) return;
  double across = 0;
  for (Index l = threadIdx.x; l < dim; l += step_threads) {
    v.rv[l] *= per_score;
    across = fma(v.a[l], v.rv[l], across);
  }
  across = block_sum(across, room);
  // All threads of the block find the same.
  const Probe probe{score, sums[1], per_score * sums[2] - across, s.tr_ec - s.f, s.trace - 2 * s.tr_ec + s.f};
  const Move move = exact_step(probe, s.beta);
  const bool step = ahead && move.gap > s.closed && move.curvature > 0 && isfinite(move.length) && score > 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    s.point = leader.point;
    s.along = sums[2];
    s.probe = probe;
    if (!step) s.waits = Waits::gap;
    if (step) --s.steps;
  }
  __syncthreads();
  if (step) {
    take_step(run, v, move.gamma, move.length, room);
  } else {  // for `accept`
    for (Index l = threadIdx.x; l < dim; l += step_threads)
      run.a[l] = v.a[l], run.w[l] = v.w[l], run.cw[l] = v.cw[l], run.rv[l] = v.rv[l];
  }
}

__global__ void __launch_bounds__(step_threads) accept(const RunView run, double gamma, double length) {
  __shared__ double room[most_sums * warp];
  if (threadIdx.x == 0) run.state->waits = Waits::no;
  __syncthreads();
  take_step(run, {run.a, run.w, run.cw, run.rv}, gamma, length, room);
}

__global__ void announce(RunState* state, double beta, double closed, double least_f, Index steps) {
  RunState& s = *state;
  s.beta = beta, s.closed = closed, s.least_f = least_f, s.steps = steps;
  s.recorded = 0;
  s.waits = Waits::no;
}

/// Rows of C and E for every block: a few where they are many, and one block where all of it is small.
int step_blocks(const Device& device, Index dim) {
  constexpr Index small = 160, rows_each = 32;
  return dim <= small ? 1 : blocks_for(dim, rows_each, device.processors());
}
std::size_t step_memory(Index dim, int blocks) {
  // The best of all blocks of the pass stand where w, C w and R v come later.
  const Index numbers = 4 * dim < blocks + dim ? blocks + dim : 4 * dim;
  return static_cast<std::size_t>(numbers) * sizeof(double);
}

}  // namespace

Index most_features(const Device& device) {
  // Of a step four vectors, of a pass three to five and its ring.
  return (device.shared_bytes() - (Index{72} << 10)) / 40;
}

void prepare_decide(const RunView& run) {
  check(cudaFuncSetAttribute(decide, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(step_memory(run.rows.dim(), run.blocks))),
        "making room for a step");
}

void launch_decide(const Device& device, const RunView& run, bool ahead) {
  const Index dim = run.rows.dim();
  Launch launch(device, step_blocks(device, dim), step_threads, step_memory(dim, run.blocks));
  if (launch.config.gridDim.x > 1) launch.add(cudaLaunchAttributeCooperative);
  check(cudaLaunchKernelEx(&launch.config, decide, run, ahead), "deciding on a step");
}

void launch_announce(const Device& device, const RunView& run, const Announced& next) {
  announce<<<1, 1, 0, device.stream()>>>(run.state, next.beta, next.closed, next.least_f, next.steps);
  check_launch("announcing steps");
}

void launch_accept(const Device& device, const RunView& run, double gamma, double length) {
  accept<<<1, step_threads, 0, device.stream()>>>(run, gamma, length);
  check_launch("taking a step");
}

}  // namespace fwsr::cuda
