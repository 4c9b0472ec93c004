#include "fwsr/cuda/after.hpp"

#include <cfloat>

#include "fwsr/cuda/load.cuh"
#include "fwsr/solver/distance_width.hpp"

namespace fwsr::cuda {

namespace {

constexpr int threads = 256;
constexpr int warps = threads / warp;

/// A block has part_rows points, a warp every eighth of them.
__global__ void __launch_bounds__(threads) sweep_rows(const SweepBlock z) {
  __shared__ SweepSums parts[warps];
  const int lane = static_cast<int>(threadIdx.x) % warp, own = static_cast<int>(threadIdx.x) / warp;
  SweepSums sum;
  const Index begin = Index{blockIdx.x} * part_rows;
  for (Index at = begin + own; at < begin + part_rows && at < z.rows; at += warps) {
    const Index i = z.first + at;
    if (z.k > 0) {
      const int near = nearest_of(z.s + at * z.k, z.exemplar_squares, z.k, z.rounding);
      if (lane == 0) z.nearest[i] = near;
    }
    if (!z.full) continue;
    const double* const x = z.x + at * z.k;
    const double weight = z.weights ? z.weights[i] : 1.0, square = z.squares[i];
    const double norm = sqrt(square + z.eta_squared);
    const double outer = z.outer ? z.outer[i] : z.every_outer, mean = z.mean ? z.mean[i] : 0.0;
    const double taken = outer * (z.root_features * fabs(mean) + z.means_norm);
    const double rough = DBL_EPSILON * (16 * norm + 2 * taken);
    const double length = norm + sum_over(z.k, [&](Index e) { return fabs(x[e]) * z.norms[e]; });
    const double error = rough + z.of_codes * norm +
                         sum_over(z.k, [&](Index e) { return fabs(x[e]) * z.roughness[e]; });
    sum.plain_trace += weight * square;
    sum.absolute += weight * (length * length);
    sum.residual_errors += weight * (error * error);
    sum.longest = fmax(sum.longest, norm);
    sum.roughest = fmax(sum.roughest, rough);
  }
  if (!z.full) return;
  if (lane == 0) parts[own] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < warps; ++w) {
    const SweepSums& p = parts[w];
    sum.plain_trace += p.plain_trace;
    sum.absolute += p.absolute, sum.residual_errors += p.residual_errors;
    sum.longest = fmax(sum.longest, p.longest), sum.roughest = fmax(sum.roughest, p.roughest);
  }
  z.sums[z.first / part_rows + blockIdx.x] = sum;
}

/// As Offer::see (solver/exchange.hpp).
__device__ void see(OfferOnCard& mine, const OfferOnCard& other, double step) {
  if (other.point < 0) return;
  const double own = floor(mine.gain / step), its = floor(other.gain / step);
  if (mine.point < 0 || its > own || (its == own && other.point < mine.point)) mine = other;
}

/// Whether candidate i may not take the place of exemplar p (Partners::allow).
__device__ bool barred(const PartnersOnCard& z, Index i, Index p) {
  if (z.most && (z.costs ? z.costs[i] : 1.0) > z.most[p]) return true;
  if (z.of_exemplars) {
    const Index g = z.groups[i];
    if (g != z.of_exemplars[p] && !(z.spare[p] == 1 && z.room[g] == 1)) return true;
  }
  for (Index l = 0; l < z.refusals; ++l)
    if (z.refused[2 * l] == p && z.refused[2 * l + 1] == i) return true;
  return false;
}

/// s_i = K_ii - b.y and t_i = r_i - (w + x).y of every row.
__global__ void __launch_bounds__(threads) offer_numbers(const OfferBlock z) {
  const Index round = Index{gridDim.x} * warps;
  for (Index at = Index{blockIdx.x} * warps + threadIdx.x / warp; at < z.rows; at += round) {
    const double* const y = z.y + at * z.k;
    const double by = sum_over(z.k, [&](Index p) { return z.bw[at * 2 * z.k + p] * y[p]; });
    const double wy = sum_over(
        z.k, [&](Index p) { return (z.bw[(at * 2 + 1) * z.k + p] + z.x[at * z.k + p]) * y[p]; });
    if (threadIdx.x % warp != 0) continue;
    z.st[at] = z.squares[z.first + at] + z.eta_squared - by;
    z.st[z.rows + at] = z.r[z.first + at] - wy;
  }
}
/// A block has 32 exemplars and part_rows rows, 8 at a time.
constexpr int offer_tall = 8;
__global__ void offer_parts(const OfferBlock z) {
  __shared__ OfferOnCard room[offer_tall][warp];
  const Index p = Index{blockIdx.y} * warp + threadIdx.x;
  OfferOnCard best{-1, 0};
  const Index begin = Index{blockIdx.x} * part_rows;
  const Index end = begin + part_rows < z.rows ? begin + part_rows : z.rows;
  if (p < z.k)
    for (Index at = begin + threadIdx.y; at < end; at += offer_tall) {
      const Index i = z.first + at;
      if (z.chosen[i]) continue;
      const double y = z.y[at * z.k + p], e = z.e[at * z.k + p];
      const double u = y * y * z.per_m[p], v = y * e * z.per_m[p];
      const double gain =
          (z.st[z.rows + at] + 2 * v + u * z.kappa[p]) / (z.mu + z.st[at] + u) - z.kappa[p];
      if ((gain > best.gain || best.point < 0) && !barred(z.partners, i, p))
        see(best, {i, gain}, z.step);
    }
  room[threadIdx.y][threadIdx.x] = best;
  __syncthreads();
  if (threadIdx.y != 0 || p >= z.k) return;
  for (int y = 1; y < offer_tall; ++y) see(best, room[y][threadIdx.x], z.step);
  z.parts[Index{blockIdx.x} * z.k + p] = best;
}
/// A warp for each exemplar: whoever is seen first, the best is the same.
__global__ void join_offers(const OfferBlock z, Index parts) {
  const Index p = blockIdx.x;
  OfferOnCard best{-1, 0};
  for (Index b = threadIdx.x; b < parts; b += warp) see(best, z.parts[b * z.k + p], z.step);
  for (int far = warp / 2; far > 0; far /= 2)
    see(best,
        {__shfl_xor_sync(all_lanes, best.point, far), __shfl_xor_sync(all_lanes, best.gain, far)},
        z.step);
  if (threadIdx.x != 0) return;
  see(best, z.best[p], z.step);
  z.best[p] = best;
}

__global__ void __launch_bounds__(threads)
    scores_of(const double* a, const double* y, const double* zs, Index rows, Index d, double* c,
              double* h) {
  const Index round = Index{gridDim.x} * warps;
  for (Index i = Index{blockIdx.x} * warps + threadIdx.x / warp; i < rows; i += round) {
    const double* const z = zs + i * d;
    const double own_c = sum_over(d, [&](Index l) { return y[i * d + l] * z[l]; });
    const double own_h = sum_over(d, [&](Index l) { return a[i * d + l] * z[l]; });
    if (threadIdx.x % warp == 0) c[i] = own_c, h[i] = own_h;
  }
}

}  // namespace

