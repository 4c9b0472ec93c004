#include "fwsr/solver/largest_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 384;
constexpr double units = 16 * std::numeric_limits<double>::epsilon();
/// Points are scored one by one, a pass over all of them each, when no more than this many may lead.
constexpr std::size_t few = 16;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// The scores of some points from the data: one pass over them for each.
double largest_of(const Problem& p, const Codes& codes, const std::vector<Index>& leaders) {
  double largest = 0;
  for (const Index i : leaders) {
    stop_unless(p.alive);
    largest = std::max(largest, score_of(*p.linear, i, codes.list(), *codes.theta(), p.threads));
  }
  return largest;
}

/// R R^T, d x d, its upper triangle, with R = A - A X.
std::vector<double> residual_products(const Problem& p, const Codes& codes) {
  const Points& points = *p.linear;
  const Index n = points.size(), d = points.dim(), k = codes.exemplars();
  std::vector<double> chosen(at(k * d));
  for (Index t = 0; t < k; ++t) points.row(codes.list()[at(t)], chosen.data() + t * d);
  const FillRows<double> residual = [&](Index first, Index last, double* out) {
    stop_unless(p.alive);
    points.rows(first, last, out);
    const Codes::Block block = codes.block(first, last);
    multiply(Product<double>{.m = last - first,
                             .n = d,
                             .k = k,
                             .a = -1,
                             .left = block.codes.data(),
                             .left_stride = k,
                             .right = chosen.data(),
                             .right_stride = d,
                             .b = 1,
                             .out = out,
                             .out_stride = d});
  };
  return gram_of_rows<double>(n, d, p.threads, residual).products;
}

/// For the linear kernel ||p_i||^2 = a_i^T (R R^T) a_i, which rounding may have changed by a part of
/// ||a_i||^2 tr R R^T. A point that is much larger than the others may lead for that alone.
ScoreBound largest_score_linear(const Problem& p, const Codes& codes) {
  const Points& points = *p.linear;
  const Index n = points.size(), d = points.dim();
  const std::vector<double> rr = residual_products(p, codes);
  std::vector<double> squares(at(n));
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(p.alive);
    points.rows(first, last, out);
  };
  quadratic_forms<double>(n, d, p.threads, fill, rr,
                          [&](Index first, Index last, const double* forms) {
                            std::copy_n(forms, last - first, squares.begin() + first);
                          });
  double f = 0;
  for (Index l = 0; l < d; ++l) f += rr[at(l * d + l)];
  const double eta_squared = points.eta() * points.eta();
  const auto error = [&](Index i) { return units * f * (points.squared_norm(i) + eta_squared); };
  double least = 0, most = 0, largest = 0;
  for (Index i = 0; i < n; ++i) {
    largest = std::max(largest, squares[at(i)]);
    least = std::max(least, squares[at(i)] - error(i));
    most = std::max(most, squares[at(i)] + error(i));
  }
  std::vector<Index> leaders;
  for (Index i = 0; i < n && leaders.size() <= few; ++i)
    if (squares[at(i)] + error(i) >= least) leaders.push_back(i);
  const bool clear = most - least <= 1e-9 * largest;
  if (!clear && leaders.size() <= few) return {.score = largest_of(p, codes, leaders)};
  return {.score = std::sqrt(largest), .error = std::sqrt(most) - std::sqrt(largest)};
}

}  // namespace

double add_dual(const Problem& p, double norm, const double* entries, Index count) {
  if (p.q == Norm::two && !p.nonneg) return norm + dot(entries, entries, count);
  for (Index l = 0; l < count; ++l) {
    const double part = p.nonneg ? std::max(0.0, entries[l]) : std::abs(entries[l]);
    if (p.q == Norm::one)
      norm = std::max(norm, part);
    else
      norm += p.q == Norm::two ? part * part : part;
  }
  return norm;
}

namespace {

/// max_i ||p_i||_dual for any kernel and q: P = K - K_T^T X_T, row block by row block.
double largest_score_kernel(const Problem& p, const Codes& codes) {
  const Index n = p.kernel.size(), k = codes.exemplars();
  std::vector<double> x(at(n * k)), kt(at(n * k));  // X_T^T and K_T, n x k
  for_blocks(
      p.threads, n,
      [&](Index, Index first, Index last) {
        const Codes::Block block = codes.block(first, last);
        std::copy(block.kernel.begin(), block.kernel.end(), kt.begin() + first * k);
        std::copy(block.codes.begin(), block.codes.end(), x.begin() + first * k);
      },
      sweep_rows);
  std::vector<double> norms(at(n));
  for_blocks(
      p.threads, n,
      [&](Index, Index first, Index last) {
        stop_unless(p.alive);
        const Index rows = last - first;
        std::vector<double> tile;
        p.kernel.scan(first, last, [&](Index begin, Index end, const double* kernel, Index stride) {
          const Index columns = end - begin;
          tile.resize(at(rows * columns));
          copy_rows(kernel, stride, rows, columns, tile.data(), columns);
          multiply(Product<double>{.op_b = Op::transpose,
                                   .m = rows,
                                   .n = columns,
                                   .k = k,
                                   .a = -1,
                                   .left = kt.data() + first * k,
                                   .left_stride = k,
                                   .right = x.data() + begin * k,
                                   .right_stride = k,
                                   .b = 1,
                                   .out = tile.data(),
                                   .out_stride = columns});
          for (Index i = 0; i < rows; ++i)
            norms[at(first + i)] =
                add_dual(p, norms[at(first + i)], tile.data() + i * columns, columns);
        });
      },
      p.kernel.row_block());
  const double largest = *std::max_element(norms.begin(), norms.end());
  return p.q == Norm::two ? std::sqrt(largest) : largest;
}

/// Whether a pass over the points for each of those that may lead costs less than their residuals:
/// products with d x d matrices take as long as some d / 8 passes.
bool few_may_lead(const Problem& p, const CodeSums& sums) {
  if (!sums.linear || sums.linear->leaders.empty()) return false;
  return static_cast<Index>(sums.linear->leaders.size()) <= std::max<Index>(1, p.linear->dim() / 8);
}

}  // namespace

ScoreBound largest_score(const Problem& p, const Codes& codes, const CodeSums& sums) {
  const Magnitudes& sizes = sums.sizes;
  ScoreBound bound = few_may_lead(p, sums)
                         ? ScoreBound{.score = largest_of(p, codes, sums.linear->leaders)}
                     : p.linear ? largest_score_linear(p, codes)
                                : ScoreBound{.score = largest_score_kernel(p, codes)};
  // |p_il| is known to ||a_i|| times what is known of residual l, and the other way round. q = infinity adds n of
  // them up.
  const double many = p.q == Norm::infinity ? std::sqrt(static_cast<double>(p.kernel.size())) : 1.0;
  bound.error += many * (sizes.longest * std::sqrt(sizes.residual_errors) +
                         sizes.roughest * std::sqrt(std::max(0.0, sums.residual)));
  return bound;
}

}  // namespace fwsr
