#include <algorithm>
#include <cmath>
#include <limits>

#include "fwsr/base/at.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/orthogonal.hpp"
#include "fwsr/solver/covariance.hpp"

namespace fwsr {

namespace {

constexpr double stale = 1e-4;  // of the trace of C when it was made

/// Point after point, or at once where they are neighbours.
void load(const Points& points, std::span<const Index> some, double* out) {
  const auto count = static_cast<Index>(some.size());
  if (some.back() - some.front() == count - 1)
    return points.rows(some.front(), some.back() + 1, out);
  for (Index b = 0; b < count; ++b) points.row(some[at(b)], out + b * points.dim());
}

}  // namespace

VectorResiduals::VectorResiduals(const Task& task, Index most, double tolerance, Keep keep,
                                 double ridge)
    : Residuals(task, keep == Keep::energies),
      points_(*task.points),
      d_(points_.dim()),
      keep_(keep) {
  basis_.reserve(at((ridge > 0 ? most : std::min(most, d_)) * d_));
  std::vector<double> squares(at(points_.size()));
  for (Index i = 0; i < points_.size(); ++i) squares[at(i)] = points_.squared_norm(i);
  start(std::move(squares), tolerance * tolerance, ridge);
  if (keep != Keep::squares && d_ < points_.size()) make_covariance();
  if (keep != Keep::energies) return;
  std::vector<double> energies(at(points_.size()));
  if (covariance_.empty()) task.kernel->row_squares(energies, task.threads, task.terms.weights);
  start_energies(std::move(energies));
  if (!covariance_.empty()) compute_all_again();
}

void VectorResiduals::project(std::span<double> v, Index rank) const {
  if (rank == 0) return;
  const MatrixView<const double> basis{basis_.data(), rank, d_, d_};
  std::vector<double> s(at(rank));
  for (int time = 0; time < times(); ++time) {
    multiply_vector(Op::none, basis, v.data(), s.data());
    for (double& c : s) c = -c;
    add_vector(Op::transpose, basis, s.data(), v.data());
  }
}

/// The first `count` of `rows` rows less their projections; the others are zero and stay so.
void VectorResiduals::residual_rows(Index count, Index rows, double* a) const {
  std::fill(a + count * d_, a + rows * d_, 0.0);
  if (rank() == 0) return;
  std::vector<double> s(at(rows * rank()));
  for (int time = 0; time < times(); ++time) {
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = rows,
                             .n = rank(),
                             .k = d_,
                             .left = a,
                             .left_stride = d_,
                             .right = basis_.data(),
                             .right_stride = d_,
                             .out = s.data(),
                             .out_stride = rank()});
    multiply(Product<double>{.m = rows,
                             .n = d_,
                             .k = rank(),
                             .a = -1,
                             .left = s.data(),
                             .left_stride = rank(),
                             .right = basis_.data(),
                             .right_stride = d_,
                             .b = 1,
                             .out = a,
                             .out_stride = d_});
  }
}

void VectorResiduals::make_covariance() {
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    throw_if_cancelled(task().keep_going);
    points_.rows(first, last, out);
    residual_rows(last - first, last - first, out);
    times_roots(task().terms.weights, first, last, d_, out);
  };
  covariance_ = gram_of_rows<double>(points_.size(), d_, task().threads, fill).products;
  mirror(d_, covariance_);
  covariance_total_ = total();
}

double VectorResiduals::doubt(Index i) const {
  if (ridge() > 0)  // of <a_i, r_i>, and of C in <r_i, C r_i>, where ||r_i||^2 <= s_i
    return 4 * rounding_tolerance(d_) * largest_square() / squares()[at(i)] +
           std::numeric_limits<double>::epsilon() * covariance_total_ * squares()[at(i)] /
               energies()[at(i)];
  return 4 * rounding_tolerance(d_) * std::sqrt(largest_square() / squares()[at(i)]);
}

bool VectorResiduals::renew() {
  if (ridge() > 0 || covariance_.empty() || total() >= stale * covariance_total_) return false;
  make_covariance();
  return keep_ == Keep::energies;
}

std::vector<double> VectorResiduals::image(std::span<const double> v) const {
  std::vector<double> out;
  if (covariance_.empty()) {
    std::vector<double> x(at(points_.size()));
    products(v, x);
    out = points_.combine(weighted(x), task().threads);
  } else {
    out.resize(at(d_));
    multiply_vector(Op::none, {covariance_.data(), d_, d_, d_}, v.data(), out.data());
  }
  project(out, rank());
  return out;
}