void launch_sweep_rows(const Device& device, const SweepBlock& block) {
  if (block.rows == 0) return;
  sweep_rows<<<blocks_for(block.rows, part_rows), threads, 0, device.stream()>>>(block);
  check_launch("describing the points");
}
void launch_themselves(const Device& device, const Index* points, Index k, PointRange between,
                       int* nearest) {
  for_each(device, k, [=] __device__(Index t) {
    const Index i = points[t];
    if (i >= between.first && i < between.last) nearest[i] = static_cast<int>(t);
  });
}
void launch_count(const Device& device, const int* nearest, Index n, unsigned long long* counts) {
  for_each(device, n, [=] __device__(Index i) { atomicAdd(counts + nearest[i], 1ull); });
}
void launch_collect(const Device& device, const double* scores, Index n, double least, Index most,
                    Index* found, unsigned long long* count) {
  for_each(device, n, [=] __device__(Index i) {
    if (!(scores[i] >= least)) return;
    const unsigned long long place = atomicAdd(count, 1ull);
    if (place < static_cast<unsigned long long>(most)) found[place] = i;
  });
}

void launch_offers(const Device& device, const OfferBlock& z) {
  if (z.rows == 0 || z.k == 0) return;
  offer_numbers<<<blocks_for(z.rows, warps, 1 << 16), threads, 0, device.stream()>>>(z);
  const Index parts = (z.rows + part_rows - 1) / part_rows;
  const dim3 grid(static_cast<unsigned>(parts), static_cast<unsigned>(blocks_for(z.k, warp)));
  offer_parts<<<grid, dim3(warp, offer_tall), 0, device.stream()>>>(z);
  join_offers<<<static_cast<unsigned>(z.k), warp, 0, device.stream()>>>(z, parts);
  check_launch("trying exchanges");
}
void launch_no_offers(const Device& device, OfferOnCard* best, Index k) {
  for_each(device, k, [=] __device__(Index p) { best[p] = {-1, 0}; });
}

