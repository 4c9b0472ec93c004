// Strong rank-revealing QR (Gu, Eisenstat 1996). With k pivots first,
//
//   A P = Q [ R11  R12 ]     rho_ij^2 = (R11^-1 R12)_ij^2 + (gamma_j(R22) / omega_i(R11))^2
//           [      R22 ]
//
//   gamma_j(R22)       norm of column j: what the pivots do not represent of point j
//   1 / omega_i(R11)   norm of row i of R11^-1: omega_i is the distance of pivot i from the span of
//                      the others
//
// Exchanging pivot i for point j multiplies |det R11|, the volume of the pivots, by rho_ij. From
// the pivots of plain QR on, the exchange with the largest rho is made while that is larger than f:
// every swap multiplies the volume by more than f, so there are few. At the end all rho are at most
// f, and singular values of R11 and R22 are within sqrt(1 + f^2 k (n - k)) of those of A.
//
// All numbers are computed anew from the pivots after every swap: nothing drifts. Where rounding has
// made rho too large the volume does not grow, or cannot be told from none: such a swap is undone,
// and is the end. So there are no two sets that take turns.
#include "fwsr/methods/strong_rrqr.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fwsr/base/at.hpp"
#include "fwsr/base/index_range.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/orthogonal.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 384;
constexpr double rounding = 1e-10;  // by which rho must exceed f

/// R11^-1, row by row, and Q where the points are vectors.
struct Factors {
  Index k = 0, d = 0;
  std::vector<double> basis;          // k x d, or empty
  std::vector<double> inverse;        // k x k, upper triangular
  std::vector<double> inverse_norms;  // of its rows: 1 / omega
  double log_volume = 0;              // log |det R11|
};

void invert(Factors& f, const std::vector<double>& r, const KeepGoing& keep_going) {
  const Index k = f.k;
  f.inverse.assign(at(k * k), 0.0);
  f.inverse_norms.resize(at(k));
  for (Index i = k - 1; i >= 0; --i) {  // from the rows below it
    throw_if_cancelled(keep_going);
    double* const row = &f.inverse[at(i * k)];
    const double pivot = r[at(i * k + i)];
    row[i] = 1;
    for (Index l = i + 1; l < k; ++l)
      for (Index j = l; j < k; ++j) row[j] -= r[at(i * k + l)] * f.inverse[at(l * k + j)];
    for (Index j = i; j < k; ++j) row[j] /= pivot;
    f.inverse_norms[at(i)] = std::sqrt(dot(row, row, k));
    f.log_volume += std::log(pivot);
  }
}

/// Gram-Schmidt, twice.
Factors factor_vectors(const Task& task, const std::vector<Index>& pivots) {
  const Points& points = *task.points;
  const auto k = static_cast<Index>(pivots.size());
  const Index d = points.dim();
  Factors f;
  f.k = k, f.d = d;
  f.basis.resize(at(k * d));
  std::vector<double> r(at(k * k));
  for (Index t = 0; t < k; ++t) {
    throw_if_cancelled(task.keep_going);
    double* q = &f.basis[at(t * d)];
    points.row(pivots[at(t)], q);
    for (int twice = 0; twice < 2; ++twice)
      for (Index s = 0; s < t; ++s) {
        const double* other = &f.basis[at(s * d)];
        const double along = dot(q, other, d);
        r[at(s * k + t)] += along;
        for (Index l = 0; l < d; ++l) q[l] -= along * other[l];
      }
    const double norm = std::sqrt(dot(q, q, d));
    r[at(t * k + t)] = norm;
    for (Index l = 0; l < d; ++l) q[l] /= norm;
  }
  invert(f, r, task.keep_going);
  return f;
}

