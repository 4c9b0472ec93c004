#include "fwsr/solver/covariance_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/gram.hpp"
#include "fwsr/linalg/pass.hpp"
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

MatrixView<const double> square(const std::vector<double>& m, Index d) {
  return {m.data(), d, d, d};
}

}  // namespace

CovarianceForm::CovarianceForm(const Points& points, bool single, int threads, const Alive& alive)
    : points_(points),
      threads_(threads),
      alive_(alive),
      dim_(points.dim()),
      e_(dim_),
      scores_(points.size()),
      a_(at(dim_)),
      w_(at(dim_)),
      cw_(at(dim_)),
      av_(at(dim_)),
      rv_(at(dim_)) {
  set_up(single);
  scores_.c = scores_.r;
  scores_.h = scores_.r;
  scores_.find_most(threads_);
  f_ = f_at_zero_ = tr_ec_ = trace_;
}

/// C = sum_i a_i a_i^T, its trace, and r_i = a_i^T C a_i.
void CovarianceForm::set_up(bool single) {
  single_ = single;
  single ? set_up_single() : set_up_double();
  trace_ = 0;
  for (Index l = 0; l < dim_; ++l) trace_ += c_[at(l * dim_ + l)];
}

void CovarianceForm::set_up_double() {
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(alive_);
    points_.rows(first, last, out);
  };
  c_ = gram_of_rows<double>(points_.size(), dim_, threads_, fill).products;
  quadratic_forms<double>(points_.size(), dim_, threads_, fill, c_,
                          [&](Index first, Index last, const double*, const double* forms) {
                            std::copy_n(forms, last - first, scores_.r.begin() + first);
                          });
  r_error_ = std::numeric_limits<double>::epsilon() *
             *std::max_element(scores_.r.begin(), scores_.r.end());
}

/// What the points have in common would take most digits of float32 products. They are formed of
/// b_i = a_i - m, with m the mean of some points, and what m adds is added in double:
///
///   B = sum_i b_i b_i^T    s = sum_i b_i    C = B + m s^T + s m^T + n m m^T
///   r_i = b_i^T B b_i + 2 (b_i.m) (b_i.s) + n (b_i.m)^2 + 2 b_i.(C m) + m^T C m
void CovarianceForm::set_up_single() {
  const Index n = points_.size();
  const auto size = static_cast<double>(n);
  const Index sample = std::min<Index>(n, 256);
  const Index padded = padded_length(dim_);
  std::vector<double> m(at(padded)), cm(at(padded));
  for (Index i = 0; i < sample; ++i) {
    points_.row(i * n / sample, a_.data());
    for (Index l = 0; l < dim_; ++l) m[at(l)] += a_[at(l)] / static_cast<double>(sample);
  }
  const FillRows<float> fill = [&](Index first, Index last, float* out) {
    stop_unless(alive_);
    points_.rows(first, last, m, out);
  };
  auto [b, s] = gram_of_rows<float>(n, dim_, threads_, fill);
  c_ = b;
  for (Index i = 0; i < dim_; ++i)
    for (Index j = 0; j < dim_; ++j)
      c_[at(i * dim_ + j)] +=
          m[at(i)] * s[at(j)] + s[at(i)] * m[at(j)] + size * m[at(i)] * m[at(j)];
  multiply_vector(Op::none, square(c_, dim_), m.data(), cm.data());
  const double mcm = dot(m.data(), cm.data(), dim_);
  s.resize(at(padded));

  std::mutex mutex;
  double most = 0;  // of all b_i^T B b_i: what float32 has rounded
  quadratic_forms<float>(
      n, dim_, threads_, fill, b,
      [&](Index first, Index last, const float* rows, const double* forms) {
        constexpr Index few = 64;
        const float* row[few];
        const PointNumbers as_they_are[few] = {};
        double x[few], y[few], z[few], own = 0;
        for (Index i = first; i < last; i += few) {
          const Index count = std::min(few, last - i);
          for (Index k = 0; k < count; ++k) row[k] = rows + (i - first + k) * dim_;
          dots(StoredRows<float>{.rows = row, .numbers = as_they_are, .count = count, .d = dim_},
               m.data(), s.data(), cm.data(), x, y, z);
          for (Index k = 0; k < count; ++k) {
            const double form = forms[i - first + k];
            own = std::max(own, form);
            scores_.r[at(i + k)] = form + 2 * x[k] * y[k] + size * x[k] * x[k] + 2 * z[k] + mcm;
          }
        }
        const std::lock_guard lock(mutex);
        most = std::max(most, own);
      });
  r_error_ = static_cast<double>(std::numeric_limits<float>::epsilon()) * most;
}

