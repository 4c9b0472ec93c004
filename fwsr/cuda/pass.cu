// The pass over all points. Some lanes share some rows: each lane reads 16 bytes of every row at a time, copied ahead
// into a ring in shared memory that only it reads, so that many bytes are on their way while few registers wait. The sums
// of the lanes are folded so that each of 32 lanes ends up with one of 32 points.
//
// Where all points are on the card a launch takes many steps: the blocks decide together (decide.cuh), pass over their
// points, and wait for each other; what a block will read first is on its way meanwhile.
#include <cuda_pipeline.h>

#include <algorithm>

#include "fwsr/cuda/decide.cuh"

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

/// Blocks that a processor of the card has registers for: left to itself the compiler takes more of them for halves, and
/// there is room for two.
template <class T>
constexpr int blocks_at_once = sizeof(T) == 2 || sizeof(T) == 4 ? 3 : 2;

/// What a launch does: steps until the host is waited for; what decides on one, which is then taken, or only found; the
/// pass of one that was decided on.
enum class Part { steps, decision, probe, pass };

template <class T, class S, bool ahead>
__global__ void __launch_bounds__(pass_threads, blocks_at_once<T>)
    work(const RunView run, const Part what) {
  extern __shared__ __align__(
      128) unsigned char memory[];  // else a row of the ring would straddle banks
  __shared__ RunState s;
  const Rows& rows = run.rows;
  constexpr bool centred_first = std::is_same_v<T, double>;
  constexpr int each = Piece<T>::count, vectors = centred_first ? 5 : 3;
  const int padded = static_cast<int>(run.padded);
  auto* const u = reinterpret_cast<double*>(memory);
  auto* const ring = reinterpret_cast<Piece<T>*>(u + vectors * padded);
  const int lane = lane_of_warp(), part = lane % S::lanes;
  const int warps = static_cast<int>(gridDim.x) * pass_warps;
  const int own = static_cast<int>(blockIdx.x) * pass_warps + warp_of_block();
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
  Index next_group = 0;
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
  const auto begin_to_read = [&] {
    next_group = own, next_batch = next_unit = next_stage = 0;
    if constexpr (ahead)
      for (int f = 0; f < S::depth - 1; ++f) fetch();
  };
  // The vectors of the step, made(q, l, z) for vector q, whose number l is z there so far; and what centres the numbers of a
  // row.
  const auto make_vectors = [&](auto&& made) {
    for (int l = static_cast<int>(threadIdx.x); l < padded; l += pass_threads) {
      const int to = place_of<T, S>(l);
      const bool stored = l < rows.features;
      for (int q = 0; q < 3; ++q)
        u[q * padded + to] = stored ? made(q, l, u[q * padded + to]) : 0.0;
      if (centred_first) {
        u[3 * padded + to] = rows.weights && stored ? rows.weights[l] : 1.0;
        u[4 * padded + to] = rows.means && stored ? rows.means[l] : 0.0;
      }
    }
  };

  constexpr int words = sizeof(RunState) / sizeof(double);
  static_assert(sizeof(RunState) % sizeof(double) == 0 && words <= pass_threads);
  if (threadIdx.x < words)
    reinterpret_cast<double*>(&s)[threadIdx.x] =
        reinterpret_cast<const double*>(run.state)[threadIdx.x];
  __syncthreads();
  if (s.waits != Waits::no) return;
  // The points do not depend on the step: they are on their way before it is known.
  if (what == Part::steps || what == Part::pass) begin_to_read();
  for (bool begun = false;; begun = true) {
    if (what == Part::pass) {
      make_vectors([&](int q, int l, double) { return run.vectors[q * run.padded + l]; });
    } else {
      if (begun) cooperative_groups::this_grid().sync();  // all have passed
      const bool taken = decide(
          run, s, u, what != Part::probe,
          [&](Index l, const double(&z)[3]) {  // each thread those that it makes ready
            const int to = place_of<T, S>(static_cast<int>(l));
            for (int q = 0; q < 3; ++q) u[q * padded + to] = z[q];
          },
          [&](const Ready& ready) {
            if (what == Part::steps)
              make_vectors([&](int q, int l, double z) { return ready(rows, q, l, z); });
            else if (blockIdx.x == 0)
              write_vectors(run, ready);
          });
      if (!taken || what != Part::steps) break;
    }
    __syncthreads();

    const double gamma = s.gamma, length = s.length, keep = 1 - gamma;

    Best best;
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
              const double2 two = *reinterpret_cast<const double2*>(
                  u + v * padded + q * unit<T, S> + pair * (2 * S::lanes) + part * 2);
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
      see_group(run, group, score, best);
    }
    if (what == Part::steps) begin_to_read();
    tell_best(run, best);
    if (run.et) update_matrices(run, s);
    if (what == Part::pass) return;
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *run.state = s;
}

__global__ void __launch_bounds__(pass_threads) find_best(const RunView run) {
  const Index warps = Index{gridDim.x} * pass_warps;
  Best best;
  for (Index group = Index{blockIdx.x} * pass_warps + warp_of_block(); group < run.groups;
       group += warps) {
    const Index i = group * group_points + lane_of_warp();
    see_group(run, group, i < run.rows.size ? score_of(run, i, run.c[i]) : -INFINITY, best);
  }
  tell_best(run, best);
}

// By how long a row is; what was measured: bench/results/gpu.md.
using Short = Share<8, 8, 3>;
using Middle = Share<16, 8, 3>;
using Long = Share<32, 8, 3>;

/// What a pass over such points is: its kernel, and the room it needs.
struct Pass {
  void (*kernel)(RunView, Part);
  Index unit_features;
  Index ring_bytes;
};
template <class T, class S>
Pass pass_with(bool ahead) {
  return {.kernel = ahead ? work<T, S, true> : work<T, S, false>,
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
  // A warp for every group, and for every row of what decides on a step.
  const Index groups = (rows.size + group_points - 1) / group_points;
  return blocks_for(std::max(groups, 3 * rows.dim()), pass_warps,
                    Index{each} * device.processors());
}

namespace {

/// The blocks of all but a pass wait for each other, so that all of them have to be there at once.
void launch(const Device& device, const RunView& run, Part what, int blocks) {
  const Pass how = pass_for(run.rows);
  RunView view = run;
  Part part = what;
  void* given[] = {&view, &part};
  const auto room = static_cast<std::size_t>(shared_bytes(run.rows, how, run.padded));
  const auto* const kernel = reinterpret_cast<const void*>(how.kernel);
  const dim3 grid(static_cast<unsigned>(blocks)), block(pass_threads);
  check(what == Part::pass
            ? cudaLaunchKernel(kernel, grid, block, given, room, device.stream())
            : cudaLaunchCooperativeKernel(kernel, grid, block, given, room, device.stream()),
        "passing over the points");
}
/// Of a step without its pass: a warp for every row of three matrices, as far as there are some.
int deciding_blocks(const RunView& run) {
  return blocks_for(3 * run.rows.dim(), pass_warps, run.blocks);
}

}  // namespace

void launch_steps(const Device& device, const RunView& run) {
  launch(device, run, Part::steps, run.blocks);
}
void launch_decide(const Device& device, const RunView& run, bool take) {
  launch(device, run, take ? Part::decision : Part::probe, deciding_blocks(run));
}
void launch_pass(const Device& device, const RunView& run) {
  launch(device, run, Part::pass, run.blocks);
}

void launch_find_best(const Device& device, const RunView& run) {
  find_best<<<run.blocks, pass_threads, 0, device.stream()>>>(run);
  check_launch("looking for the best point");
}

}  // namespace fwsr::cuda
