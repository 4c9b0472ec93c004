#include "fwsr/solver/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"
#include "fwsr/solver/regression.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 384;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double total(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// max_i ||p_i|| for the linear kernel: p_i = A^T-row of R, ||p_i||^2 = a_i^T (R R^T) a_i.
double largest_score_linear(const Problem& p, const Codes& codes) {
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
  const std::vector<double> rr = gram_of_rows<double>(n, d, p.threads, residual).products;
  std::vector<double> squares(at(n));
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(p.alive);
    points.rows(first, last, out);
  };
  quadratic_forms<double>(n, d, p.threads, fill, rr,
                          [&](Index first, Index last, const double* forms) {
                            std::copy_n(forms, last - first, squares.begin() + first);
                          });
  return std::sqrt(std::max(0.0, *std::max_element(squares.begin(), squares.end())));
}

/// Whether a pass over the points for each of those that may lead costs less than their residuals:
/// products with d x d matrices take as long as some d / 8 passes.
bool few_may_lead(const Problem& p, const CodeSums& sums) {
  if (!sums.linear || sums.linear->leaders.empty()) return false;
  return static_cast<Index>(sums.linear->leaders.size()) <= std::max<Index>(1, p.linear->dim() / 8);
}
double largest_of_leaders(const Problem& p, const Codes& codes, const CodeSums& sums) {
  double largest = 0;
  for (const Index i : sums.linear->leaders) {
    stop_unless(p.alive);
    largest = std::max(largest, score_of(*p.linear, i, codes.list(), *codes.theta(), p.threads));
  }
  return largest;
}

/// ||p||_dual of the entries of p so far, as a sum or a largest value: `norm` and what p adds.
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

/// ||p_i||^2 = r_i - 2 w_i.t_i + t_i^T G t_i with t_i = Theta^T u_i, u_i the kernel values of point i
/// with the exemplars, w_i its row of W = K K_B, and G = K_B^T K_B.
class ScoresFromProducts {
 public:
  ScoresFromProducts(const KernelProducts& products, const Coefficients& theta)
      : products_(products),
        theta_(theta),
        m_(static_cast<Index>(theta.basis.size())),
        g_(at(m_ * m_)) {
    const Index n = static_cast<Index>(products.r.size());
    for (const Index b : theta.basis)
      rows_.push_back(
          products.w.data() +
          (std::find(products.basis.begin(), products.basis.end(), b) - products.basis.begin()) *
              n);
    for (Index b = 0; b < m_; ++b)
      for (Index l = 0; l < m_; ++l) g_[at(b * m_ + l)] = rows_[at(b)][theta.basis[at(l)]];
  }

  /// The largest of points first .. last, whose kernel values with k exemplars are `u`.
  double largest(Index first, Index last, Index k, const double* u) const {
    const Index rows = last - first;
    std::vector<double> t(at(rows * m_)), gt(at(rows * m_));
    const auto product = [&](Index depth, const double* left, const double* right, double* out) {
      multiply(Product<double>{.m = rows,
                               .n = m_,
                               .k = depth,
                               .left = left,
                               .left_stride = depth,
                               .right = right,
                               .right_stride = m_,
                               .out = out,
                               .out_stride = m_});
    };
    product(k, u, theta_.theta.data(), t.data());
    product(m_, t.data(), g_.data(), gt.data());
    double most = 0;
    for (Index i = 0; i < rows; ++i) {
      double with_w = 0;
      for (Index b = 0; b < m_; ++b) with_w += rows_[at(b)][first + i] * t[at(i * m_ + b)];
      most = std::max(most, products_.r[at(first + i)] - 2 * with_w +
                                dot(t.data() + i * m_, gt.data() + i * m_, m_));
    }
    return most;
  }

 private:
  const KernelProducts& products_;
  const Coefficients& theta_;
  Index m_;
  std::vector<const double*> rows_;  // of W^T, in the order of theta.basis
  std::vector<double> g_;
};

}  // namespace

