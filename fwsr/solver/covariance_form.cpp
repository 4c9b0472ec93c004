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

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

MatrixView<const double> square(const std::vector<double>& m, Index d) {
  return {m.data(), d, d, d};
}

}  // namespace

// ------------------------------------------------------------------------------------------ set-up

namespace {

Covariance covariance_in_double(const Points& points, int threads, const Alive& alive) {
  const Index n = points.size(), dim = points.dim();
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    stop_unless(alive);
    points.rows(first, last, out);
  };
  Covariance result{.c = gram_of_rows<double>(n, dim, threads, fill).products,
                    .r = std::vector<double>(at(n))};
  mirror(dim, result.c);
  quadratic_forms<double>(n, dim, threads, fill, result.c,
                          [&](Index first, Index last, const double* forms) {
                            std::copy_n(forms, last - first, result.r.begin() + first);
                          });
  result.r_error = std::numeric_limits<double>::epsilon() * largest(result.r);
  return result;
}

/// What the points have in common would take most digits of float32 products. They are formed of
/// b_i = a_i - m, with m the mean of some points, and what m adds is added in double:
///
///   B = sum_i b_i b_i^T    s = sum_i b_i    C = B + m s^T + s m^T + n m m^T
///   r_i = b_i^T B b_i + 2 (b_i.m) (b_i.s) + n (b_i.m)^2 + 2 b_i.(C m) + m^T C m
Covariance covariance_in_single(const Points& points, int threads, const Alive& alive) {
  const Index n = points.size(), dim = points.dim();
  const auto size = static_cast<double>(n);
  const Index sample = std::min<Index>(n, 256);
  const Index padded = padded_length(dim);
  std::vector<double> a(at(dim)), m(at(padded)), cm(at(padded));
  for (Index i = 0; i < sample; ++i) {
    points.row(i * n / sample, a.data());
    for (Index l = 0; l < dim; ++l) m[at(l)] += a[at(l)] / static_cast<double>(sample);
  }
  const FillRows<float> fill = [&](Index first, Index last, float* out) {
    stop_unless(alive);
    points.rows(first, last, m, out);
  };
  Gram gram = gram_of_rows<float>(n, dim, threads, fill);
  const std::vector<double>& b = gram.products;
  std::vector<double>& s = gram.rows;
  Covariance result{.c = b, .r = std::vector<double>(at(n)), .single = true};
  for (Index i = 0; i < dim; ++i)
    for (Index j = i; j < dim; ++j)
      result.c[at(i * dim + j)] +=
          m[at(i)] * s[at(j)] + s[at(i)] * m[at(j)] + size * m[at(i)] * m[at(j)];
  mirror(dim, result.c);
  multiply_vector(Op::none, square(result.c, dim), m.data(), cm.data());
  const double mcm = dot(m.data(), cm.data(), dim);
  s.resize(at(padded));

  // The dot products are those of points that were not rounded to float32.
  Points::Direction along_m, along_s, along_cm;
  points.prepare({m.data(), at(dim)}, along_m);
  points.prepare({s.data(), at(dim)}, along_s);
  points.prepare({cm.data(), at(dim)}, along_cm);
  const double mm = dot(m.data(), m.data(), dim), ms = dot(m.data(), s.data(), dim);
  const double eta_squared = points.eta() * points.eta();
  std::mutex mutex;
  double most = 0, longest = 0;  // of all b_i^T B b_i and ||b_i||^2: what float32 has rounded
  const FillRows<float> fill_and_begin = [&](Index first, Index last, float* out) {
    stop_unless(alive);
    const auto count = at(last - first);
    std::vector<double> x(count), y(count), z(count);
    points.rows(first, last, m, out, along_m, along_s, along_cm, x.data(), y.data(), z.data());
    double own_longest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double bm = x[i] - mm, bs = y[i] - ms, bcm = z[i] - mcm;
      result.r[at(first) + i] = 2 * bm * bs + size * bm * bm + 2 * bcm + mcm;
      const double square = points.squared_norm(first + static_cast<Index>(i)) + eta_squared;
      own_longest = std::max(own_longest, square - 2 * x[i] + mm);
    }
    const std::lock_guard lock(mutex);
    longest = std::max(longest, own_longest);
  };
  quadratic_forms<float>(n, dim, threads, fill_and_begin, b,
                         [&](Index first, Index last, const double* forms) {
                           double own_most = 0;
                           for (Index i = 0; i < last - first; ++i) {
                             result.r[at(first + i)] += forms[i];
                             own_most = std::max(own_most, forms[i]);
                           }
                           const std::lock_guard lock(mutex);
                           most = std::max(most, own_most);
                         });
  // B and s are sums of n rounded terms.
  const double b_length = std::sqrt(longest), m_length = std::sqrt(mm), all = b_length + m_length;
  result.r_error = 2 * static_cast<double>(std::numeric_limits<float>::epsilon()) *
                   (most + std::sqrt(size) * b_length * m_length * all * all);
  return result;
}

}  // namespace

Covariance covariance_of(const Points& points, bool single, int threads, const Alive& alive) {
  return single ? covariance_in_single(points, threads, alive)
                : covariance_in_double(points, threads, alive);
}