/// By Cholesky, in an order of its own, to which it brings `pivots`. None when their kernel matrix
/// is singular.
std::optional<Factors> factor_kernel(const Task& task, std::vector<Index>& pivots) {
  const auto k = static_cast<Index>(pivots.size());
  const PivotedCholesky c = pivoted_cholesky(task.kernel->values(pivots, pivots), k);
  if (c.rank < k) return {};
  std::vector<double> r(at(k * k));
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) r[at(j * k + i)] = c.lower[at(i * k + j)];
  std::vector<Index> ordered;
  for (const Index p : c.pivots) ordered.push_back(pivots[at(p)]);
  pivots = std::move(ordered);
  Factors f;
  f.k = k;
  invert(f, r, task.keep_going);
  return f;
}

struct Swap {
  Index out = -1;  // among the pivots
  Index in = -1;
  double rho = 0;
};

/// rows x k: left (rows x m) times op(right), where op(right) is m x columns.
void times(Index rows, Index m, const double* left, Op op, const std::vector<double>& right,
           Index columns, double* out) {
  multiply(Product<double>{.op_b = op,
                           .m = rows,
                           .n = columns,
                           .k = m,
                           .left = left,
                           .right = right.data(),
                           .out = out});
}

/// Columns first .. last of R12, one a row of `along`, and the squares of those of R22.
void project_points(const Task& task, const Factors& f, const std::vector<Index>& pivots,
                    Index first, Index last, std::vector<double>& along,
                    std::vector<double>& gamma) {
  const Index rows = last - first, k = f.k;
  along.resize(at(rows * k));
  gamma.resize(at(rows));
  if (f.basis.empty()) {
    const std::vector<double> values = task.kernel->values(index_range(first, last), pivots);
    times(rows, k, values.data(), Op::none, f.inverse, k, along.data());
    for (Index i = 0; i < rows; ++i)
      gamma[at(i)] = std::max(
          0.0, task.kernel->diagonal(first + i) - dot(&along[at(i * k)], &along[at(i * k)], k));
    return;
  }
  std::vector<double> a(at(rows * f.d)), projected(at(rows * f.d));
  task.points->rows(first, last, a.data());
  times(rows, f.d, a.data(), Op::transpose, f.basis, k, along.data());
  times(rows, k, along.data(), Op::none, f.basis, f.d, projected.data());
  for (Index i = 0; i < rows; ++i)
    gamma[at(i)] = squared_distance(&a[at(i * f.d)], &projected[at(i * f.d)], f.d);
}

/// Adds a swap to those that may be the best, first point first.
void add(const Swap& swap, double& most, std::vector<Swap>& found) {
  if (!(swap.rho > 0 && swap.rho >= most * (1 - tie_width))) return;
  if (swap.rho > most) {
    most = swap.rho;
    std::erase_if(found, [&](const Swap& s) { return s.rho < most * (1 - tie_width); });
  }
  found.push_back(swap);
}

/// The largest rho; of equal ones that of the first point, and of its ones the first pivot.
Swap best_swap(const Task& task, const Factors& f, const std::vector<Index>& pivots) {
  const Index n = task.size(), k = f.k;
  std::vector<bool> taken(at(n));
  for (const Index p : pivots) taken[at(p)] = true;
  std::vector<std::vector<Swap>> found(at(block_count(n, sweep_rows)));
  for_blocks(
      task.threads, n,
      [&](Index b, Index first, Index last) {
        throw_if_cancelled(task.keep_going);
        std::vector<double> along, gamma, codes(at((last - first) * k));
        double most = 0;
        project_points(task, f, pivots, first, last, along, gamma);
        times(last - first, k, along.data(), Op::transpose, f.inverse, k, codes.data());
        for (Index i = first; i < last; ++i)
          for (Index t = 0; t < k && !taken[at(i)]; ++t) {
            const double code = codes[at((i - first) * k + t)];
            const double rest = std::sqrt(gamma[at(i - first)]) * f.inverse_norms[at(t)];
            add({.out = t, .in = i, .rho = std::hypot(code, rest)}, most, found[at(b)]);
          }
      },
      sweep_rows);
  double most = 0;
  std::vector<Swap> equal;
  for (const std::vector<Swap>& some : found)
    for (const Swap& s : some) add(s, most, equal);
  return equal.empty() ? Swap{} : equal.front();
}

