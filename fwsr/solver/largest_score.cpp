#include "fwsr/solver/largest_score.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 384;

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

/// ||p_i||^2 for q = 2: P = K - K_T^T X_T.
std::vector<double> squared_scores(const Problem& p, const Codes& codes) {
  const Index n = p.kernel.size(), k = codes.exemplars();
  std::vector<double> x(at(k * n)), kt(at(k * n));  // X_T and K_T
  for_blocks(
      p.threads, n,
      [&](Index, Index first, Index last) {
        const Codes::Block block = codes.block(first, last);
        for (Index i = first; i < last; ++i)
          for (Index t = 0; t < k; ++t) {
            kt[at(t * n + i)] = block.kernel[at((i - first) * k + t)];
            x[at(t * n + i)] = block.codes[at((i - first) * k + t)];
          }
      },
      sweep_rows);
  std::vector<double> squares(at(n));
  p.kernel.sum_left({.m = k, .u = kt.data(), .v = x.data()}, p.terms.weights, {.squares = squares},
                    p.threads, p.keep_going);
  return squares;
}

/// ||p_i||_dual for any q, row block by row block.
std::vector<double> scores_by_rows(const Problem& p, const Codes& codes) {
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
        throw_if_cancelled(p.keep_going);
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
                                   .right = x.data() + begin * k,
                                   .b = 1,
                                   .out = tile.data(),
                                   .out_stride = columns});
          for (Index i = 0; i < rows; ++i) {
            double* const own = tile.data() + i * columns;
            for (Index l = 0; l < columns && p.terms.weighted(); ++l)
              own[l] *= std::sqrt(p.terms.weight(begin + l));
            norms[at(first + i)] = add_dual(p, norms[at(first + i)], own, columns);
          }
        });
      },
      p.kernel.row_block());
  return norms;
}

/// max_i ||p_i||_dual for any kernel and q.
double largest_score_kernel(const Problem& p, const Codes& codes) {
  const Index n = p.kernel.size();
  const bool squares = p.q == Norm::two && !p.nonneg;
  const std::vector<double> norms = squares ? squared_scores(p, codes) : scores_by_rows(p, codes);
  const std::vector<char> candidates = candidate_marks(p.terms, n);
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    if (!candidates.empty() && !candidates[at(i)]) continue;
    const double norm = p.q == Norm::two ? std::sqrt(norms[at(i)]) : norms[at(i)];
    largest = std::max(largest, norm / p.terms.cost(i));
  }
  return largest;
}

/// Whether a pass over the points for each of those that may lead costs less than their residuals:
/// products with d x d matrices take as long as some d / 8 passes.
bool few_may_lead(const Problem& p, const CodeSums& sums) {
  if (!sums.linear || sums.linear->leaders.empty()) return false;
  return static_cast<Index>(sums.linear->leaders.size()) <=
         std::max<Index>(1, p.set->facts().dim / 8);
}

}  // namespace

double score_rounding(const Problem& p, const CodeSums& sums) {
  const Magnitudes& sizes = sums.sizes;
  // q = infinity adds n of them up.
  const double many = p.q == Norm::infinity ? std::sqrt(static_cast<double>(p.kernel.size())) : 1.0;
  return many * (sizes.longest * std::sqrt(sizes.residual_errors) +
                 sizes.roughest * std::sqrt(std::max(0.0, sums.residual)));
}

ScoreBound largest_score(const Problem& p, const Codes& codes, const CodeSums& sums, double f) {
  const Magnitudes& sizes = sums.sizes;
  ScoreBound bound;
  const std::vector<double>& costs = p.terms.costs;
  const double least = costs.empty() ? 1.0 : *std::min_element(costs.begin(), costs.end());
  if (p.left && f <= sizes.residual_errors) {  // q = 2
    bound.error = sizes.longest * std::sqrt(std::max(0.0, f)) / least;
  } else if (few_may_lead(p, sums)) {
    for (const Index i : sums.linear->leaders) {
      throw_if_cancelled(p.keep_going);
      bound.score = std::max(bound.score, p.set->score_of(i, asked_of_set(p, codes)));
    }
  } else {
    bound = p.set ? p.set->largest_score(asked_of_set(p, codes))
                  : ScoreBound{.score = largest_score_kernel(p, codes)};
  }
  bound.error += score_rounding(p, sums) / least;
  return bound;
}

}  // namespace fwsr
