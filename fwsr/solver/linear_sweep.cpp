#include "fwsr/solver/linear_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/packed.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 256;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// A small row-major matrix.
struct Small {
  Index rows = 0, cols = 0;
  std::vector<double> values;

  Small(Index r, Index c) : rows(r), cols(c), values(at(r * c)) {}
  double* row(Index i) { return values.data() + i * cols; }
  const double* row(Index i) const { return values.data() + i * cols; }
};

/// out = left op(right) for the first `rows` rows of `left`, which stand `left_stride` apart.
void product(Index rows, const double* left, Index left_stride, Op op, const Small& right,
             Small& out) {
  multiply(Product<double>{.op_b = op,
                           .m = rows,
                           .n = out.cols,
                           .k = op == Op::none ? right.rows : right.cols,
                           .left = left,
                           .left_stride = left_stride,
                           .right = right.values.data(),
                           .right_stride = right.cols,
                           .out = out.values.data(),
                           .out_stride = out.cols});
}

/// What every block needs and none changes.
struct Tables {
  Index m = 0, k = 0, rank = 0;
  std::vector<Index> places;  // of the exemplars in the basis
  Small theta;                // k x m
  // What every point is multiplied with. For the codes alone k rows Theta A_B^T, packed; for all sums
  // m basis points, then m rows A_B^T C, then an orthonormal basis of T.
  Small with;
  PackedVectors packed;
  Small among;                          // K_TT, k x k
  Small g;                              // G, m x m
  std::vector<double> norm, roughness;  // of the exemplars: ||a_t|| and w_t
  double of_codes = 0;                  // code_roughness
};

/// What rounding may have done to point i, whose norm is given: to its numbers before centring and after.
/// Dot products and sums of some lengths lose a few units in the last place more.
double roughness_of(const Points& points, Index i, double norm) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return epsilon * (16 * norm + 2 * points.norm_taken_away(i));
}

Tables make_tables(const LinearProblem& p, const std::vector<Index>& exemplars,
                   const Coefficients& theta, bool full) {
  const Index d = p.points.dim(), features = p.points.features();
  const auto m = static_cast<Index>(theta.basis.size());
  const auto k = static_cast<Index>(exemplars.size());
  std::vector<Index> places;
  for (const Index e : exemplars)
    places.push_back(std::find(theta.basis.begin(), theta.basis.end(), e) - theta.basis.begin());
  Small basis(m, d), with_c(m, d), among(k, k), g(m, m), small_theta(k, m);
  small_theta.values = theta.theta;
  for (Index b = 0; b < m; ++b) p.points.row(theta.basis[at(b)], basis.row(b));
  std::vector<double> orthonormal, norm, roughness;
  double of_codes = 0;
  if (full) {
    multiply(Product<double>{.m = m,
                             .n = d,
                             .k = d,
                             .left = basis.values.data(),
                             .left_stride = d,
                             .right = p.covariance.data(),
                             .right_stride = d,
                             .out = with_c.values.data(),
                             .out_stride = d});
    product(m, with_c.values.data(), d, Op::transpose, basis, g);
    std::vector<double> rows;
    for (Index t = 0; t < k; ++t) {
      const double* row = basis.row(places[at(t)]);
      rows.insert(rows.end(), row, row + features);
      for (Index s = 0; s < k; ++s) among.row(t)[s] = dot(row, basis.row(places[at(s)]), d);
      norm.push_back(std::sqrt(among.row(t)[t]));
      roughness.push_back(roughness_of(p.points, exemplars[at(t)], norm.back()));
    }
    orthonormal = orthonormal_rows(std::move(rows), k, features);
    std::vector<double> basis_norms;
    for (Index b = 0; b < m; ++b)
      basis_norms.push_back(std::sqrt(dot(basis.row(b), basis.row(b), d)));
    of_codes = code_roughness(theta, basis_norms, norm);
  }
  const Index rank = full ? static_cast<Index>(orthonormal.size()) / features : 0;
  Small with(full ? 2 * m + rank : k, d);
  if (full) {
    std::copy(basis.values.begin(), basis.values.end(), with.values.begin());
    std::copy(with_c.values.begin(), with_c.values.end(), with.row(m));
    for (Index s = 0; s < rank; ++s)
      std::copy_n(orthonormal.data() + s * features, features, with.row(2 * m + s));
  } else if (k > 0) {
    product(k, small_theta.values.data(), m, Op::none, basis, with);
  }
  std::vector<const double*> to_pack;
  for (Index e = 0; e < k && !full; ++e) to_pack.push_back(with.row(e));
  PackedVectors packed(to_pack, d);
  return {.m = m,
          .k = k,
          .rank = rank,
          .places = std::move(places),
          .theta = std::move(small_theta),
          .with = std::move(with),
          .packed = std::move(packed),
          .among = std::move(among),
          .g = std::move(g),
          .norm = std::move(norm),
          .roughness = std::move(roughness),
          .of_codes = of_codes};
}