CodeSums describe_codes(const Problem& problem, const Codes& codes, const SelectOptions& options,
                        Selection& selection) {
  const Index n = problem.kernel.size();
  const Index k = codes.exemplars();
  const bool full = options.certificate == CertificateKind::full;
  if (problem.covariance && codes.theta()) {
    const LinearProblem linear{.points = *problem.linear,
                               .covariance = problem.covariance->c,
                               .r = problem.covariance->r,
                               .r_error = problem.covariance->r_error,
                               .threads = problem.threads,
                               .alive = problem.alive};
    const LinearSums sums = sweep_linear(linear, codes.list(), *codes.theta(), options.assignment,
                                         options.codes, full, selection);
    return {.xk = sums.xk,
            .xkx = sums.xkx,
            .trace = sums.trace,
            .smallest = 0,
            .linear = sums,
            .largest_score = sums.largest_score,
            .score_error = sums.score_error};
  }
  const auto blocks = at(block_count(n, sweep_rows));
  struct Part {
    std::vector<double> counts, norms;
    double xk = 0, xkx = 0, trace = 0, smallest = 0, score = 0;
  };
  std::vector<Part> parts(blocks);
  std::optional<ScoresFromProducts> scores;
  if (full && k > 0 && problem.products && codes.theta())
    scores.emplace(*problem.products, *codes.theta());
  if (options.assignment) selection.assignment.assign(at(n), -1);
  if (options.codes) selection.codes.assign(at(n * k), 0.0);
  selection.weights.assign(at(k), 0.0);
  selection.strength.assign(at(k), 0.0);
  const std::vector<double> among =
      full ? problem.kernel.values(codes.list(), codes.list()) : std::vector<double>();
  const auto work = 2.0 * static_cast<double>(n) * static_cast<double>(k);
  for_blocks(
      threads_for(problem.threads, work * static_cast<double>(k + 8)), n,
      [&](Index b, Index first, Index last) {
        stop_unless(problem.alive);
        Part& part = parts[at(b)];
        part.counts.assign(at(k), 0.0);
        part.norms.assign(at(k), 0.0);
        const Index rows = last - first;
        const Codes::Block block = k > 0 ? codes.block(first, last) : Codes::Block();
        for (Index i = first; i < last && k > 0; ++i) {
          const double* x = block.codes.data() + (i - first) * k;
          Index best = 0;
          for (Index t = 0; t < k; ++t) {
            const double v = std::abs(x[t]);
            if (v > std::abs(x[best])) best = t;
            double& norm = part.norms[at(t)];
            if (problem.q == Norm::infinity)
              norm = std::max(norm, v);
            else
              norm += problem.q == Norm::two ? v * v : v;
            part.smallest = std::min(part.smallest, x[t]);
          }
          part.counts[at(best)] += 1;
          if (options.assignment) selection.assignment[at(i)] = best;
          if (options.codes) std::copy(x, x + k, selection.codes.begin() + i * k);
        }
        if (!full) return;
        for (Index i = first; i < last; ++i) part.trace += problem.kernel.diagonal(i);
        if (k == 0) return;
        if (scores) part.score = scores->largest(first, last, k, block.kernel.data());
        std::vector<double> y(at(rows * k));  // X K_TT
        multiply(Product<double>{.m = rows,
                                 .n = k,
                                 .k = k,
                                 .left = block.codes.data(),
                                 .left_stride = k,
                                 .right = among.data(),
                                 .right_stride = k,
                                 .out = y.data(),
                                 .out_stride = k});
        for (Index i = 0; i < rows; ++i) {
          const double* x = block.codes.data() + i * k;
          part.xk += dot(x, block.kernel.data() + i * k, k);
          part.xkx += dot(x, y.data() + i * k, k);
        }
      },
      sweep_rows);
  CodeSums sums;
  for (const Part& part : parts) {
    sums.xk += part.xk;
    sums.xkx += part.xkx;
    sums.trace += part.trace;
    sums.smallest = std::min(sums.smallest, part.smallest);
    if (scores) sums.largest_score = std::max(sums.largest_score.value_or(0.0), part.score);
    for (Index t = 0; t < k; ++t) {
      selection.weights[at(t)] += part.counts[at(t)];
      double& s = selection.strength[at(t)];
      s = problem.q == Norm::infinity ? std::max(s, part.norms[at(t)]) : s + part.norms[at(t)];
    }
  }
  if (problem.q == Norm::two)
    for (double& s : selection.strength) s = std::sqrt(s);
  if (sums.largest_score) {
    const std::vector<double>& r = problem.products->r;
    const double error =
        16 * std::numeric_limits<double>::epsilon() * *std::max_element(r.begin(), r.end());
    sums.largest_score = std::sqrt(*sums.largest_score);
    sums.score_error =
        *sums.largest_score > 0 ? error / (2 * *sums.largest_score) : std::sqrt(error);
  }
  return sums;
}

Certificate certify(const Problem& problem, const Codes& codes, const CodeSums& sums,
                    const SelectOptions& options, const Selection& selection) {
  const double unit = problem.kernel.unit();
  const auto in_users_units = [&](double v) { return v / unit / unit; };
  Certificate c;
  c.beta = problem.beta;
  c.radius_used = total(selection.strength);
  c.feasible =
      (c.radius_used <= problem.beta * (1 + problem.precision) || std::isinf(problem.beta)) &&
      (!problem.nonneg || sums.smallest >= 0);
  c.f = in_users_units(sums.trace - 2 * sums.xk + sums.xkx);
  c.f_at_zero = in_users_units(sums.trace);
  if (std::isinf(problem.beta)) {
    c.gap = std::numeric_limits<double>::infinity();
  } else {
    // The score from few products, where rounding leaves the gap its digits; else of the few points
    // that rounding leaves in doubt; else from R itself.
    const bool enough = sums.largest_score &&
                        2 * problem.beta * sums.score_error <= problem.precision / 2 * sums.trace;
    const double score = enough                        ? *sums.largest_score
                         : few_may_lead(problem, sums) ? largest_of_leaders(problem, codes, sums)
                         : problem.linear              ? largest_score_linear(problem, codes)
                                                       : largest_score_kernel(problem, codes);
    c.gap = in_users_units(2 * (problem.beta * score - (sums.xk - sums.xkx)));
  }
  // How well the exemplars stand for the points is a question about the kernel itself.
  const bool approximate = problem.exact != nullptr;
  const KernelMatrix& kernel = approximate ? *problem.exact : problem.kernel;
  const double own_unit = kernel.unit();
  const double rho = options.rho ? *options.rho * own_unit : -1.0;
  const std::vector<Index>& exemplars = selection.exemplars;  // filled ones too
  // ||a||^2 less that of its projection is good to rounding of ||a||^2: enough unless little is left.
  const bool told = sums.linear && !approximate && rho < 0 &&
                    exemplars.size() == codes.list().size() &&
                    sums.linear->projection > 1e-5 * sums.linear->plain_trace;
  const Regression errors =
      told ? Regression{sums.linear->projection, sums.linear->projection, sums.linear->plain_trace}
           : regress(kernel, approximate ? nullptr : problem.linear, exemplars, rho,
                     problem.threads, problem.alive);
  c.reconstruction_error = errors.trace > 0 ? errors.projection / errors.trace : 0.0;
  if (options.lambda && options.rho)
    c.boolean_objective = *options.lambda * static_cast<double>(exemplars.size()) +
                          errors.ridge / own_unit / own_unit;
  return c;
}

}  // namespace fwsr