/// c_i = ||C^(1/2) E^T a_i||^2, h_i = a_i^T E C a_i and f = tr E C E^T from E itself.
void CovarianceForm::recompute() {
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    points_.rows(first, last, out);
  };
  const std::vector<double> e = e_.dense();
  visit_products(points_.size(), dim_, threads_, fill, e, c_,
                 [&](Index i, const double* a, const double* y, const double* z) {
                   scores_.c[at(i)] = dot(y, z, dim_);  // y = E^T a_i, z = C y
                   scores_.h[at(i)] = dot(a, z, dim_);
                 });
  scores_.find_most(threads_);
  std::vector<double> ec(at(dim_ * dim_));
  multiply(Product<double>{.m = dim_,
                           .n = dim_,
                           .k = dim_,
                           .left = e.data(),
                           .left_stride = dim_,
                           .right = c_.data(),
                           .right_stride = dim_,
                           .out = ec.data(),
                           .out_stride = dim_});
  f_ = tr_ec_ = 0;
  for (Index l = 0; l < dim_; ++l) {
    f_ += dot(ec.data() + l * dim_, e.data() + l * dim_, dim_);
    tr_ec_ += ec[at(l * dim_ + l)];
  }
}

/// nu^2 of point j from E itself; leaves a_j, w and C w behind.
double CovarianceForm::exact_score(Index j) {
  points_.row(j, a_.data());
  e_.apply_transposed(a_.data(), w_.data());
  multiply_vector(Op::none, square(c_, dim_), w_.data(), cw_.data());
  return std::max(0.0, dot(w_.data(), cw_.data(), dim_));
}

Pick CovarianceForm::best() {
  if (single_ && f_ < single_enough * f_at_zero_) {
    set_up(false);
    recompute();
  }
  const double tie = single_ ? tie_single : tie_double;
  const double drift = single_ ? drift_single : drift_double;
  Index j = scores_.best(tie);
  double score = exact_score(j);
  if (std::abs(score - scores_.c[at(j)]) > drift * score) {
    recompute();
    j = scores_.best(tie);
    score = exact_score(j);
  }
  return {.point = j, .score = std::sqrt(score)};
}

Probe CovarianceForm::probe(const Pick& pick) {
  const double nu = pick.score;
  for (Index l = 0; l < dim_; ++l) av_[at(l)] = nu > 0 ? cw_[at(l)] / nu : 0.0;
  e_.apply(av_.data(), rv_.data());
  const double cross = dot(a_.data(), av_.data(), dim_) - dot(a_.data(), rv_.data(), dim_);
  return {.score = nu,
          .self = dot(a_.data(), a_.data(), dim_),
          .cross = cross,
          .xp = tr_ec_ - f_,
          .xkx = trace_ - 2 * tr_ec_ + f_};
}

void CovarianceForm::step(const Pick& pick, double gamma, double length) {
  const Probe q = probe(pick);
  points_.prepare(a_, a_pass_);
  points_.prepare(av_, av_pass_);
  points_.prepare(rv_, rv_pass_);
  const auto work = 6.0 * static_cast<double>(points_.size()) * static_cast<double>(dim_);
  for_own_blocks(threads_for(threads_, work), points_.size(),
                 [&](Index b, Index first, Index last) {
                   scores_.most[at(b)] = points_.pass(
                       first, last, a_pass_, av_pass_, rv_pass_, {.gamma = gamma, .length = length},
                       &scores_.r[at(first)], &scores_.c[at(first)], &scores_.h[at(first)]);
                 });
  // f along the step: f - 2 <D, P> + <D, K D> with D = length e_j v^T - gamma X.
  f_ += -2 * (length * q.score - gamma * q.xp) + length * length * q.self -
        2 * length * gamma * q.cross + gamma * gamma * q.xkx;
  const double factor = pick.score > 0 ? length / pick.score : 0.0;
  tr_ec_ = (1 - gamma) * tr_ec_ + gamma * trace_ - factor * dot(a_.data(), cw_.data(), dim_);
  e_.step(pick.point, a_.data(), w_.data(), gamma, factor);
}

}  // namespace fwsr
