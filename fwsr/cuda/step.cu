// Who is picked, and how far the step goes: all that is small, on the card. One block where C and E are small, several
// that wait for each other where they are not.
#include <cooperative_groups.h>

#include "fwsr/cuda/load.cuh"
#include "fwsr/cuda/step.hpp"

namespace fwsr::cuda {

namespace {

constexpr int step_threads = 1024;
constexpr int step_warps = step_threads / warp;

/// Vectors of dim numbers that every block has a copy of.
struct Vectors {
  double *a, *w, *cw, *rv;
};

__device__ bool finite(double v) { return isfinite(v); }

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
  const double largest = block_max(most, room);
  const double enough = largest - tie * (largest > 0 ? largest : 0.0);
  if (thread == 0) first_group = ~0ull;
  __syncthreads();
  // The groups of a block stand one round of all warps apart.
  constexpr int block_warps = pass_threads / warp;
  const Index round = Index{run.blocks} * block_warps;
  for (int b = thread / warp; b < run.blocks; b += step_warps) {
    if (!(blocks_best[b] >= enough)) continue;
    unsigned long long own = ~0ull;
    for (Index turn = lane / block_warps;; turn += warp / block_warps) {
      const Index group = turn * round + Index{b} * block_warps + lane % block_warps;
      if (group >= run.groups) break;
      if (run.group_best[group] >= enough) {
        own = static_cast<unsigned long long>(group);
        break;  // later ones are larger
      }
    }
    if (own != ~0ull) atomicMin(&first_group, own);
  }
  __syncthreads();
  if (thread < warp) {
    // Nobody, where scores are no numbers: the first point, for the host to see.
    const Index group = first_group == ~0ull ? 0 : static_cast<Index>(first_group);
    const Index i = group * group_points + lane;
    double score = -INFINITY;
    if (i < run.rows.size) {
      const double price = run.prices ? run.prices[i] : 1.0;
      if (price > 0) score = run.c[i] * price;
    }
    const unsigned good = __ballot_sync(all_lanes, score >= enough);
    if (lane == 0) {
      found.point = group * group_points + (good ? __ffs(static_cast<int>(good)) - 1 : 0);
      found.square = run.c[found.point];
    }
  }
  __syncthreads();
  return found;
}

/// out_l = sum_k m[l, k] x_k for the rows l of this block, a warp a row.
__device__ void multiply_rows(const double* m, Index dim, const double* x, double* out) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const Index own = Index{blockIdx.x} * step_warps + threadIdx.x / warp;
  for (Index l = own; l < dim; l += Index{gridDim.x} * step_warps) {
    const double* const row = m + l * dim;
    double sums[4] = {};
    Index k = lane;
    for (; k + 3 * warp < dim; k += 4 * warp)
#pragma unroll
      for (int q = 0; q < 4; ++q) sums[q] = fma(row[k + q * warp], x[k + q * warp], sums[q]);
    for (; k < dim; k += warp) sums[0] = fma(row[k], x[k], sums[0]);
    const double sum = warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (lane == 0) out[l] = sum;
  }
}

/// What other blocks have written, once they have.
__device__ void wait_for_blocks() {
  if (gridDim.x > 1)
    cooperative_groups::this_grid().sync();
  else
    __syncthreads();
}
__device__ void copy_all(const double* from, Index dim, double* to) {
  for (Index l = threadIdx.x; l < dim; l += step_threads) to[l] = __ldcg(from + l);
  __syncthreads();
}

__device__ double dot(const double* x, const double* y, Index dim, double* room) {
  double sum = 0;
  for (Index l = threadIdx.x; l < dim; l += step_threads) sum = fma(x[l], y[l], sum);
  return block_sum(sum, room);
}

/// `z` made ready for products with the stored rows, times `times` (Points::prepare, prep/points.hpp).
__device__ void make_ready(const RunView& run, const double* z, double times, int which, double* room) {
  const Rows& rows = run.rows;
  const Index d = rows.features;
  RunState& s = *run.state;
  double* const to = run.vectors + which * run.padded;
  double mean = 0, with_means = 0;
  if (!rows.centred_first()) {
    double sum = 0, along = 0;
    for (Index l = threadIdx.x; l < d; l += step_threads) {
      sum += z[l];
      if (rows.means) along = fma(rows.means[l], z[l], along);
    }
    if (rows.mean) mean = block_sum(sum, room) / static_cast<double>(d);
    if (rows.means) with_means = block_sum(along, room);
  }
  for (Index l = threadIdx.x; l < run.padded; l += step_threads) {
    const double weight = rows.weights && !rows.centred_first() && l < d ? rows.weights[l] : 1.0;
    to[l] = l < d ? times * ((z[l] - mean) * weight) : 0.0;
  }
  if (threadIdx.x == 0) {
    s.offset[which] = times * with_means;
    s.last[which] = rows.eta != 0 ? rows.eta * (times * z[d]) : 0.0;
  }
}

