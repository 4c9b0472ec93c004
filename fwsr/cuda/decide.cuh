// Who is picked, and how far the step goes: what is small, on the card. Every block of a launch finds the same and goes
// on with it; only the rows of four matrices are shared out,
//
//   ET = E^T      EC = E C      CE = C E^T = EC^T      ECE = E C E^T
//
// so that w = ET a, C w = CE a and nu R v = E C w = ECE a need not wait for each other: one product of 3 d rows with the
// point, between two moments at which the blocks wait for each other. With k = 1 - gamma, l = length / nu and y = nu R v
// a step changes every entry by itself:
//
//   ET  <- k ET + gamma I - l w a^T
//   ECE <- k^2 ECE + k gamma (EC + CE) + gamma^2 C - k l (y a^T + a y^T) - gamma l (C w a^T + a w^T C) + l^2 nu^2 a a^T
//   EC  <- k EC + gamma C - l a w^T C
//   CE  <- k CE + gamma C - l C w a^T
//
// What other blocks have written is read past the first cache (ldcg), which would not notice.
#pragma once

#include <cooperative_groups.h>

#include "fwsr/cuda/load.cuh"
#include "fwsr/cuda/step.hpp"

namespace fwsr::cuda {

__device__ inline int warp_of_block() {
  return static_cast<int>(threadIdx.x) / warp;
}
__device__ inline int lane_of_warp() {
  return static_cast<int>(threadIdx.x) % warp;
}
inline constexpr int pass_warps = pass_threads / warp;

/// The best of the groups that a warp has seen, as BestPoint says.
struct Best {
  double score = -INFINITY, next = -INFINITY;
  Index point = 0;
};
/// One more group of a warp, whose points have these scores.
__device__ inline void see_group(const RunView& run, Index group, double score, Best& best) {
  const double most = warp_max(score);
  const double enough = most - run.tie * (most > 0 ? most : 0.0);
  const unsigned near = __ballot_sync(all_lanes, score >= enough);
  if (lane_of_warp() == 0) run.group_best[group] = most;
  if (most > best.score) {
    const bool alone = (near & (near - 1)) == 0;
    best = {most, alone ? best.score : most,
            group * group_points + __ffs(static_cast<int>(near)) - 1};
  } else {
    best.next = fmax(best.next, most);
  }
}
/// What the warps of a block have seen, told to whoever decides.
__device__ inline void tell_best(const RunView& run, const Best& own) {
  __shared__ Best room[pass_warps];
  __syncthreads();  // who was here before has read his
  if (lane_of_warp() == 0) room[warp_of_block()] = own;
  __syncthreads();
  if (threadIdx.x != 0) return;
  Best best = room[0];
#pragma unroll 1
  for (int w = 1; w < pass_warps; ++w) {
    const Best& other = room[w];
    best = other.score > best.score ? Best{other.score, fmax(best.score, other.next), other.point}
                                    : Best{best.score, fmax(best.next, other.score), best.point};
  }
  run.block_best[blockIdx.x] = best.score;
  run.block_point[blockIdx.x] = {best.next, best.point};
}

/// The first group whose best is enough, told to all threads; none: -1.
__device__ inline Index first_group(const RunView& run, double enough) {
  __shared__ unsigned long long first;
  if (threadIdx.x == 0) first = ~0ull;
  constexpr int at_once = 4;
  for (Index begin = 0; begin < run.groups; begin += at_once * pass_threads) {
    __syncthreads();
    const bool found = first != ~0ull;
    __syncthreads();
    if (found) break;
#pragma unroll
    for (int q = 0; q < at_once; ++q) {
      const Index group = begin + q * pass_threads + threadIdx.x;
      if (group < run.groups && __ldcg(run.group_best + group) >= enough)
        atomicMin(&first, static_cast<unsigned long long>(group));
    }
  }
  __syncthreads();
  return static_cast<Index>(first);
}

/// The first point of a group whose score is enough, told to all threads. Nobody, where scores are no numbers or nobody
/// may be picked: the first one, for the host to see.
__device__ inline Index first_of_group(const RunView& run, double enough, Index group) {
  __shared__ Index found;
  if (warp_of_block() == 0) {
    const Index i = (group < 0 ? 0 : group) * group_points + lane_of_warp();
    const bool there = i < run.rows.size;
    const double square = there ? __ldcg(run.c + i) : 0.0;
    const double price = there && run.prices ? run.prices[i] : 1.0;
    const unsigned reach = __ballot_sync(all_lanes, there && price > 0 && square * price >= enough);
    if (lane_of_warp() == (group >= 0 && reach ? __ffs(static_cast<int>(reach)) - 1 : 0)) found = i;
  }
  __syncthreads();
  return found;
}

/// The smallest index among the points whose score is within a tie of the largest.
__device__ inline Index find_leader(const RunView& run) {
  __shared__ double room[pass_warps];
  __shared__ int near;
  double most = -INFINITY;
  int own = 0;  // the block of the pass that has it
#pragma unroll 4
  for (int b = static_cast<int>(threadIdx.x); b < run.blocks; b += pass_threads) {
    const double v = __ldcg(run.block_best + b);
    if (v > most) most = v, own = b;
  }
  const double of_warp = warp_max(most);
  if (lane_of_warp() == 0) room[warp_of_block()] = of_warp;
  __syncthreads();
  double largest = room[0];
#pragma unroll
  for (int w = 1; w < pass_warps; ++w) largest = fmax(largest, room[w]);
  const double enough = largest - run.tie * (largest > 0 ? largest : 0.0);
  int reach = 0;
#pragma unroll 4
  for (int b = static_cast<int>(threadIdx.x); b < run.blocks; b += pass_threads)
    reach += __ldcg(run.block_best + b) >= enough;
  if (most == largest) near = own;
  const int some = __syncthreads_count(reach > 0), several = __syncthreads_or(reach > 1);
  if (some == 1 && !several) {
    const BestPoint* const best = run.block_point + near;
    const double next = __ldcg(&best->next);
    const Index point = __ldcg(&best->point);
    if (next < enough) return point;
  }
  return first_of_group(run, enough, first_group(run, enough));
}

/// out_m = matrix_m x for `count` matrices of dim rows, a row for every warp of the launch; x is in shared memory.
struct Rectangle {
  const double* matrix;
  double* out;
};
template <int count>
__device__ void share_products(const Rectangle (&of)[count], Index dim, const double* x) {
  const Index warps = Index{gridDim.x} * pass_warps;
  for (Index row = Index{warp_of_block()} * gridDim.x + blockIdx.x; row < count * dim;
       row += warps) {
    Rectangle mine = of[0];
    Index l = row;
#pragma unroll
    for (int m = 1; m < count; ++m)
      if (row >= m * dim) mine = of[m], l = row - m * dim;
    const double* const from = mine.matrix + l * dim;
    double sum = 0;
#pragma unroll 8  // so many numbers are on their way at once
    for (Index k = lane_of_warp(); k < dim; k += warp) sum += __ldcg(from + k) * x[k];
    sum = warp_sum(sum);
    if (lane_of_warp() == 0) mine.out[l] = sum;
  }
}

/// Sums over the threads of a block, told to all of them. @pre room for count numbers of every warp
template <int count>
__device__ void block_sums(double (&sums)[count], double* room) {
#pragma unroll
  for (int q = 0; q < count; ++q) sums[q] = warp_sum(sums[q]);
  __syncthreads();  // who was here before has read his numbers
  if (lane_of_warp() == 0)
#pragma unroll
    for (int q = 0; q < count; ++q) room[warp_of_block() * count + q] = sums[q];
  __syncthreads();
#pragma unroll
  for (int q = 0; q < count; ++q) {
    sums[q] = 0;
    for (int w = 0; w < pass_warps; ++w) sums[q] += room[w * count + q];
  }
}

/// What the blocks have found together of the point: a (or what is left of it beside the included), w, C w and nu R v, in
/// the memory of the card.
struct Found {
  double square, self, along, with_rest;  // w.(C w), a.a, a.(C w), a.(nu R v)
  double entries[3],
      with_means[3];  // of a, C w and nu R v: their sums, and products with the means
};
/// keep(l, z): the numbers l of a, C w and nu R v.
template <class Keep>
__device__ inline Found add_up(const RunView& run, double* room, Keep&& keep) {
  const Rows& rows = run.rows;
  const bool afterwards = !rows.centred_first(), centred = rows.means && afterwards;
  double sums[7] = {}, with_means[3] = {};
#pragma unroll 1
  for (Index l = threadIdx.x; l < rows.dim(); l += pass_threads) {
    const double w = __ldcg(run.w + l);
    const double z[3] = {__ldcg(run.a + l), __ldcg(run.cw + l), __ldcg(run.rv + l)};
    sums[0] += w * z[1], sums[1] += z[0] * z[0], sums[2] += z[0] * z[1], sums[3] += z[0] * z[2];
    if (l >= rows.features) continue;  // eta is not among what is stored
    for (int q = 0; q < 3; ++q) {
      sums[4 + q] += z[q];
      if (centred) with_means[q] += z[q] * rows.means[l];
    }
    keep(l, z);
  }
  block_sums(sums, room);
  if (centred) block_sums(with_means, room);
  Found found{fmax(0.0, sums[0]), sums[1], sums[2], sums[3], {}, {}};
  for (int q = 0; q < 3; ++q)
    found.entries[q] = rows.mean && afterwards ? sums[4 + q] : 0.0,
    found.with_means[q] = with_means[q];
  return found;
}

/// How a, C w and nu R v become the vectors that the stored rows are multiplied with (Points::prepare, prep/points.hpp).
struct Ready {
  double times[3], mean[3];
  __device__ Ready(const Rows& rows, const Found& found, double per_score) {
    const bool centred = rows.mean && !rows.centred_first();
    const double each = centred ? 1 / static_cast<double>(rows.features) : 0.0;
    for (int q = 0; q < 3; ++q) {
      times[q] = q == 0 ? 1.0 : per_score;
      mean[q] = found.entries[q] * each;
    }
  }
  /// Number l of vector q, which is `z` there.
  __device__ double operator()(const Rows& rows, int q, Index l, double z) const {
    const double weight = rows.weights && !rows.centred_first() ? rows.weights[l] : 1.0;
    return times[q] * ((z - mean[q]) * weight);
  }
};
/// a, C w and nu R v, in the memory of the card, made ready there for passes that are launched apart. All threads of a
/// block.
__device__ inline void write_vectors(const RunView& run, const Ready& ready) {
  for (Index l = threadIdx.x; l < run.padded; l += pass_threads)
    for (int q = 0; q < 3; ++q) {
      const double* const z = q == 0 ? run.a : q == 1 ? run.cw : run.rv;
      run.vectors[q * run.padded + l] =
          l < run.rows.features ? ready(run.rows, q, l, __ldcg(z + l)) : 0.0;
    }
}

/// The numbers of the step that the pass needs, and f and tr E C after it. One thread.
__device__ inline void take_step(const RunView& run, RunState& s, const Found& found,
                                 const Ready& ready, double gamma, double length, bool tell) {
  const Index d = run.rows.features;
  for (int q = 0; q < 3; ++q) {
    const double* const z = q == 0 ? run.a : q == 1 ? run.cw : run.rv;
    s.offset[q] = ready.times[q] * found.with_means[q];
    s.last[q] = run.rows.eta != 0 ? run.rows.eta * (ready.times[q] * __ldcg(z + d)) : 0.0;
  }
  s.gamma = gamma, s.length = length, s.factor = length * ready.times[1];
  s.f += change_of_objective(s.probe, gamma, length);
  s.tr_ec = (1 - gamma) * s.tr_ec + gamma * s.trace - s.factor * s.along;
  s.waits = Waits::no;
  if (tell) run.record[s.recorded] = {s.point, s.probe, gamma, length, s.f};
  ++s.recorded;
}

/// Of the pick, in `a`, what the included exemplars leave (GatheredPoints::leave_rest): twice, lest rounding leave some of
/// theirs.
__device__ inline void leave_rest(const RunView& run, double* a, double* room) {
  const Index dim = run.rows.dim();
  double *const once = run.vectors, *const twice = run.vectors + dim;
  double before[1] = {}, after[1] = {};
  for (Index l = threadIdx.x; l < dim; l += pass_threads) before[0] += a[l] * a[l];
  block_sums(before, room);
  for (double* const out : {once, twice}) {
    share_products<1>({{run.rest, out}}, dim, a);
    cooperative_groups::this_grid().sync();
    for (Index l = threadIdx.x; l < dim; l += pass_threads) a[l] = __ldcg(out + l);
    __syncthreads();
  }
  for (Index l = threadIdx.x; l < dim; l += pass_threads) after[0] += a[l] * a[l];
  block_sums(after, room);
  constexpr double nothing = 1e-24;  // of what is spanned the rest is rounding
  if (after[0] <= nothing * before[0])
    for (Index l = threadIdx.x; l < dim; l += pass_threads) a[l] = 0;
  __syncthreads();
}

/// Whether a step is to be taken: its numbers are in `s`, and all threads have called keep(l, z) with numbers l of its three
/// vectors, and then write(ready); both may write to `memory`. Else `s` says why the host is waited for. `s` is in shared
/// memory, the same in all blocks, and `memory`, too, with room for dim numbers.
template <class Keep, class Write>
__device__ bool decide(const RunView& run, RunState& s, double* memory, bool take, Keep&& keep,
                       Write&& write) {
  __shared__ double room[pass_warps * 7];
  const Rows& rows = run.rows;
  const Index dim = rows.dim();
  const bool first = threadIdx.x == 0;
  const bool no_steps = take && s.steps == 0, f_reached = take && !(s.f > s.least_f);
  if (no_steps || f_reached) {
    __syncthreads();  // all have seen why
    if (first) s.waits = no_steps ? Waits::no_steps : Waits::f;
    return false;
  }
  const Index leader = find_leader(run);
  const double recalled = __ldcg(run.c + leader);  // its score by recursion
  for (Index l = threadIdx.x; l < dim; l += pass_threads)
    memory[l] = run.given ? run.given[l] : feature_at(rows, leader, l);
  __syncthreads();
  if (run.rest) leave_rest(run, memory, room);
  if (blockIdx.x == 0)
    for (Index l = threadIdx.x; l < dim; l += pass_threads) run.a[l] = memory[l];
  share_products<3>({{run.et, run.w}, {run.ce, run.cw}, {run.ece, run.rv}}, dim, memory);
  cooperative_groups::this_grid().sync();
  const Found found = add_up(run, room, keep);
  const double score = sqrt(found.square), per_score = score > 0 ? 1 / score : 0.0;
  if (fabs(found.square - recalled) > s.drift * found.square || !isfinite(found.square)) {
    __syncthreads();
    if (first) s.waits = Waits::drift, s.point = leader;
    return false;
  }
  // All threads of all blocks find the same.
  const Probe probe{score, found.self, per_score * (found.along - found.with_rest), s.tr_ec - s.f,
                    s.trace - 2 * s.tr_ec + s.f};
  const Move move = exact_step(probe, s.beta);
  const bool taken =
      take && move.gap > s.closed && move.curvature > 0 && isfinite(move.length) && score > 0;
  const Ready ready(rows, found, per_score);
  __syncthreads();  // all have read s, and the point in `memory`
  if (first) {
    s.point = leader, s.probe = probe, s.along = found.along;
    if (taken) {
      --s.steps;
      take_step(run, s, found, ready, move.gamma, move.length, blockIdx.x == 0);
    } else {
      s.waits = Waits::gap;
    }
  }
  if (taken) write(ready);
  return taken;
}

/// ET, EC, CE and ECE after the step, a part of each by every block, the last ones first: these have fewer points.
__device__ inline void update_matrices(const RunView& run, const RunState& s) {
  const Index dim = run.rows.dim();
  const double keep = 1 - s.gamma, gamma = s.gamma, l = s.factor;
  const double square = s.probe.score * s.probe.score;
  for (Index row = gridDim.x - 1 - blockIdx.x; row < dim; row += gridDim.x) {
    const double a = __ldcg(run.a + row), w = __ldcg(run.w + row), cw = __ldcg(run.cw + row),
                 y = __ldcg(run.rv + row);
    for (Index col = threadIdx.x; col < dim; col += pass_threads) {
      const Index at = row * dim + col;
      const double b = __ldcg(run.a + col), cv = __ldcg(run.cw + col), z = __ldcg(run.rv + col);
      const double c = run.covariance[at], ec = run.ec[at], ce = run.ce[at];
      run.et[at] = keep * run.et[at] - l * w * b + (row == col ? gamma : 0.0);
      run.ece[at] = keep * keep * run.ece[at] + keep * gamma * (ec + ce) + gamma * gamma * c -
                    keep * l * (y * b + a * z) - gamma * l * (cw * b + a * cv) +
                    l * l * square * (a * b);
      run.ec[at] = keep * ec + gamma * c - l * a * cv;
      run.ce[at] = keep * ce + gamma * c - l * cw * b;
    }
  }
}

}  // namespace fwsr::cuda
