#include "fwsr/solver/covariance_form.hpp"

#include <cmath>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

/// Scores that differ by more than this, relatively, from their exact value are computed anew.
constexpr double drift_double = 1e-6;
constexpr double drift_single = 1e-3;
/// Below this part of f(0), float32 products no longer carry the picks.
constexpr double single_enough = 1e-4;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double inner_product(const double* a, const double* b, Index d) {
  return dot(a, b, d);
}
double inner_product(const float* a, const float* b, Index d) {
  double sum = 0;
  for (Index l = 0; l < d; ++l) sum += static_cast<double>(a[l]) * static_cast<double>(b[l]);
  return sum;
}

MatrixView<const double> square(const std::vector<double>& m, Index d) {
  return {m.data(), d, d, d};
}

}  // namespace

CovarianceForm::CovarianceForm(const Points& points, bool single, int threads, const Alive& alive)
    : points_(points),
      threads_(threads),
      alive_(alive),
      dim_(points.dim()),
      e_(at(dim_ * dim_)),
      scores_(points.size()),
      a_(at(dim_)),
      w_(at(dim_)),
      cw_(at(dim_)),
      av_(at(dim_)),
      rv_(at(dim_)) {
  for (Index l = 0; l < dim_; ++l) e_[at(l * dim_ + l)] = 1;
  set_up(single);
  scores_.c = scores_.r;
  scores_.h = scores_.r;
  for (Index l = 0; l < dim_; ++l) trace_ += c_[at(l * dim_ + l)];
  f_ = f_at_zero_ = tr_ec_ = trace_;
}

/// C = sum_i a_i a_i^T and r_i = a_i^T C a_i.
void CovarianceForm::set_up(bool single) {
  single_ = single;
  const auto run = [&]<class T>(T) {
    const FillRows<T> fill = [&](Index first, Index last, T* out) {
      stop_unless(alive_);
      points_.rows(first, last, out);
    };
    c_ = gram_of_rows<T>(points_.size(), dim_, threads_, fill);
    visit_products<T>(points_.size(), dim_, threads_, fill, c_, nullptr,
                      [&](Index i, const T* a, const T* z, const T*) {
                        scores_.r[at(i)] = inner_product(a, z, dim_);
                      });
  };
  if (single)
    run(float{});
  else
    run(double{});
}

/// c_i = ||C^(1/2) E^T a_i||^2, h_i = a_i^T E C a_i and f = tr E C E^T from E itself.
void CovarianceForm::recompute() {
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    points_.rows(first, last, out);
  };
  visit_products<double>(points_.size(), dim_, threads_, fill, e_, &c_,
                         [&](Index i, const double* a, const double* y, const double* z) {
                           scores_.c[at(i)] = dot(y, z, dim_);  // y = E^T a_i, z = C y
                           scores_.h[at(i)] = dot(a, z, dim_);
                         });
  std::vector<double> ec(at(dim_ * dim_));
  multiply(Product<double>{.m = dim_,
                           .n = dim_,
                           .k = dim_,
                           .left = e_.data(),
                           .left_stride = dim_,
                           .right = c_.data(),
                           .right_stride = dim_,
                           .out = ec.data(),
                           .out_stride = dim_});
  f_ = tr_ec_ = 0;
  for (Index l = 0; l < dim_; ++l) {
    f_ += dot(ec.data() + l * dim_, e_.data() + l * dim_, dim_);
    tr_ec_ += ec[at(l * dim_ + l)];
  }
}

/// nu^2 of point j from E itself; leaves a_j, w and C w behind.
double CovarianceForm::exact_score(Index j) {
  points_.row(j, a_.data());
  multiply_vector(Op::transpose, square(e_, dim_), a_.data(), w_.data());
  multiply_vector(Op::none, square(c_, dim_), w_.data(), cw_.data());
  return std::max(0.0, dot(w_.data(), cw_.data(), dim_));
}

Pick CovarianceForm::best() {
  if (single_ && f_ < single_enough * f_at_zero_) {
    set_up(false);
    trace_ = 0;
    for (Index l = 0; l < dim_; ++l) trace_ += c_[at(l * dim_ + l)];
    recompute();
  }
  const double tie = single_ ? tie_single : tie_double;
  const double drift = single_ ? drift_single : drift_double;
  Index j = scores_.best(tie, threads_);
  double score = exact_score(j);
  if (std::abs(score - scores_.c[at(j)]) > drift * score) {
    recompute();
    j = scores_.best(tie, threads_);
    score = exact_score(j);
  }
  return {.point = j, .score = std::sqrt(score)};
}

Probe CovarianceForm::probe(const Pick& pick) {
  const double nu = pick.score;
  for (Index l = 0; l < dim_; ++l) av_[at(l)] = nu > 0 ? cw_[at(l)] / nu : 0.0;
  multiply_vector(Op::none, square(e_, dim_), av_.data(), rv_.data());
  const double cross = dot(a_.data(), av_.data(), dim_) - dot(a_.data(), rv_.data(), dim_);
  return {.score = nu,
          .self = dot(a_.data(), a_.data(), dim_),
          .cross = cross,
          .xp = tr_ec_ - f_,
          .xkx = trace_ - 2 * tr_ec_ + f_};
}

void CovarianceForm::step(const Pick& pick, double gamma, double length) {
  const Probe at_start = probe(pick);
  const auto work = 6.0 * static_cast<double>(points_.size()) * static_cast<double>(dim_);
  for_blocks(threads_for(threads_, work), points_.size(), [&](Index, Index first, Index last) {
    std::vector<double> a(at(dim_));
    for (Index i = first; i < last; ++i) {
      points_.row(i, a.data());
      const Dots3 s = dot3(a.data(), a_.data(), av_.data(), rv_.data(), dim_);
      scores_.update(i, gamma, length, s.u, s.v, s.w);
    }
  });
  // f along the step: f - 2 <D, P> + <D, K D> with D = length e_j v^T - gamma X.
  const Probe& q = at_start;
  f_ += -2 * (length * q.score - gamma * q.xp) + length * length * q.self -
        2 * length * gamma * q.cross + gamma * gamma * q.xkx;
  // E, and tr E C on the way.
  const double keep = 1 - gamma;
  const double factor = pick.score > 0 ? length / pick.score : 0.0;
  tr_ec_ = 0;
  for (Index r = 0; r < dim_; ++r) {
    double* row = e_.data() + r * dim_;
    const double b = factor * a_[at(r)];
    for (Index l = 0; l < dim_; ++l) row[l] = keep * row[l] - b * w_[at(l)];
    row[r] += gamma;
    tr_ec_ += dot(row, c_.data() + r * dim_, dim_);
  }
}

}  // namespace fwsr