void launch_mark(const Device& device, const Index* places, Index count, char* marks) {
  for_each(device, count, [=] __device__(Index c) { marks[places[c]] = 1; });
}

void launch_subtract_from(const Device& device, const double* bw, double* x, Index rows, Index k) {
  for_cells(device, rows, k, [=] __device__(Index i, Index p) {
    x[i * k + p] = bw[(2 * i + 1) * k + p] - x[i * k + p];
  });
}
void launch_scores(const Device& device, const double* a, const double* y, const double* z,
                   Index rows, Index d, double* c, double* h) {
  if (rows == 0) return;
  scores_of<<<blocks_for(rows, warps, 1 << 16), threads, 0, device.stream()>>>(a, y, z, rows, d, c,
                                                                               h);
  check_launch("computing scores anew");
}
void launch_bounds(const Device& device, const double* v, const ScoreErrors& errors, Index n,
                   double* least, double* most) {
  for_each(device, n, [=] __device__(Index i) {
    const double own = errors.error * (errors.squares[i] + errors.eta_squared) *
                       (errors.prices ? errors.prices[i] : 1.0);
    least[i] = v[i] - own, most[i] = v[i] + own;
  });
}
void launch_times(const Device& device, const double* times, Index n, double* v) {
  for_each(device, n, [=] __device__(Index i) { v[i] *= times[i]; });
}
void launch_times_roots(const Device& device, const double* times, Index rows, Index d, double* v) {
  for_cells(device, rows, d, [=] __device__(Index i, Index l) { v[i * d + l] *= sqrt(times[i]); });
}
void launch_lower(const Device& device, const DistanceBlock& z) {
  for_each(device, z.rows, [=] __device__(Index i) {
    double least = z.least[i];
    for (Index t = 0; t < z.k; ++t) {
      const double squares = z.squares[i] + z.of_exemplars[t];
      double distance = squares - 2 * z.s[i * z.k + t];
      if (distance < z.doubtful * squares) {
        distance = 0;
        for (Index l = 0; l < z.dim; ++l) {
          const double apart = z.points[i * z.dim + l] - z.exemplars[t * z.dim + l];
          distance += apart * apart;
        }
        if (distance < z.nothing * (squares - 2 * z.eta_squared)) distance = 0;
      }
      least = fmin(least, distance);
    }
    z.least[i] = least;
  });
}
void launch_set_at(const Device& device, const Index* places, Index count, double value,
                   double* v) {
  for_each(device, count, [=] __device__(Index c) { v[places[c]] = value; });
}
void launch_permitted(const Device& device, const double* v, const double* prices, Index n,
                      double* out) {
  for_each(device, n,
           [=] __device__(Index i) { out[i] = prices && !(prices[i] > 0) ? -INFINITY : v[i]; });
}
void launch_widen(const Device& device, const Widths& w, Index n, double* v) {
  for_each(device, n, [=] __device__(Index i) {
    v[i] += distance_width(v[i], w.squares[i], w.squares[i] + w.eta_squared);
  });
}
void launch_double_above(const Device& device, Index panel, Index d, double* matrix) {
  for_cells(device, d, d, [=] __device__(Index k, Index l) {
    if (l / panel > k / panel) matrix[k * d + l] *= 2;
  });
}
void launch_add_identity(const Device& device, Index d, double* matrix) {
  for_each(device, d, [=] __device__(Index l) { matrix[l * d + l] += 1; });
}

}  // namespace fwsr::cuda