/// Room for one block.
struct Scratch {
  Small a, v, x, s, t, y;

  Scratch(const Tables& z, Index rows, Index d)
      : a(rows, d),
        v(rows, z.with.rows),
        x(rows, std::max(z.k, z.packed.size())),
        s(rows, z.k),
        t(rows, z.m),
        y(rows, 0) {}
};

/// What point i adds to the sizes that rounding is measured by.
void add_sizes(const Points& points, Index i, double norm, const Tables& z, const double* code,
               Magnitudes& sizes) {
  const double own = roughness_of(points, i, norm);
  double length = norm, rough = own + z.of_codes * norm;
  for (Index e = 0; e < z.k; ++e) {
    length += std::abs(code[e]) * z.norm[at(e)];
    rough += std::abs(code[e]) * z.roughness[at(e)];
  }
  sizes.add({.absolute = length * length,
             .residual_errors = rough * rough,
             .longest = norm,
             .roughest = own});
}

/// The points whose scores are within `margin` of the largest so far.
struct Leaders {
  struct One {
    Index point;
    double score;
  };
  static constexpr std::size_t most = 16;  // more are not kept
  double margin = 0;
  double largest = -std::numeric_limits<double>::infinity(), left_out = largest;
  std::vector<One> all{};

  void see(const One& one) {
    if (one.score < largest - margin) return;
    largest = std::max(largest, one.score);
    std::erase_if(all, [&](const One& other) { return other.score < largest - margin; });
    if (all.size() < most)
      all.push_back(one);
    else
      left_out = std::max(left_out, one.score);
  }
  void see(const Leaders& others) {
    for (const One& one : others.all) see(one);
    left_out = std::max(left_out, others.left_out);
  }
  bool complete() const { return left_out < largest - margin; }
};

void add_all(std::vector<double>& to, const std::vector<double>& more) {
  if (to.empty()) to.assign(more.size(), 0.0);
  for (std::size_t e = 0; e < more.size(); ++e) to[e] += more[e];
}

/// What one block adds.
struct Part {
  std::vector<double> count, squares;  // per exemplar
  LinearSums sums;
  Leaders leaders;  // by squared scores

  void add(const Part& other) {
    add_all(count, other.count);
    add_all(squares, other.squares);
    add_all(sums.xp, other.sums.xp);
    add_all(sums.squared_score, other.sums.squared_score);
    sums.sizes.add(other.sums.sizes);
    sums.xk += other.sums.xk;
    sums.xkx += other.sums.xkx;
    sums.trace += other.sums.trace;
    sums.plain_trace += other.sums.plain_trace;
    sums.projection += other.sums.projection;
    leaders.margin = other.leaders.margin;
    leaders.see(other.leaders);
  }
};

}  // namespace

void Magnitudes::add(const Magnitudes& other) {
  absolute += other.absolute;
  residual_errors += other.residual_errors;
  longest = std::max(longest, other.longest);
  roughest = std::max(roughest, other.roughest);
}

double code_roughness(const Coefficients& theta, const std::vector<double>& basis_norms,
                      const std::vector<double>& exemplar_norms) {
  double sum = 0;
  const std::size_t m = basis_norms.size();
  for (std::size_t t = 0; t < exemplar_norms.size(); ++t)
    for (std::size_t b = 0; b < m; ++b)
      sum += exemplar_norms[t] * std::abs(theta.theta[t * m + b]) * basis_norms[b];
  return 8 * std::numeric_limits<double>::epsilon() * sum;
}

