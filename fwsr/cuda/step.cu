// Who is picked, and how far the step goes: all that is small, on the card. One block where C and E are small, several
// that wait for each other where they are not.
#include <cooperative_groups.h>

#include "fwsr/cuda/load.cuh"
#include "fwsr/cuda/step.hpp"

namespace fwsr::cuda {

namespace {

constexpr int step_threads = 512;  // more would leave too few registers to each
constexpr int step_warps = step_threads / warp;
// A kernel that runs for microseconds waits for its own instructions: what is used several times is not inlined, and
// loops stay loops.

/// Vectors of dim numbers that every block has a copy of.
struct Vectors {
  double *a, *w, *cw, *rv;
};

/// The smallest index among the points whose score is within a relative `tie` of the largest. Every block finds it.
/// `near`: room for a number of every block of the pass.
struct Leader {
  Index point;
  double square;
};
__device__ Leader find_leader(const RunView& run, double tie, double* room, int* near) {
  __shared__ unsigned long long first_point;
  __shared__ int count;
  __shared__ Leader found;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warp, own = thread / warp;
  double most = -INFINITY;
#pragma unroll 2
  for (int b = thread; b < run.blocks; b += step_threads) most = fmax(most, run.block_best[b]);
  if (thread == 0) first_point = ~0ull, count = 0;
  const double largest = block_max(most, room);
  const double enough = largest - tie * (largest > 0 ? largest : 0.0);
  if (most >= enough)  // of few threads
    for (int b = thread; b < run.blocks; b += step_threads)
      if (run.block_best[b] >= enough) near[atomicAdd(&count, 1)] = b;
  __syncthreads();
  // The groups of a block stand one round of all warps apart.
  constexpr int block_warps = pass_threads / warp;
  const Index round = Index{run.blocks} * block_warps;
  Index mine = -1;
  double square = 0;
  for (int q = 0; q < count; ++q)
#pragma unroll 1
    for (Index turn = own / block_warps;; turn += step_warps / block_warps) {
      const Index group = turn * round + Index{near[q]} * block_warps + own % block_warps;
      if (group >= run.groups) break;
      const Index i = group * group_points + lane;
      if (i >= run.rows.size || (mine >= 0 && i > mine)) continue;
      const double price = run.prices ? run.prices[i] : 1.0, c = run.c[i];
      if (price > 0 && c * price >= enough) mine = i, square = c;
    }
  if (mine >= 0) atomicMin(&first_point, static_cast<unsigned long long>(mine));
  __syncthreads();
  // Nobody, where scores are no numbers: the first point, for the host to see.
  if (first_point == ~0ull && thread == 0) found = {0, run.c[0]};
  if (mine >= 0 && first_point == static_cast<unsigned long long>(mine)) found = {mine, square};
  __syncthreads();
  return found;
}

/// out_l = sum_k m[l, k] x_k for the rows l of this block, `rows` to a warp at a time, so that many of them are on their
/// way at once; where there are fewer rows than that, several warps share them.
__device__ __noinline__ void multiply_rows(const double* m, Index dim, const double* x,
                                           double* out) {
  constexpr int rows = 8, holders = warp / rows;
  __shared__ double parts_of[step_warps * rows];
  const int lane = static_cast<int>(threadIdx.x) % warp, own = static_cast<int>(threadIdx.x) / warp;
  const int height = static_cast<int>((dim + gridDim.x - 1) / gridDim.x + rows - 1) / rows * rows;
  const int bands = height / rows, parts = bands >= step_warps ? 1 : step_warps / bands;
  const Index begin = Index{blockIdx.x} * height;
  for (int band = own % (bands < step_warps ? bands : step_warps); band < bands;
       band += step_warps) {
    const int part = parts == 1 ? 0 : own / bands;
    if (part >= parts) break;
    const Index first = begin + band * rows;
    double sums[rows] = {};
    const double* row[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) row[r] = m + (first + r < dim ? first + r : dim - 1) * dim;
#pragma unroll 4
    for (Index k = part * warp + lane; k < dim; k += parts * warp)
#pragma unroll
      for (int r = 0; r < rows; ++r) sums[r] = fma(row[r][k], x[k], sums[r]);
        // The sums over 32 lanes become one of every few lanes.
#pragma unroll
    for (int far = warp / 2, half = rows / 2; half > 0; far /= 2, half /= 2) {
      const bool upper = lane & far;
#pragma unroll
      for (int r = 0; r < half; ++r)
        sums[r] = (upper ? sums[r + half] : sums[r]) +
                  __shfl_xor_sync(all_lanes, upper ? sums[r] : sums[r + half], far);
    }
#pragma unroll
    for (int far = holders / 2; far > 0; far /= 2)
      sums[0] += __shfl_xor_sync(all_lanes, sums[0], far);
    if (lane % holders != 0) continue;
    const Index l = first + lane / holders;
    if (parts > 1)
      parts_of[part * height + band * rows + lane / holders] = sums[0];
    else if (l < dim)
      out[l] = sums[0];
  }
  if (parts == 1) return;
  __syncthreads();
  const int l = static_cast<int>(threadIdx.x);
  if (l >= height || begin + l >= dim) return;
  double sum = 0;
  for (int part = 0; part < parts; ++part) sum += parts_of[part * height + l];
  out[begin + l] = sum;
}

/// A product with a matrix of all blocks: `mine` has all of it in every block. `shared` is where blocks tell each other.
__device__ void multiply(const double* m, Index dim, const double* x, double* shared,
                         double* mine) {
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

/// Inner products of pairs of vectors, or, where there is no second one, the sum of the first: a warp for each, told to all.
struct Pair {
  const double *x, *y;
  Index count;
};
constexpr int most_pairs = 7;
template <int count>
__device__ void add_up(const Pair (&pairs)[count], double* room, double (&out)[count]) {
  const int lane = static_cast<int>(threadIdx.x) % warp, own = static_cast<int>(threadIdx.x) / warp;
  Pair mine{nullptr, nullptr, 0};
#pragma unroll
  for (int q = 0; q < count; ++q)
    if (own == q) mine = pairs[q];
  double sum = 0;
  if (own < count) {
#pragma unroll 1
    for (Index l = lane; l < mine.count; l += warp) sum += mine.x[l] * (mine.y ? mine.y[l] : 1.0);
    sum = warp_sum(sum);
  }
  __syncthreads();  // who was here before has read his numbers
  if (own < count && lane == 0) room[own] = sum;
  __syncthreads();
#pragma unroll
  for (int q = 0; q < count; ++q) out[q] = room[q];
}

/// Of the pick, in v.a, what the included exemplars leave (GatheredPoints::leave_rest): twice, lest rounding leave some of
/// theirs. v.w and v.cw are used.
__device__ __noinline__ void leave_rest(const RunView& run, const Vectors& v, double* room) {
  const Index dim = run.rows.dim();
  multiply(run.rest, dim, v.a, run.rv, v.w);
  multiply(run.rest, dim, v.w, run.a, v.cw);
  double sums[2];
  add_up({{v.a, v.a, dim}, {v.cw, v.cw, dim}}, room, sums);
  constexpr double nothing = 1e-24;  // of what is spanned the rest is rounding
#pragma unroll 1
  for (Index l = threadIdx.x; l < dim; l += step_threads)
    v.a[l] = sums[1] <= nothing * sums[0] ? 0.0 : v.cw[l];
  __syncthreads();
}

/// What makes a vector ready for products with the stored rows (Points::prepare, prep/points.hpp): the sum of its entries,
/// and its product with the means.
struct Ready {
  double entries, with_means;
};
__device__ Pair entries_of(const Rows& rows, const double* z) {
  return {z, nullptr, rows.mean && !rows.centred_first() ? rows.features : 0};
}
__device__ Pair with_means_of(const Rows& rows, const double* z) {
  return {z, rows.means, rows.means && !rows.centred_first() ? rows.features : 0};
}

/// Takes the step: f and tr E C after it, and what the pass needs: a, A v and R v made ready, and a and w. One block.
/// `s`: the state as it was read; of its numbers those of the step are there.
__device__ void take_step(const RunView& run, RunState s, const Vectors& v, const Ready (&ready)[3],
                          double gamma, double length) {
  const Rows& rows = run.rows;
  const Index d = rows.features, dim = rows.dim();
  const double score = s.probe.score, per_score = score > 0 ? 1 / score : 0.0;
  const bool afterwards = !rows.centred_first();
  const double each = 1 / static_cast<double>(d);
#pragma unroll 1
  for (Index l = threadIdx.x; l < run.padded; l += step_threads) {
    const double weight = rows.weights && afterwards && l < d ? rows.weights[l] : 1.0;
    const auto put = [&](int q, const double* z, double times) {
      const double mean = rows.mean && afterwards ? ready[q].entries * each : 0.0;
      run.vectors[q * run.padded + l] = l < d ? times * ((z[l] - mean) * weight) : 0.0;
    };
    put(0, v.a, 1), put(1, v.cw, per_score), put(2, v.rv, per_score);
    if (l < dim) run.a[l] = v.a[l], run.w[l] = v.w[l];
  }
  if (threadIdx.x != step_threads - 1) return;
  if (dim > run.padded) run.a[d] = v.a[d], run.w[d] = v.w[d];
  const auto tell = [&](int q, const double* z, double times) {
    s.offset[q] = times * ready[q].with_means;
    s.last[q] = rows.eta != 0 ? rows.eta * (times * z[d]) : 0.0;
  };
  tell(0, v.a, 1), tell(1, v.cw, per_score), tell(2, v.rv, per_score);
  s.gamma = gamma, s.length = length, s.factor = length * per_score;
  s.f += change_of_objective(s.probe, gamma, length);
  s.tr_ec = (1 - gamma) * s.tr_ec + gamma * s.trace - s.factor * s.along;
  s.waits = Waits::no;
  run.record[s.recorded++] = {s.point, s.probe, gamma, length, s.f};
  *run.state = s;
}

__global__ void __launch_bounds__(step_threads) decide(const RunView run, bool ahead) {
  extern __shared__ double memory[];
  __shared__ double room[warp];
  __shared__ RunState s;
  const Rows& rows = run.rows;
  const Index dim = rows.dim();
  const Vectors v{memory, memory + dim, memory + 2 * dim, memory + 3 * dim};
  wait_for_kernel_before();
  constexpr int words = sizeof(RunState) / sizeof(double);
  static_assert(sizeof(RunState) % sizeof(double) == 0 && words <= step_threads);
  if (threadIdx.x < words)
    reinterpret_cast<double*>(&s)[threadIdx.x] =
        reinterpret_cast<const double*>(run.state)[threadIdx.x];
  __syncthreads();
  if (s.waits != Waits::no) return;
  const bool first = blockIdx.x == 0 && threadIdx.x == 0;
  const bool no_steps = ahead && s.steps == 0, f_reached = ahead && !(s.f > s.least_f);
  if (no_steps || f_reached) {
    // Nobody changes the state while others still look at it.
    if (gridDim.x > 1) cooperative_groups::this_grid().sync();
    if (first) run.state->waits = no_steps ? Waits::no_steps : Waits::f;
    return;
  }
  const Leader leader = find_leader(run, s.tie, room, reinterpret_cast<int*>(memory + 4 * dim));
#pragma unroll 1
  for (Index l = threadIdx.x; l < dim; l += step_threads)
    v.a[l] = feature_at(rows, leader.point, l);
  __syncthreads();
  if (run.rest) leave_rest(run, v, room);
  multiply(run.et, dim, v.a, run.w, v.w);
  multiply(run.covariance, dim, v.w, run.cw, v.cw);
  double sums[most_pairs];
  add_up({{v.w, v.cw, dim},  // nu^2, a.a, a.(C w)
          {v.a, v.a, dim},
          {v.a, v.cw, dim},
          entries_of(rows, v.a),
          with_means_of(rows, v.a),
          entries_of(rows, v.cw),
          with_means_of(rows, v.cw)},
         room, sums);
  const double square = fmax(0.0, sums[0]), self = sums[1], along = sums[2];
  if (fabs(square - leader.square) > s.drift * square || !isfinite(square)) {
    if (first) run.state->waits = Waits::drift, run.state->point = leader.point;
    return;
  }
  multiply(run.e, dim, v.cw, run.rv, v.rv);  // nu R v
  let_next_kernel_come();                    // not before: its reads would stand in the way of ours
  if (blockIdx.x != 0) return;
  double more[3];
  add_up({{v.a, v.rv, dim}, entries_of(rows, v.rv), with_means_of(rows, v.rv)}, room, more);
  // All threads of the block find the same.
  const double score = sqrt(square), per_score = score > 0 ? 1 / score : 0.0;
  RunState after = s;
  after.point = leader.point;
  after.along = along;
  after.probe = {score, self, per_score * (along - more[0]), s.tr_ec - s.f,
                 s.trace - 2 * s.tr_ec + s.f};
  const Move move = exact_step(after.probe, s.beta);
  if (ahead && move.gap > s.closed && move.curvature > 0 && isfinite(move.length) && score > 0) {
    --after.steps;
    take_step(run, after, v, {{sums[3], sums[4]}, {sums[5], sums[6]}, {more[1], more[2]}},
              move.gamma, move.length);
    return;
  }
  // For `accept`.
  for (Index l = threadIdx.x; l < dim; l += step_threads)
    run.a[l] = v.a[l], run.w[l] = v.w[l], run.cw[l] = v.cw[l], run.rv[l] = v.rv[l];
  after.waits = Waits::gap;
  if (threadIdx.x == 0) *run.state = after;
}

/// The step that `decide` has left: its vectors are in the memory of the card.
__global__ void __launch_bounds__(step_threads)
    accept(const RunView run, double gamma, double length) {
  __shared__ double room[warp];
  const Rows& rows = run.rows;
  const RunState s = *run.state;
  const Vectors v{run.a, run.w, run.cw, run.rv};
  double sums[6];
  add_up({entries_of(rows, v.a), entries_of(rows, v.cw), entries_of(rows, v.rv),
          with_means_of(rows, v.a), with_means_of(rows, v.cw), with_means_of(rows, v.rv)},
         room, sums);
  take_step(run, s, v, {{sums[0], sums[3]}, {sums[1], sums[4]}, {sums[2], sums[5]}}, gamma, length);
}

__global__ void announce(RunState* state, double beta, double closed, double least_f, Index steps) {
  RunState& s = *state;
  s.beta = beta, s.closed = closed, s.least_f = least_f, s.steps = steps;
  s.recorded = 0;
  s.waits = Waits::no;
}

/// Rows of C and E for every block: a few where they are many, and one block where all of it is small.
int step_blocks(const Device& device, Index dim) {
  constexpr Index small = 160, rows_each = 8;
  return dim <= small ? 1 : blocks_for(dim, rows_each, device.processors());
}
std::size_t step_memory(Index dim, int blocks) {
  return static_cast<std::size_t>(4 * dim) * sizeof(double) +
         static_cast<std::size_t>(blocks) * sizeof(int);
}

}  // namespace

Index most_features(const Device& device) {
  // Of a step four vectors, of a pass three to five and its ring.
  return (device.shared_bytes() - (Index{72} << 10)) / 40;
}

void prepare_decide(const Device& device) {
  check(cudaFuncSetAttribute(decide, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(device.shared_bytes()) - kept_shared),
        "making room for a step");
}

void launch_decide(const Device& device, const RunView& run, bool ahead) {
  const Index dim = run.rows.dim();
  Launch launch(device, step_blocks(device, dim), step_threads, step_memory(dim, run.blocks));
  if (launch.config.gridDim.x > 1) launch.add(cudaLaunchAttributeCooperative);
  check(cudaLaunchKernelEx(&launch.config, decide, run, ahead), "deciding on a step");
}

void launch_announce(const Device& device, const RunView& run, const Announced& next) {
  announce<<<1, 1, 0, device.stream()>>>(run.state, next.beta, next.closed, next.least_f,
                                         next.steps);
  check_launch("announcing steps");
}

void launch_accept(const Device& device, const RunView& run, double gamma, double length) {
  accept<<<1, step_threads, 0, device.stream()>>>(run, gamma, length);
  check_launch("taking a step");
}

}  // namespace fwsr::cuda
