#include "fwsr/solver/residual_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/solver/covariance.hpp"

namespace fwsr {

namespace {

constexpr Index sweep_rows = 256;
constexpr double units = 16 * std::numeric_limits<double>::epsilon();

/// out = left right^T, depth numbers a row.
Product<double> product(Index rows, Index columns, Index depth, const double* left,
                        const double* right, double* out) {
  return {.op_b = Op::transpose,
          .m = rows,
          .n = columns,
          .k = depth,
          .left = left,
          .right = right,
          .out = out};
}

/// Rows of R.
class ResidualRows {
 public:
  ResidualRows(const Points& points, const ResidualVectors& x, const KeepGoing& keep_going)
      : points_(points),
        keep_going_(keep_going),
        x_(x),
        d_(x.dim),
        m_(static_cast<Index>(x.basis.size()) / d_),
        k_(static_cast<Index>(x.chosen.size()) / d_) {}

  void operator()(Index first, Index last, double* out) const {
    throw_if_cancelled(keep_going_);
    points_.rows(first, last, out);
    if (k_ == 0) return;
    const Index rows = last - first;
    std::vector<double> v(at(rows * m_)), x(at(rows * k_));  // A A_B^T, and times Theta^T
    multiply(product(rows, m_, d_, out, x_.basis.data(), v.data()));
    multiply(product(rows, k_, m_, v.data(), x_.theta.data(), x.data()));
    multiply(Product<double>{.m = rows,
                             .n = d_,
                             .k = k_,
                             .a = -1,
                             .left = x.data(),
                             .right = x_.chosen.data(),
                             .b = 1,
                             .out = out});
  }

 private:
  const Points& points_;
  const KeepGoing& keep_going_;
  const ResidualVectors& x_;
  Index d_, m_, k_;
};

}  // namespace

SegmentSums<double> residual_squares(const Points& points, const ResidualVectors& x,
                                     const std::vector<double>& weights, int threads,
                                     const KeepGoing& keep_going) {
  const Index n = points.size(), d = points.dim();
  const ResidualRows residuals(points, x, keep_going);
  std::vector<double> parts(at(block_count(n, sweep_rows)));
  for_blocks(
      threads, n,
      [&](Index b, Index first, Index last) {
        std::vector<double> r(at((last - first) * d));
        residuals(first, last, r.data());
        times_roots(weights, first, last, d, r.data());
        parts[at(b)] = dot(r.data(), r.data(), (last - first) * d);
      },
      sweep_rows);
  return segments_of(parts, points.portion(), sweep_rows);
}

std::vector<double> score_vectors(const ResidualVectors& x, const std::vector<double>& a) {
  const Index d = x.dim, rows = std::ssize(a) / d;
  const auto m = std::ssize(x.basis) / d, k = std::ssize(x.chosen) / d;
  std::vector<double> w = a, along(at(rows * k)), t(at(rows * m));
  if (k == 0 || m == 0) return w;
  multiply(product(rows, k, d, a.data(), x.chosen.data(), along.data()));
  multiply(Product<double>{.m = rows,  // Theta^T A_T^T a
                           .n = m,
                           .k = k,
                           .left = along.data(),
                           .right = x.theta.data(),
                           .out = t.data()});
  multiply(Product<double>{.m = rows,
                           .n = d,
                           .k = m,
                           .a = -1,
                           .left = t.data(),
                           .right = x.basis.data(),
                           .b = 1,
                           .out = w.data()});
  return w;
}

SegmentSums<double> projected_squares(const Points& points, std::span<const double> w,
                                      const std::vector<double>& weights, int threads,
                                      const KeepGoing& keep_going) {
  const Index n = points.size(), d = points.dim(), count = std::ssize(w) / d;
  if (count == 1) {
    std::vector<double> p(at(n));
    points.project(w, p, threads);
    return segment_sums(threads, points.portion(), [&](Index l) {
      return (weights.empty() ? 1.0 : weights[at(l)]) * (p[at(l)] * p[at(l)]);
    });
  }
  std::vector<double> parts(at(block_count(n, sweep_rows)));
  for_blocks(
      threads, n,
      [&](Index b, Index first, Index last) {
        throw_if_cancelled(keep_going);
        const Index rows = last - first;
        std::vector<double> a(at(rows * d)), p(at(rows * count));
        points.rows(first, last, a.data());
        multiply(product(rows, count, d, a.data(), w.data(), p.data()));
        times_roots(weights, first, last, count, p.data());
        parts[at(b)] = dot(p.data(), p.data(), rows * count);
      },
      sweep_rows);
  return segments_of(parts, points.portion(), sweep_rows);
}

SegmentSums<Gram> residual_moments(const Points& points, const ResidualVectors& x,
                                   const std::vector<double>& weights, int threads,
                                   const KeepGoing& keep_going) {
  const ResidualRows residuals(points, x, keep_going);
  return gram_in_segments<double>(points.portion(), points.dim(), threads,
                                  [&](Index first, Index last, double* out) {
                                    residuals(first, last, out);
                                    times_roots(weights, first, last, points.dim(), out);
                                  });
}

std::vector<double> residual_scores(const Points& points, std::span<const double> rr, int threads,
                                    const KeepGoing& keep_going) {
  std::vector<double> squares(at(points.size()));
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    throw_if_cancelled(keep_going);
    points.rows(first, last, out);
  };
  quadratic_forms<double>(points.portion(), points.dim(), threads, fill, rr,
                          [&](Index first, Index last, const double* forms) {
                            std::copy_n(forms, last - first, squares.begin() + first);
                          });
  return squares;
}

double residual_score_error(const Points& points, double f, Index i) {
  return units * f * (points.squared_norm(i) + points.eta() * points.eta());
}

}  // namespace fwsr