LinearSums sweep_linear(const LinearProblem& p, const CodesOf& codes, const Wanted& wanted,
                        Selection& selection) {
  const bool assignment = wanted.assignment, keep_codes = wanted.codes, full = wanted.sums;
  const Points& points = p.points;
  const Index n = points.size(), d = points.dim();
  const Tables z = make_tables(p, codes.exemplars, codes.theta, full);
  const Index m = z.m, k = z.k;
  if (assignment) selection.assignment.assign(at(n), -1);
  if (keep_codes) selection.codes.assign(at(n * k), 0.0);
  selection.weights.assign(at(k), 0.0);
  selection.strength.assign(at(k), 0.0);

  const double score_error = 4 * p.r_error;  // of squared scores: a few times that of r
  const double eta_squared = points.eta() * points.eta();
  const Index height = std::min(n, sweep_rows);
  const auto work =
      2.0 * static_cast<double>(n) * static_cast<double>(d) * static_cast<double>(z.with.rows);
  const int team = threads_for(p.threads, work);
  std::vector<std::optional<Scratch>> scratch(static_cast<std::size_t>(std::max(1, team)));
  std::vector<Part> parts(at(block_count(n, sweep_rows)));
  for_blocks(
      team, n,
      [&](int thread, Index b, Index first, Index last) {
        stop_unless(p.alive);
        auto& own = scratch[static_cast<std::size_t>(thread)];
        if (!own) own.emplace(z, height, d);
        auto& [a, v, x, s, t, y] = *own;
        const Index rows = last - first;
        points.rows(first, last, a.values.data());
        if (full) {
          if (z.with.rows > 0) product(rows, a.values.data(), d, Op::transpose, z.with, v);
          if (k > 0) product(rows, v.values.data(), v.cols, Op::transpose, z.theta, x);
        } else {
          for (Index e = 0; e < z.packed.size(); e += packed_width)
            dots(a.values.data(), rows, d, z.packed.group(e), x.values.data() + e, x.cols);
        }
        Part& part = parts[at(b)];
        part.leaders.margin = 2 * score_error;
        part.count.assign(at(k), 0.0);
        part.squares.assign(at(k), 0.0);
        for (Index i = 0; i < rows && k > 0; ++i) {
          const double* code = x.row(i);
          const Index best = largest_code(code, k, part.squares.data());
          part.count[at(best)] += 1;
          if (assignment) selection.assignment[at(first + i)] = best;
          if (keep_codes) std::copy(code, code + k, selection.codes.begin() + (first + i) * k);
        }
        if (!full) return;
        for (Index i = 0; i < rows; ++i)
          for (Index e = 0; e < k; ++e) s.row(i)[e] = v.row(i)[z.places[at(e)]];
        if (k > 0) product(rows, s.values.data(), k, Op::none, z.theta, t);
        y.cols = m;
        y.values.resize(at(height * m));
        if (m > 0) product(rows, t.values.data(), m, Op::none, z.g, y);
        LinearSums& sums = part.sums;
        sums.xp.assign(at(k), 0.0);
        sums.squared_score.assign(at(k), 0.0);
        for (Index i = 0; i < rows; ++i) {
          const double score =
              p.r[at(first + i)] - 2 * dot(v.row(i) + m, t.row(i), m) + dot(y.row(i), t.row(i), m);
          part.leaders.see(Leaders::One{first + i, score});
          sums.xk += dot(x.row(i), s.row(i), k);
          const double square = points.squared_norm(first + i);
          sums.plain_trace += square;
          sums.trace += square + eta_squared;
          const double* along = v.row(i) + 2 * m;
          sums.projection += square - dot(along, along, z.rank);
          add_sizes(points, first + i, std::sqrt(square + eta_squared), z, x.row(i), sums.sizes);
        }
        y.cols = k;
        y.values.resize(at(height * k));
        if (k > 0) product(rows, x.values.data(), k, Op::none, z.among, y);
        for (Index i = 0; i < rows; ++i) {
          sums.xkx += dot(x.row(i), y.row(i), k);
          for (Index e = 0; e < k; ++e) {  // p_t at point i, s - (X K_TT)
            const double p_ti = s.row(i)[e] - y.row(i)[e];
            sums.xp[at(e)] += x.row(i)[e] * p_ti;
            sums.squared_score[at(e)] += p_ti * p_ti;
          }
        }
      },
      sweep_rows);

  Part all =
      sum_in_segments(parts, n, sweep_rows, [](Part& to, const Part& part) { to.add(part); });
  LinearSums& sums = all.sums;
  if (k > 0) selection.weights = std::move(all.count);
  for (Index e = 0; e < k; ++e) selection.strength[at(e)] = std::sqrt(all.squares[at(e)]);
  if (full) {
    const Leaders& leaders = all.leaders;
    sums.largest_score = std::sqrt(std::max(0.0, leaders.largest));
    sums.score_error =
        sums.largest_score > 0 ? score_error / (2 * sums.largest_score) : std::sqrt(score_error);
    if (leaders.complete())
      for (const auto& one : leaders.all) sums.leaders.push_back(one.point);
  }
  return std::move(sums);
}

}  // namespace fwsr
