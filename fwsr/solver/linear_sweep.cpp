#include "fwsr/solver/linear_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/packed.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/nearest_exemplar.hpp"
#include "fwsr/solver/screened_nearest.hpp"
#include "fwsr/solver/sweep_directions.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 256;

/// out = left op(right) for the first `rows` rows of `left`, which stand `left_stride` apart.
void product(Index rows, const double* left, Index left_stride, Op op, const SmallMatrix& right,
             SmallMatrix& out) {
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

/// What rounding may have done to point i, whose norm is given: to its numbers before centring and after.
/// Dot products and sums of some lengths lose a few units in the last place more.
double roughness_of(double norm, double taken_away) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  return epsilon * (16 * norm + 2 * taken_away);
}

/// Room for one block where no sums are wanted.
struct Scratch {
  SmallMatrix a, v, x, s;

  Scratch(const SweepTables& z, const PackedVectors& packed, Index rows, Index d)
      : a(rows, d),
        v(rows, z.by_product() ? z.with.rows : packed.size()),
        x(rows, z.k),
        s(rows, z.k) {}
};

/// What point i adds to the sizes that rounding is measured by.
void add_sizes(const Points& points, Index i, double norm, double weight, const SweepTables& z,
               const double* code, double* absolute, Magnitudes& sizes) {
  const double own = roughness_of(norm, points.norm_taken_away(i));
  for (Index e = 0; e < z.k; ++e) absolute[e] = std::abs(code[e]);
  const double length = norm + dot(absolute, z.norm.data(), z.k);
  const double rough = own + z.of_codes * norm + dot(absolute, z.roughness.data(), z.k);
  sizes.add({.absolute = weight * (length * length),
             .residual_errors = weight * (rough * rough),
             .longest = norm,
             .roughest = own});
}

/// The sums of the certificate over points first, ... of a block.
void add_sums(const Points& points, const SweepTables& z, const std::vector<double>& r,
              const Terms& terms, const std::vector<char>& candidates,
              const SweepDirections& directions, Index first, Index rows,
              SweepDirections::Scratch& block, SweepPart& part) {
  const Index k = z.k, before = points.portion().first;
  const double eta_squared = points.eta() * points.eta();
  part.leaders.margin = 2 * z.score_error;
  LinearSums& sums = part.sums;
  sums.xp.assign(at(k), 0.0);
  sums.squared_score.assign(at(k), 0.0);
  for (Index i = 0; i < rows; ++i) {
    const double *s = block.s.row(i), *x = block.x.row(i), *p = block.p.row(i);
    if (candidates.empty() || candidates[at(first + i)])
      part.leaders.see(
          Leaders::One{before + first + i, r[at(first + i)] + directions.score_less_r(block, i)});
    const double weight = terms.weight(first + i), square = points.squared_norm(first + i);
    const double xk = dot(x, s, k);
    sums.xk += weight * xk;
    sums.xkx += weight * (xk - dot(x, p, k));
    sums.plain_trace += weight * square;
    sums.trace += weight * (square + eta_squared);
    if (z.rank > 0 || k == 0)
      sums.projection += weight * (square - directions.squared_along(block, i));
    add_sizes(points, first + i, std::sqrt(square + eta_squared), weight, z, x, block.sizes.data(),
              sums.sizes);
    for (Index e = 0; e < k; ++e) {
      sums.xp[at(e)] += weight * (x[e] * p[e]);
      sums.squared_score[at(e)] += weight * (p[e] * p[e]);
    }
  }
}

void add_all(std::vector<double>& to, const std::vector<double>& more) {
  if (to.empty()) to.assign(more.size(), 0.0);
  for (std::size_t e = 0; e < more.size(); ++e) to[e] += more[e];
}