std::optional<Factors> factor(const Task& task, std::vector<Index>& pivots) {
  if (task.linear && task.points) return factor_vectors(task, pivots);
  return factor_kernel(task, pivots);
}

/// Pivots and their factors.
struct Basis {
  std::vector<Index> pivots;
  Factors factors;
};

/// The pivots of plain QR; without the last ones when rounding leaves them no volume.
Basis plain_basis(const Task& task, Index count) {
  Basis basis{.pivots = largest_residuals(task, count).points, .factors = {}};
  for (; !basis.pivots.empty(); basis.pivots.pop_back())
    if (std::optional<Factors> factors = factor(task, basis.pivots)) {
      basis.factors = std::move(*factors);
      break;
    }
  return basis;
}

/// Makes the swap; or nothing, and false, when the volume does not grow by it.
bool exchange(const Task& task, const Swap& swap, Basis& basis) {
  std::vector<Index> pivots = basis.pivots;
  pivots[at(swap.out)] = swap.in;
  std::optional<Factors> factors = factor(task, pivots);
  if (!factors || !(factors->log_volume > basis.factors.log_volume + rounding / 2)) return false;
  basis = {.pivots = std::move(pivots), .factors = std::move(*factors)};
  return true;
}

Picks choose(const Task& task) {
  StrongPivots pivots = strong_pivots(task, task.exemplars, task.settings.number("f"));
  for (double& distance : pivots.distances) distance /= task.unit();
  return {.exemplars = std::move(pivots.points),
          .strength = std::move(pivots.distances),
          .facts = {{.name = "swaps", .value = static_cast<double>(pivots.swaps)},
                    {.name = "rho", .value = pivots.rho}}};
}

}  // namespace

StrongPivots strong_pivots(const Task& task, Index count, double f) {
  Basis basis = plain_basis(task, count);
  StrongPivots result;
  while (!basis.pivots.empty()) {
    const Swap swap = best_swap(task, basis.factors, basis.pivots);
    result.rho = swap.rho;
    if (swap.rho <= f * (1 + rounding) || !exchange(task, swap, basis)) break;
    ++result.swaps;
  }
  for (const double norm : basis.factors.inverse_norms) result.distances.push_back(1 / norm);
  result.points = std::move(basis.pivots);
  return result;
}

Cost strong_cost(const Sizes& s) {
  const double rows = s.crew(sweep_rows) * s.held(sweep_rows);
  const double alone = 16 * s.k * s.k * s.d + 4 * s.k * s.k * s.k;  // the factors, on one thread
  return {.bytes = 8 * (2 * s.k * s.d + 5 * s.k * s.k + rows * (2 * s.d + 2 * s.k)),
          .flops = s.n * s.k * (4 * s.d + 4 * s.k) + s.threads * alone,
          .how = "projects all points once for every swap"};
}

Method strong_rrqr_method() {
  return {.name = "strong-rrqr",
          .title = "strong rank-revealing QR",
          .about =
              "pivoted QR, then swaps that multiply the volume of the exemplars by more than f "
              "(Gu, Eisenstat 1996)",
          .parameters = {{.name = "f",
                          .value = 2.0,
                          .about = "swap while that multiplies the volume by more than this",
                          .least = 1}},
          .any_kernel = true,
          .streams = true,
          .cost =
              [](const Sizes& s, const Settings&) {
                const Cost first = residuals_cost(s, false), sweep = strong_cost(s);
                const double swaps = 1 + s.k / 4;  // a guess
                return Cost{.bytes = first.bytes + sweep.bytes,
                            .flops = first.flops + swaps * sweep.flops,
                            .how = first.how + "; then " + sweep.how};
              },
          .choose = choose};
}

}  // namespace fwsr