Covariance border(const Covariance& without, const Points& plain, const Points& points,
                  int threads) {
  const Index n = points.size(), d = plain.dim(), dim = points.dim();
  const double t = points.scale_against(plain), t2 = t * t;
  Covariance result{.c = std::vector<double>(at(dim * dim)),
                    .r = std::vector<double>(at(n)),
                    .single = without.single};
  const std::vector<double> s = plain.combine(std::vector<double>(at(n), 1.0), threads);
  plain.project(s, result.r, threads);  // (K 1)_i
  const double eta = points.eta(), eta2 = eta * eta, all = static_cast<double>(n) * eta2;
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) result.c[at(i * dim + j)] = t2 * without.c[at(i * d + j)];
    if (dim > d) result.c[at(i * dim + d)] = result.c[at(d * dim + i)] = eta * (t * s[at(i)]);
  }
  if (dim > d) result.c[at(d * dim + d)] = all;
  for (Index i = 0; i < n; ++i)
    result.r[at(i)] = t2 * (t2 * without.r[at(i)] + 2 * eta2 * result.r[at(i)]) + eta2 * all;
  result.r_error =
      t2 * t2 * without.r_error + std::numeric_limits<double>::epsilon() * largest(result.r);
  return result;
}

// ------------------------------------------------------------------------------------- the form

CovarianceForm::CovarianceForm(const Points& points, bool single, int threads, const Alive& alive)
    : CovarianceForm(points, single, threads, [&points, threads, alive](bool in_single) {
        return std::make_shared<const Covariance>(covariance_of(points, in_single, threads, alive));
      }) {}

CovarianceForm::CovarianceForm(const Points& points, bool single, int threads, Supply supply)
    : points_(points),
      threads_(threads),
      supply_(std::move(supply)),
      dim_(points.dim()),
      covariance_(supply_(single)),
      e_(dim_),
      scores_(covariance_->r),
      a_(at(dim_)),
      w_(at(padded_length(dim_))),
      cw_(at(dim_)),
      av_(at(dim_)),
      rv_(at(dim_)) {
  find_trace();
  scores_.find_most(threads_);
  f_ = f_at_zero_ = tr_ec_ = trace_;
}

void CovarianceForm::find_trace() {
  trace_ = 0;
  for (Index l = 0; l < dim_; ++l) trace_ += covariance_->c[at(l * dim_ + l)];
}

/// c_i = ||C^(1/2) E^T a_i||^2, h_i = a_i^T E C a_i and f = tr E C E^T from E itself.
void CovarianceForm::recompute() {
  const FillRows<double> fill = [&](Index first, Index last, double* out) {
    points_.rows(first, last, out);
  };
  const std::vector<double> e = e_.dense();
  visit_products(points_.size(), dim_, threads_, fill, e, covariance_->c,
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
                           .right = covariance_->c.data(),
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
  constexpr Index rows_at_once = 64;
  const double* c = covariance_->c.data();
  const auto work = 2.0 * static_cast<double>(dim_) * static_cast<double>(dim_);
  for_own_blocks(
      threads_for(threads_, work), dim_,
      [&](Index, Index first, Index last) {
        const double* rows[rows_at_once];
        for (Index r = first; r < last; ++r) rows[r - first] = c + r * dim_;
        dots(Rows<double>{.rows = rows, .count = last - first, .d = dim_}, w_.data(),
             cw_.data() + first);
      },
      rows_at_once);
  return std::max(0.0, dot(w_.data(), cw_.data(), dim_));
}

void CovarianceForm::refine() {
  if (!covariance_->single || f_ >= single_enough * f_at_zero_) return;
  covariance_.reset();
  covariance_ = supply_(false);
  find_trace();
  recompute();
}

Pick CovarianceForm::best() {
  const double tie = covariance_->single ? tie_single : tie_double;
  const double drift = covariance_->single ? drift_single : drift_double;
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

Points::Update CovarianceForm::before_pass(const Pick& pick, double gamma, double length) {
  probe_ = probe(pick);
  points_.prepare(a_, a_pass_);
  points_.prepare(av_, av_pass_);
  points_.prepare(rv_, rv_pass_);
  return {.points = &points_,
          .a = &a_pass_,
          .av = &av_pass_,
          .rv = &rv_pass_,
          .step = {.gamma = gamma, .length = length},
          .r = covariance_->r.data(),
          .c = scores_.c.data(),
          .h = scores_.h.data(),
          .most = scores_.most.data()};
}

void CovarianceForm::after_pass(const Pick& pick, double gamma, double length) {
  const Probe& q = probe_;
  // f along the step: f - 2 <D, P> + <D, K D> with D = length e_j v^T - gamma X.
  f_ += -2 * (length * q.score - gamma * q.xp) + length * length * q.self -
        2 * length * gamma * q.cross + gamma * gamma * q.xkx;
  const double factor = pick.score > 0 ? length / pick.score : 0.0;
  tr_ec_ = (1 - gamma) * tr_ec_ + gamma * trace_ - factor * dot(a_.data(), cw_.data(), dim_);
  e_.step(pick.point, a_.data(), w_.data(), gamma, factor);
}

void CovarianceForm::step(const Pick& pick, double gamma, double length) {
  const Points::Update u = before_pass(pick, gamma, length);
  const auto work = 6.0 * static_cast<double>(points_.size()) * static_cast<double>(dim_);
  for_own_blocks(threads_for(threads_, work), points_.size(),
                 [&](Index block, Index first, Index last) {
                   u.most[block] = points_.pass(first, last, *u.a, *u.av, *u.rv, u.step,
                                                u.r + first, u.c + first, u.h + first);
                 });
  after_pass(pick, gamma, length);
}

}  // namespace fwsr