/// Who is nearest to whom, and nothing else: dense points, without codes.
SweepAnswer count_nearest(const Points& points, const SweepTables& z, const Terms& terms,
                          const Wanted& wanted, int threads, const KeepGoing& keep_going) {
  const Index n = points.size(), d = points.dim(), before = points.portion().first;
  std::vector<double> rows;
  for (const Index place : z.places)
    rows.insert(rows.end(), z.with.row(place), z.with.row(place) + d);
  const ScreenedNearest nearest(std::move(rows), d);
  const NearestExemplar exemplars(z.exemplars, z.squares, nearest_rounding);
  const auto work =
      2.0 * static_cast<double>(n) * static_cast<double>(d) * static_cast<double>(z.k);
  const int team = threads_for(threads, work);
  std::vector<ScreenedNearest::Scratch> scratch(at(std::max(1, team)));
  std::vector<SweepPart> parts(at(block_count(n, sweep_rows)));
  std::vector<Index> assignment(at(n));
  for_blocks(
      team, n,
      [&](int thread, Index b, Index first, Index last) {
        throw_if_cancelled(keep_going);
        nearest.of(points, first, last, scratch[at(thread)], assignment.data() + first);
        SweepPart& part = parts[at(b)];
        part.count.assign(at(z.k), 0.0);
        part.squares.assign(at(z.k), 0.0);
        for (Index i = first; i < last; ++i) {
          Index& place = assignment[at(i)];
          place = exemplars.itself(before + i).value_or(place);
          part.count[at(place)] += terms.weight(i);
        }
      },
      sweep_rows);
  SweepAnswer answer;
  answer.parts = segments_of(parts, points.portion(), sweep_rows,
                             [](SweepPart& to, const SweepPart& part) { to.add(part); });
  if (wanted.assignment) answer.assignment = std::move(assignment);
  return answer;
}

}  // namespace

void Leaders::see(const One& one) {
  if (one.score < largest - margin) return;
  largest = std::max(largest, one.score);
  std::erase_if(all, [&](const One& other) { return other.score < largest - margin; });
  if (all.size() < most)
    all.push_back(one);
  else
    left_out = std::max(left_out, one.score);
}

void Leaders::see(const Leaders& others) {
  for (const One& one : others.all) see(one);
  if (others.largest > largest) {  // it is among those that were left out
    largest = others.largest;
    std::erase_if(all, [&](const One& one) { return one.score < largest - margin; });
  }
  left_out = std::max(left_out, others.left_out);
}