/// Takes the step: f and tr E C after it, and what the pass needs. One block.
__device__ void take_step(const RunView& run, const Vectors& v, double gamma, double length,
                          double* room) {
  RunState& s = *run.state;
  const Probe probe = s.probe;
  const double per_score = probe.score > 0 ? 1 / probe.score : 0.0;
  make_ready(run, v.a, 1, 0, room);
  make_ready(run, v.cw, per_score, 1, room);
  make_ready(run, v.rv, 1, 2, room);
  if (threadIdx.x != 0) return;
  const double factor = probe.score > 0 ? length / probe.score : 0.0;
  s.gamma = gamma, s.length = length, s.factor = factor;
  s.f += change_of_objective(probe, gamma, length);
  s.tr_ec = (1 - gamma) * s.tr_ec + gamma * s.trace - factor * s.along;
  run.record[s.recorded++] = {s.point, probe, gamma, length, s.f};
}

__global__ void __launch_bounds__(step_threads) decide(const RunView run, bool ahead) {
  extern __shared__ double memory[];
  __shared__ double room[step_warps];
  const Index dim = run.rows.dim();
  const Vectors v{memory, memory + dim, memory + 2 * dim, memory + 3 * dim};
  RunState& s = *run.state;
  if (s.waits != Waits::no) return;
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  const bool no_steps = ahead && s.steps == 0, f_reached = ahead && !(s.f > s.least_f);
  const double tie = s.tie, drift = s.drift;
  wait_for_blocks();  // nobody changes the state while others still look at it
  if (no_steps || f_reached) {
    if (first) s.waits = no_steps ? Waits::no_steps : Waits::f;
    return;
  }
  const Leader leader = find_leader(run, tie, room, v.w);
  for (Index l = threadIdx.x; l < dim; l += step_threads) v.a[l] = feature_at(run.rows, leader.point, l);
  __syncthreads();
  multiply_rows(run.et, dim, v.a, run.w);
  wait_for_blocks();
  copy_all(run.w, dim, v.w);
  multiply_rows(run.covariance, dim, v.w, run.cw);
  wait_for_blocks();
  copy_all(run.cw, dim, v.cw);
  const double square = fmax(0.0, dot(v.w, v.cw, dim, room));
  if (fabs(square - leader.square) > drift * square || !finite(square)) {
    if (first) s.waits = Waits::drift, s.point = leader.point;
    return;
  }
  const double score = sqrt(square);
  multiply_rows(run.e, dim, v.cw, run.rv);
  wait_for_blocks();
  if (blockIdx.x != 0) return;
  const double per_score = score > 0 ? 1 / score : 0.0;
  for (Index l = threadIdx.x; l < dim; l += step_threads) {
    v.rv[l] = per_score * __ldcg(run.rv + l);
    run.rv[l] = v.rv[l];
    run.a[l] = v.a[l];
  }
  __syncthreads();
  const double self = dot(v.a, v.a, dim, room), along = dot(v.a, v.cw, dim, room);
  const double across = dot(v.a, v.rv, dim, room);
  __shared__ Move move;
  if (threadIdx.x == 0) {
    s.point = leader.point;
    s.along = along;
    s.probe = {score, self, per_score * along - across, s.tr_ec - s.f, s.trace - 2 * s.tr_ec + s.f};
    move = exact_step(s.probe, s.beta);
    const bool step = ahead && move.gap > s.closed && move.curvature > 0 && finite(move.length) && score > 0;
    if (!step) s.waits = Waits::gap;
    if (step) --s.steps;
  }
  __syncthreads();
  if (s.waits == Waits::no) take_step(run, v, move.gamma, move.length, room);
}

__global__ void __launch_bounds__(step_threads) accept(const RunView run, double gamma, double length) {
  __shared__ double room[step_warps];
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
  constexpr Index small = 160;
  return dim <= small ? 1 : blocks_for(dim, 8, device.processors());
}
std::size_t step_memory(Index dim, int blocks) {
  const Index numbers = 4 * dim < blocks + dim ? blocks + dim : 4 * dim;  // v.w has room for all blocks' best
  return static_cast<std::size_t>(numbers) * sizeof(double);
}

}  // namespace

Index most_features(const Device& device) {
  // Of a step four vectors, of a pass three to five and its ring.
  return (device.shared_bytes() - (Index{72} << 10)) / 40;
}

void launch_decide(const Device& device, const RunView& run, bool ahead) {
  const Index dim = run.rows.dim();
  const std::size_t memory = step_memory(dim, run.blocks);
  check(cudaFuncSetAttribute(decide, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(memory)),
        "making room for a step");
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(static_cast<unsigned>(step_blocks(device, dim)));
  how.blockDim = dim3(step_threads);
  how.dynamicSmemBytes = memory;
  how.stream = device.stream();
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  how.attrs = &together;
  how.numAttrs = how.gridDim.x > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&how, decide, run, ahead), "deciding on a step");
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
