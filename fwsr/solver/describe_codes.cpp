#include "fwsr/base/at.hpp"
#include "fwsr/solver/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/finite.hpp"
#include "fwsr/kernel/formula.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/exchange_points.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 384;

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
  double largest(Index first, Index last, Index k, const double* u,
                 const std::vector<char>& candidates) const {
    const Index rows = last - first;
    std::vector<double> t(at(rows * m_)), gt(at(rows * m_));
    const auto product = [&](Index depth, const double* left, const double* right, double* out) {
      multiply(Product<double>{
          .m = rows, .n = m_, .k = depth, .left = left, .right = right, .out = out});
    };
    product(k, u, theta_.theta.data(), t.data());
    product(m_, t.data(), g_.data(), gt.data());
    double most = 0;
    for (Index i = 0; i < rows; ++i) {
      if (!candidates.empty() && !candidates[at(first + i)]) continue;
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

/// What rounding may have done to the kernel values of a point, as a length w_i: |K_ij| is known to
/// w_i sqrt(K_jj) + sqrt(K_ii) w_j. docs/forms.md
class Roughness {
 public:
  explicit Roughness(const Problem& p) : points_(p.points), type_(p.type) {
    base_ = p.kernel.single() ? 0x1p-20 : 16 * std::numeric_limits<double>::epsilon();
    unit_ = p.points ? p.points->unit() : 1;
  }

  /// Inner products of points i and j are right to within reach_i reach_j: more than lengths w tell where centring takes
  /// nearly all of sparse points, whose products are differences.
  double reach(Index i, double norm) const {
    if (!points_ || !points_->sparse() || !formula_of(type_.type).linear) return 0;
    const double taken = points_->norm_taken_away(i);
    constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
    return taken > 0 ? std::sqrt(rounding) * (norm + taken) : 0.0;
  }

  double of(Index i, double norm) const {
    constexpr double units = 2 * std::numeric_limits<double>::epsilon();
    if (!points_) return base_ * norm;
    const double moved = units * points_->norm_taken_away(i);  // by this the point itself
    const double gamma = type_.gamma.value_or(0.0), by = moved / unit_;
    // Distances from norms: entries that would lose more than this are computed from differences.
    const double squared = points_->squared_norm(i) / unit_ / unit_;
    const double from_norms = std::min(0x1p-20, 4 * units * gamma * squared);
    const auto d = static_cast<double>(points_->features());
    const KernelFormula& formula = formula_of(type_.type);
    if (formula.linear) return base_ * norm + moved;
    if (formula.of == KernelOf::squared_distances)  // of phi(gamma s^2), |dk / ds| <= sqrt(gamma)
      return norm * std::min(1.0, 4 * base_ + std::sqrt(gamma) * by + from_norms);
    if (formula.of == KernelOf::absolute_distances) {
      // Of points less their mean, which is no longer than their root mean square.
      const double less_mean = by + units * points_->rms_norm() / unit_;
      return norm * std::min(1.0, 4 * base_ + gamma * std::sqrt(d) * less_mean);
    }
    const double length = std::max(std::sqrt(points_->squared_norm(i)), points_->rms_norm());
    return norm * std::min(1.0, (base_ + (length > 0 ? moved / length : 0.0)) *
                                    (1 + formula.steepness_of(type_)));
  }

 private:
  const Points* points_;
  Kernel type_;
  double base_, unit_;
};

}  // namespace

namespace {

/// ||X_t|| of the first rows of X = Theta A_B^T A, from C: with u_t = A_B Theta_t^T that is u_t^T C u_t.
std::vector<double> row_norms(const PointSet& set, const Covariance& covariance,
                              const Coefficients& theta, Index count) {
  const Index dim = set.facts().dim, m = std::ssize(theta.basis);
  std::vector<double> basis(at(m * dim)), u(at(count * dim));
  set.whole_rows_of(theta.basis, basis.data());
  multiply(Product<double>{.m = count,
                           .n = dim,
                           .k = m,
                           .left = theta.theta.data(),
                           .right = basis.data(),
                           .out = u.data()});
  const std::vector<double> cu = times_covariance(u, covariance.with_included(), dim);
  std::vector<double> norms;
  for (Index t = 0; t < count; ++t)
    norms.push_back(std::sqrt(std::max(0.0, dot(u.data() + t * dim, cu.data() + t * dim, dim))));
  return norms;
}

/// Beside exemplars that are included: these may be many, and the certificate is about what they leave of the points.
/// Only who is nearest to whom is asked about all.
CodeSums describe_left(const Problem& problem, const Codes& codes, const SelectOptions& options,
                       Selection& selection) {
  const auto included = problem.terms.included.size();
  const bool full = options.certificate == CertificateKind::full;
  const Coefficients nearest{.basis = codes.list(), .theta = {}, .offset = {}};
  problem.set->describe(*problem.covariance,
                        {codes.list(), options.codes ? *codes.theta() : nearest},
                        {.assignment = options.assignment, .codes = options.codes}, selection);
  Selection left;
  const LinearSums sums =
      problem.set->describe(*problem.covariance, *problem.left, {.sums = full}, left);
  selection.strength =
      row_norms(*problem.set, *problem.covariance, *codes.theta(), static_cast<Index>(included));
  selection.strength.insert(selection.strength.end(), left.strength.begin(), left.strength.end());
  for (const double s : selection.strength) require_finite(s);
  double trace = 0, whole = 0;  // of what is left, and of the points
  const Index dim = problem.set->facts().dim;
  for (Index l = 0; l < dim; ++l) {
    trace += problem.covariance->c[at(l * dim + l)];
    whole += problem.covariance->with_included()[at(l * dim + l)];
  }
  CodeSums found{.xk = sums.xk,
                 .xkx = sums.xkx,
                 .trace = sums.trace,
                 .residual = trace - 2 * sums.xk + sums.xkx,
                 .smallest = 0,
                 .sizes = sums.sizes,
                 .xp = std::vector<double>(included),
                 .scores = std::vector<double>(included),
                 .linear = sums,
                 .largest_score = {},
                 .score_error = sums.score_error};
  found.xp.insert(found.xp.end(), sums.xp.begin(), sums.xp.end());
  for (const double s : sums.squared_score) found.scores.push_back(std::sqrt(s));
  // What all exemplars leave: sum ||a||^2 less tr C - tr C', which what is included takes, and what the others take of the
  // rest. A row of eta would count, too; and digits are to be left.
  double& projection = found.linear->projection;
  projection -= whole - trace;
  if (problem.set->facts().eta != 0 || projection < 1e-2 * sums.plain_trace) projection = 0;
  if (problem.terms.costs.empty())
    found.largest_score = sums.largest_score;
  else
    found.linear->leaders.clear();
  return found;
}

}  // namespace

CodeSums describe_codes(const Problem& problem, const Codes& codes, const SelectOptions& options,
                        Selection& selection) {
  const Index n = problem.kernel.size();
  const Index k = codes.exemplars();
  const bool full = options.certificate == CertificateKind::full;
  if (problem.left) return describe_left(problem, codes, options, selection);
  if (problem.set && codes.theta()) {
    LinearSums sums = problem.set->describe(
        *problem.covariance, {codes.list(), *codes.theta()},
        {.assignment = options.assignment, .codes = options.codes, .sums = full}, selection);
    for (const double s : selection.strength) require_finite(s);
    std::vector<double> scores;
    for (const double s : sums.squared_score) scores.push_back(std::sqrt(s));
    const bool told = problem.terms.costs.empty();  // scores are not those by cost
    if (!told) sums.leaders.clear();
    return {.xk = sums.xk,
            .xkx = sums.xkx,
            .trace = sums.trace,
            .residual = sums.trace - 2 * sums.xk + sums.xkx,
            .smallest = 0,
            .sizes = sums.sizes,
            .xp = sums.xp,
            .scores = std::move(scores),
            .linear = sums,
            .largest_score = told ? std::optional(sums.largest_score) : std::nullopt,
            .score_error = sums.score_error};
  }
  const auto blocks = at(block_count(n, sweep_rows));
  struct Part {
    std::vector<double> counts, norms, xp, scores;
    Magnitudes sizes;
    double xk = 0, xkx = 0, trace = 0, smallest = 0, score = 0;
    double cancelled = 0, farthest = 0;
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
  const NearestExemplar nearest(problem.kernel, codes.list());
  const Roughness roughness(problem);
  const Terms& terms = problem.terms;
  const std::vector<char> candidates = candidate_marks(terms, n);
  std::vector<double> exemplar_norms(at(k)), exemplar_errors(at(k)), exemplar_reach(at(k));
  for (Index t = 0; t < k; ++t) {
    const Index e = codes.list()[at(t)];
    exemplar_norms[at(t)] = std::sqrt(std::max(0.0, problem.kernel.diagonal(e)));
    exemplar_errors[at(t)] = roughness.of(e, exemplar_norms[at(t)]);
    exemplar_reach[at(t)] = roughness.reach(e, exemplar_norms[at(t)]);
  }
  double of_codes = 0, of_scores = 0;
  if (full && codes.theta()) {
    std::vector<double> basis_norms;
    for (const Index b : codes.theta()->basis)
      basis_norms.push_back(std::sqrt(std::max(0.0, problem.kernel.diagonal(b))));
    of_codes = code_roughness(*codes.theta(), basis_norms, exemplar_norms);
    if (scores) of_scores = of_codes + score_roughness(*codes.theta(), basis_norms, among);
  }
  const auto work = 2.0 * static_cast<double>(n) * static_cast<double>(k);
  for_blocks(
      threads_for(problem.threads, work * static_cast<double>(k + 8)), n,
      [&](Index b, Index first, Index last) {
        throw_if_cancelled(problem.keep_going);
        Part& part = parts[at(b)];
        part.counts.assign(at(k), 0.0);
        part.norms.assign(at(k), 0.0);
        const Index rows = last - first;
        const Codes::Block block = k > 0 ? codes.block(first, last) : Codes::Block();
        for (Index i = first; i < last && k > 0; ++i) {
          const double* x = block.codes.data() + (i - first) * k;
          const Index best = nearest.of(i, block.kernel.data() + (i - first) * k);
          for (Index t = 0; t < k; ++t) {
            const double v = std::abs(x[t]);
            double& norm = part.norms[at(t)];
            if (problem.q == Norm::infinity)
              norm = std::max(norm, v);
            else
              norm += problem.q == Norm::two ? terms.weight(i) * (v * v) : v;
            part.smallest = std::min(part.smallest, x[t]);
          }
          part.counts[at(best)] += terms.weight(i);
          if (options.assignment) selection.assignment[at(i)] = best;
          if (options.codes) std::copy(x, x + k, selection.codes.begin() + i * k);
        }
        if (!full) return;
        part.xp.assign(at(k), 0.0);
        part.scores.assign(at(k), 0.0);
        for (Index i = first; i < last; ++i) {
          const double square = problem.kernel.diagonal(i);
          part.trace += terms.weight(i) * square;
          const double norm = std::sqrt(std::max(0.0, square)), own = roughness.of(i, norm);
          double length = norm, rough = own + of_codes * norm, reach = roughness.reach(i, norm);
          part.farthest = std::max(part.farthest, reach);
          for (Index t = 0; t < k; ++t) {
            const double v = std::abs(block.codes[at((i - first) * k + t)]);
            length += v * exemplar_norms[at(t)];
            rough += v * exemplar_errors[at(t)];
            reach += v * exemplar_reach[at(t)];
          }
          part.cancelled += terms.weight(i) * (reach * reach);
          part.sizes.add({.absolute = terms.weight(i) * (length * length),
                          .residual_errors = terms.weight(i) * (rough * rough),
                          .longest = norm,
                          .roughest = own});
        }
        if (k == 0) return;
        if (scores) part.score = scores->largest(first, last, k, block.kernel.data(), candidates);
        std::vector<double> y(at(rows * k));  // X K_TT
        multiply(Product<double>{.m = rows,
                                 .n = k,
                                 .k = k,
                                 .left = block.codes.data(),
                                 .right = among.data(),
                                 .out = y.data()});
        for (Index i = 0; i < rows; ++i) {
          const double* x = block.codes.data() + i * k;
          const double weight = terms.weight(first + i);
          part.xk += weight * dot(x, block.kernel.data() + i * k, k);
          part.xkx += weight * dot(x, y.data() + i * k, k);
          for (Index t = 0; t < k; ++t) {
            double p = block.kernel[at(i * k + t)] - y[at(i * k + t)];
            part.xp[at(t)] += weight * (x[t] * p);
            if (terms.weighted()) p *= std::sqrt(weight);
            part.scores[at(t)] = add_dual(problem, part.scores[at(t)], &p, 1);
          }
        }
      },
      sweep_rows);
  CodeSums sums;
  if (full) sums.xp.assign(at(k), 0.0), sums.scores.assign(at(k), 0.0);
  for (const Part& part : parts) {
    sums.sizes.add(part.sizes);
    for (Index t = 0; t < k && full; ++t) {
      sums.xp[at(t)] += part.xp[at(t)];
      double& score = sums.scores[at(t)];
      score =
          problem.q == Norm::one ? std::max(score, part.scores[at(t)]) : score + part.scores[at(t)];
    }
    sums.xk += part.xk;
    sums.xkx += part.xkx;
    sums.trace += part.trace;
    sums.smallest = std::min(sums.smallest, part.smallest);
    sums.cancelled += part.cancelled;
    sums.score_cancelled = std::max(sums.score_cancelled, part.farthest);
    if (scores) sums.largest_score = std::max(sums.largest_score.value_or(0.0), part.score);
    for (Index t = 0; t < k; ++t) {
      selection.weights[at(t)] += part.counts[at(t)];
      double& s = selection.strength[at(t)];
      s = problem.q == Norm::infinity ? std::max(s, part.norms[at(t)]) : s + part.norms[at(t)];
    }
  }
  if (problem.q == Norm::two)
    for (double& s : selection.strength) s = std::sqrt(s);
  for (const double s : selection.strength) require_finite(s);
  if (problem.q == Norm::two)
    for (double& s : sums.scores) s = std::sqrt(s);
  sums.residual = sums.trace - 2 * sums.xk + sums.xkx;
  sums.score_cancelled *= std::sqrt(sums.cancelled);
  if (sums.largest_score) {
    const std::vector<double>& r = problem.products->r;
    // r and W are sums over points whose own numbers are rounded, each in its way.
    const double of_points = 4 * sums.sizes.roughest / std::max(sums.sizes.longest, 1e-300);
    const double error = (16 * std::numeric_limits<double>::epsilon() + of_points + of_scores) *
                         *std::max_element(r.begin(), r.end());
    sums.largest_score = std::sqrt(*sums.largest_score);
    sums.score_error =
        *sums.largest_score > 0 ? error / (2 * *sums.largest_score) : std::sqrt(error);
  }
  return sums;
}

}  // namespace fwsr