void SweepPart::add(const SweepPart& other) {
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

double score_roughness(const Coefficients& theta, const std::vector<double>& basis_norms,
                       const std::vector<double>& among) {
  const auto m = static_cast<Index>(basis_norms.size());
  const Index k = m > 0 ? static_cast<Index>(theta.theta.size()) / m : 0;
  SmallMatrix left(k, k), right(k, m);
  left.values = among;
  right.values = theta.theta;
  SmallMatrix products(k, m);
  if (k > 0) product(k, left.values.data(), k, Op::none, right, products);
  double sum = 0;
  for (Index t = 0; t < k; ++t)
    for (Index b = 0; b < m; ++b)
      sum += (basis_norms[at(b)] * right.row(t)[b]) * (basis_norms[at(b)] * products.row(t)[b]);
  return 8 * std::numeric_limits<double>::epsilon() * std::max(0.0, sum);
}

SweepTables make_tables(const CodesOf& codes, const BasisRows& rows, const ScoresFrom& scores,
                        bool full) {
  const std::span<const double> c = scores.c;
  const std::vector<Index>& exemplars = codes.exemplars;
  const Coefficients& theta = codes.theta;
  const Index d = rows.dim, features = rows.features;
  const auto m = static_cast<Index>(theta.basis.size());
  const auto k = static_cast<Index>(exemplars.size());
  SweepTables z;
  z.full = full;
  z.m = m, z.k = k;
  z.theta = SmallMatrix(k, m);
  z.exemplars = exemplars;
  for (const Index e : exemplars)
    z.places.push_back(std::find(theta.basis.begin(), theta.basis.end(), e) - theta.basis.begin());
  z.theta.values = theta.theta;
  SmallMatrix basis(m, d);
  basis.values = rows.rows;
  for (const Index p : z.places) z.squares.push_back(dot(basis.row(p), basis.row(p), d));
  std::vector<double> basis_norms;
  if (full) {
    for (Index t = 0; t < k; ++t) {
      const auto place = at(z.places[at(t)]);
      z.norm.push_back(rows.norms.empty() ? std::sqrt(z.squares[at(t)]) : rows.norms[place]);
      z.roughness.push_back(roughness_of(z.norm.back(), rows.taken_away[place]));
    }
    for (Index b = 0; b < m; ++b)
      basis_norms.push_back(std::sqrt(dot(basis.row(b), basis.row(b), d)));
    z.of_codes = code_roughness(theta, basis_norms, z.norm);
    // A few times what it has done to r, and to Theta's terms, which may be much larger than their sum.
    z.score_error = 4 * scores.r_error + z.of_codes * scores.largest_r;
  }
  if (!full || (c.empty() && d > 0)) {
    z.with = std::move(basis);
    return z;
  }
  z.among = SmallMatrix(k, k);
  z.g = SmallMatrix(m, m);
  SmallMatrix with_c(m, d);
  multiply(Product<double>{.m = m,
                           .n = d,
                           .k = d,
                           .left = basis.values.data(),
                           .right = c.data(),
                           .out = with_c.values.data()});
  product(m, with_c.values.data(), d, Op::transpose, basis, z.g);
  std::vector<double> chosen;
  SmallMatrix exemplar_rows(k, d);
  for (Index t = 0; t < k; ++t) {
    const double* row = basis.row(z.places[at(t)]);
    chosen.insert(chosen.end(), row, row + features);
    std::copy_n(row, d, exemplar_rows.row(t));
  }
  if (k > 0) product(k, exemplar_rows.values.data(), d, Op::transpose, exemplar_rows, z.among);
  z.score_error += score_roughness(theta, basis_norms, z.among.values) * scores.largest_r;
  // Who may span all points, or all but their common direction, leaves next to nothing: whoever wants to know asks for that.
  std::vector<double> orthonormal;
  if (k < features - 1) orthonormal = orthonormal_rows(std::move(chosen), k, features);
  z.rank = features > 0 ? std::ssize(orthonormal) / features : 0;
  z.with = SmallMatrix(2 * m + z.rank, d);
  std::copy(basis.values.begin(), basis.values.end(), z.with.values.begin());
  std::copy(with_c.values.begin(), with_c.values.end(), z.with.row(m));
  for (Index s = 0; s < z.rank; ++s)
    std::copy_n(orthonormal.data() + s * features, features, z.with.row(2 * m + s));
  return z;
}

namespace {

/// Who stands for whom, and strengths: of points first, ..., whose s_t and codes stand in rows of k.
void count_block(const Points& points, const SweepTables& z, const NearestExemplar& exemplars,
                 const Terms& terms, const Wanted& wanted, Index first, Index rows, const double* s,
                 const double* x, SweepPart& part, SweepAnswer& answer) {
  const Index k = z.k, before = points.portion().first;
  part.count.assign(at(k), 0.0);
  part.squares.assign(at(k), 0.0);
  for (Index i = 0; i < rows && k > 0; ++i) {
    const double* const code = x + i * k;
    const double weight = terms.weight(first + i);
    for (Index e = 0; e < k; ++e) part.squares[at(e)] += weight * (code[e] * code[e]);
    const Index best = exemplars.of(before + first + i, s + i * k);
    part.count[at(best)] += weight;
    if (wanted.assignment) answer.assignment[at(first + i)] = best;
    if (wanted.codes) std::copy(code, code + k, answer.codes.begin() + (first + i) * k);
  }
}

}  // namespace

SweepAnswer sweep_linear(const Points& points, const SweepTables& z, const std::vector<double>& r,
                         const Terms& terms, const Wanted& wanted, int threads,
                         const KeepGoing& keep_going) {
  if (z.theta.values.empty() && z.k > 0 && !points.sparse())
    return count_nearest(points, z, terms, wanted, threads, keep_going);
  const Index n = points.size(), d = points.dim(), m = z.m, k = z.k;
  SweepAnswer answer;
  if (wanted.assignment) answer.assignment.assign(at(n), -1);
  if (wanted.codes) answer.codes.assign(at(n * k), 0.0);
  const NearestExemplar exemplars(z.exemplars, z.squares, nearest_rounding);
  const Index height = std::min(n, sweep_rows);
  const auto work =
      2.0 * static_cast<double>(n) * static_cast<double>(d) * static_cast<double>(z.with.rows);
  const int team = threads_for(threads, work);
  std::vector<SweepPart> parts(at(block_count(n, sweep_rows)));
  if (z.full) {
    const SweepDirections directions(z, d, points.eta());
    const std::vector<char> candidates = candidate_marks(terms, n);
    std::vector<std::optional<SweepDirections::Scratch>> scratch(at(std::max(1, team)));
    for_blocks(
        team, n,
        [&](int thread, Index b, Index first, Index last) {
          throw_if_cancelled(keep_going);
          auto& own = scratch[at(thread)];
          if (!own) own.emplace(directions, height);
          const Index rows = last - first;
          points.rows(first, last, own->a.values.data());
          directions.multiply(rows, *own);
          SweepPart& part = parts[at(b)];
          count_block(points, z, exemplars, terms, wanted, first, rows, own->s.values.data(),
                      own->x.values.data(), part, answer);
          add_sums(points, z, r, terms, candidates, directions, first, rows, *own, part);
        },
        sweep_rows);
  } else {
    std::vector<const double*> to_pack;
    for (Index e = 0; e < m && !z.by_product(); ++e) to_pack.push_back(z.with.row(e));
    const PackedVectors packed(to_pack, d);
    std::vector<std::optional<Scratch>> scratch(at(std::max(1, team)));
    for_blocks(
        team, n,
        [&](int thread, Index b, Index first, Index last) {
          throw_if_cancelled(keep_going);
          auto& own = scratch[at(thread)];
          if (!own) own.emplace(z, packed, height, d);
          auto& [a, v, x, s] = *own;
          const Index rows = last - first;
          points.rows(first, last, a.values.data());
          if (z.by_product() && z.with.rows > 0)
            product(rows, a.values.data(), d, Op::transpose, z.with, v);
          else
            for (Index e = 0; e < packed.size(); e += packed_width)
              dots(a.values.data(), rows, d, packed.group(e), v.values.data() + e, v.cols);
          if (k > 0 && !z.theta.values.empty())
            product(rows, v.values.data(), v.cols, Op::transpose, z.theta, x);
          for (Index i = 0; i < rows; ++i)
            for (Index e = 0; e < k; ++e) s.row(i)[e] = v.row(i)[z.places[at(e)]];
          count_block(points, z, exemplars, terms, wanted, first, rows, s.values.data(),
                      x.values.data(), parts[at(b)], answer);
        },
        sweep_rows);
  }
  answer.parts = segments_of(parts, points.portion(), sweep_rows,
                             [](SweepPart& to, const SweepPart& part) { to.add(part); });
  return answer;
}

LinearSums gather_sweep(std::vector<SweepAnswer> answers, const SweepTables& z,
                        Selection& selection) {
  SweepPart all;
  const auto join = [](auto& to, auto& part) {
    if (to.empty())
      to = std::move(part);
    else
      to.insert(to.end(), part.begin(), part.end());
  };
  for (SweepAnswer& answer : answers) {
    for (const SweepPart& part : answer.parts) all.add(part);
    join(selection.assignment, answer.assignment);
    join(selection.codes, answer.codes);
  }
  selection.weights.assign(at(z.k), 0.0);
  selection.strength.assign(at(z.k), 0.0);
  if (z.k > 0) selection.weights = std::move(all.count);
  for (Index e = 0; e < z.k; ++e) selection.strength[at(e)] = std::sqrt(all.squares[at(e)]);
  LinearSums& sums = all.sums;
  if (z.full) {
    const Leaders& leaders = all.leaders;
    sums.largest_score = std::sqrt(std::max(0.0, leaders.largest));
    sums.score_error = sums.largest_score > 0 ? z.score_error / (2 * sums.largest_score)
                                              : std::sqrt(z.score_error);
    if (leaders.complete())
      for (const auto& one : leaders.all) sums.leaders.push_back(one.point);
  }
  return std::move(sums);
}

}  // namespace fwsr