void VectorResiduals::products(std::span<const double> v, std::span<double> out) const {
  products(v, {}, out, {});
}

/// x_i = <a_i, v> and, where there is a w, y_i = <a_i, w> in the same visit.
void VectorResiduals::products(std::span<const double> v, std::span<const double> w,
                               std::span<double> x, std::span<double> y) const {
  if (points_.sparse()) {
    points_.project(v, x, task().threads);
    if (!w.empty()) points_.project(w, y, task().threads);
    return;
  }
  Points::Direction to_v, to_w;
  points_.prepare(v, to_v);
  if (!w.empty()) points_.prepare(w, to_w);
  constexpr Index near = 64;  // rows that stay in the cache
  const double work = 2 * static_cast<double>(points_.size()) * static_cast<double>(d_);
  for_blocks(threads_for(task().threads, work), points_.size(),
             [&](Index, Index first, Index last) {
               throw_if_cancelled(task().keep_going);
               if (w.empty()) return points_.project(first, last, to_v, x.data() + first);
               for (Index i = first; i < last; i += near) {
                 const Index end = std::min(last, i + near);
                 points_.project(i, end, to_v, x.data() + i);
                 points_.project(i, end, to_w, y.data() + i);
               }
             });
}

double VectorResiduals::append(Index pick, std::span<double> x, std::span<double> y) {
  std::vector<double> q(at(d_));
  points_.row(pick, q.data());
  const std::vector<double> a = q;
  project(q, rank());
  const double square = dot(ridge() > 0 ? a.data() : q.data(), q.data(), d_);
  if (square <= floor_of_pick()) return 0;
  const double norm = std::sqrt(ridge_of_pick() + square);
  for (double& v : q) v /= norm;
  if (y.empty()) {
    products(q, x);
  } else if (!covariance_.empty()) {
    products(q, image(q), x, y);
  } else {
    products(q, x);
    std::vector<double> image = points_.combine(weighted({x.begin(), x.end()}), task().threads);
    project(image, rank());
    products(image, y);
  }
  basis_.insert(basis_.end(), q.begin(), q.end());
  return norm;
}

void VectorResiduals::compute(std::span<const Index> some, double* squares,
                              double* energies) const {
  const auto count = static_cast<Index>(some.size());
  const Index rows = std::min(batch, block_count(points_.size(), 48) * 48);  // see `batch`
  std::vector<double> r(at(rows * d_)), other;
  load(points_, some, r.data());
  if (ridge() > 0) other = r;
  residual_rows(count, rows, r.data());
  const std::vector<double>& left = ridge() > 0 ? other : r;
  for (Index b = 0; b < count; ++b) squares[b] = dot(&left[at(b * d_)], &r[at(b * d_)], d_);
  if (!energies) return;
  if (covariance_.empty()) return energies_by_products(count, rows, r.data(), energies);
  other.resize(r.size());  // C r
  multiply(Product<double>{.m = rows,
                           .n = d_,
                           .k = d_,
                           .left = r.data(),
                           .left_stride = d_,
                           .right = covariance_.data(),
                           .right_stride = d_,
                           .out = other.data(),
                           .out_stride = d_});
  for (Index b = 0; b < count; ++b) energies[b] = dot(&r[at(b * d_)], &other[at(b * d_)], d_);
}

/// sum_j <r_b, a_j>^2 for the first `count` of the `height` rows of `residuals`.
void VectorResiduals::energies_by_products(Index count, Index height, const double* residuals,
                                           double* energies) const {
  std::fill(energies, energies + count, 0.0);
  std::vector<double> rows(at(std::min(sweep_rows, points_.size()) * d_)),
      products(at(height * sweep_rows));
  for (Index first = 0; first < points_.size(); first += sweep_rows) {
    throw_if_cancelled(task().keep_going);
    const Index last = std::min(points_.size(), first + sweep_rows), width = last - first;
    points_.rows(first, last, rows.data());
    multiply(Product<double>{.op_b = Op::transpose,
                             .m = height,
                             .n = width,
                             .k = d_,
                             .left = residuals,
                             .left_stride = d_,
                             .right = rows.data(),
                             .right_stride = d_,
                             .out = products.data(),
                             .out_stride = width});
    for (Index b = 0; b < count; ++b)
      energies[b] += weighted_dot(task().terms.weights, first, &products[at(b * width)],
                                  &products[at(b * width)], width);
  }
}

}  // namespace fwsr
