#include "fwsr/solver/residual_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 256;
constexpr double units = 16 * std::numeric_limits<double>::epsilon();
/// Points are scored one by one, a pass over all of them each, when no more than this many may lead.
constexpr std::size_t few = 16;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Rows of R.
class ResidualRows {
 public:
  ResidualRows(const Points& points, const CodesOf& x, const Alive& alive)
      : points_(points),
        alive_(alive),
        theta_(x.theta.theta),
        d_(points.dim()),
        m_(static_cast<Index>(x.theta.basis.size())),
        k_(static_cast<Index>(x.exemplars.size())),
        basis_(at(m_ * d_)),
        chosen_(at(k_ * d_)) {
    for (Index b = 0; b < m_; ++b) points.row(x.theta.basis[at(b)], basis_.data() + b * d_);
    for (Index t = 0; t < k_; ++t) points.row(x.exemplars[at(t)], chosen_.data() + t * d_);
  }

  void operator()(Index first, Index last, double* out) const {
    stop_unless(alive_);
    points_.rows(first, last, out);
    if (k_ == 0) return;
    const Index rows = last - first;
    std::vector<double> v(at(rows * m_)), x(at(rows * k_));  // A A_B^T, and times Theta^T
    multiply(product(rows, m_, d_, out, basis_.data(), v.data()));
    multiply(product(rows, k_, m_, v.data(), theta_.data(), x.data()));
    multiply(Product<double>{.m = rows,
                             .n = d_,
                             .k = k_,
                             .a = -1,
                             .left = x.data(),
                             .left_stride = k_,
                             .right = chosen_.data(),
                             .right_stride = d_,
                             .b = 1,
                             .out = out,
                             .out_stride = d_});
  }

 private:
  /// out = left right^T, depth numbers a row.
  static Product<double> product(Index rows, Index columns, Index depth, const double* left,
                                 const double* right, double* out) {
    return {.op_b = Op::transpose,
            .m = rows,
            .n = columns,
            .k = depth,
            .left = left,
            .left_stride = depth,
            .right = right,
            .right_stride = depth,
            .out = out,
            .out_stride = columns};
  }

  const Points& points_;
  const Alive& alive_;
  const std::vector<double>& theta_;
  Index d_, m_, k_;
  std::vector<double> basis_, chosen_;
};

}  // namespace

double residual_sum(const Points& points, const CodesOf& x, int threads, const Alive& alive) {
  const Index n = points.size(), d = points.dim();
  const ResidualRows residuals(points, x, alive);
  std::vector<double> parts(at(block_count(n, sweep_rows)));
  for_blocks(
      threads, n,
      [&](Index b, Index first, Index last) {
        std::vector<double> r(at((last - first) * d));
        residuals(first, last, r.data());
        parts[at(b)] = dot(r.data(), r.data(), (last - first) * d);
      },
      sweep_rows);
  return sum_in_segments(parts, n, sweep_rows);
}

double score_of(const Points& points, Index i, const CodesOf& x, int threads) {
  const Index d = points.dim();
  const auto m = static_cast<Index>(x.theta.basis.size());
  std::vector<double> a(at(d)), w(at(d)), t(at(m));
  points.row(i, w.data());
  for (std::size_t e = 0; e < x.exemplars.size(); ++e) {  // t = Theta^T A_T^T a_i
    points.row(x.exemplars[e], a.data());
    const double along = dot(a.data(), w.data(), d);
    for (Index b = 0; b < m; ++b) t[at(b)] += along * x.theta.theta[e * at(m) + at(b)];
  }
  for (Index b = 0; b < m; ++b) {  // w = E^T a_i = a_i - A_B t
    points.row(x.theta.basis[at(b)], a.data());
    for (Index l = 0; l < d; ++l) w[at(l)] -= t[at(b)] * a[at(l)];
  }
  std::vector<double> p(at(points.size()));
  points.project(w, p, threads);
  return std::sqrt(block_sum(threads, points.size(), [&](Index l) { return p[at(l)] * p[at(l)]; }));
}

/// Rounding may have changed ||p_i||^2 by a part of ||a_i||^2 tr R R^T. A point that is much larger than the others
/// may lead for that alone.
ScoreBound largest_score(const Points& points, const CodesOf& x, int threads, const Alive& alive) {
  const Index n = points.size(), d = points.dim();
  const ResidualRows residuals(points, x, alive);
  const std::vector<double> rr =
      gram_of_rows<double>(n, d, threads, [&](Index first, Index last, double* out) {
        residuals(first, last, out);
      }).products;
  std::vector<double> squares(at(n));
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(alive);
    points.rows(first, last, out);
  };
  quadratic_forms<double>(n, d, threads, fill, rr,
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
  if (clear || leaders.size() > few)
    return {.score = std::sqrt(largest), .error = std::sqrt(most) - std::sqrt(largest)};
  ScoreBound best;
  for (const Index i : leaders) {
    stop_unless(alive);
    best.score = std::max(best.score, score_of(points, i, x, threads));
  }
  return best;
}

}  // namespace fwsr
