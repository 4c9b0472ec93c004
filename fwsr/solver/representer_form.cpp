#include "fwsr/solver/representer_form.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/base/total.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/pass.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"

namespace fwsr {

namespace {

/// Scores that differ by more than this, relatively, from their exact value are computed anew.
constexpr double drift = 1e-6;
/// Below this part of f(0), a K in float32 no longer carries the picks.
constexpr double single_enough = 1e-4;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return fwsr::dot(a.data(), b.data(), static_cast<Index>(a.size()));
}

}  // namespace

RepresenterForm::RepresenterForm(const KernelMatrix& kernel, const Terms& terms, int threads,
                                 const InDouble& in_double, const KeepGoing& keep_going)
    : kernel_(&kernel),
      terms_(terms),
      threads_(threads),
      in_double_(in_double),
      keep_going_(keep_going),
      n_(kernel.size()),
      scores_(n_),
      v_(at(n_)),
      y_(at(n_)) {
  find_at_zero();
  scores_.c = scores_.r;
  scores_.h = scores_.r;
  f_ = f_at_zero_ = trace_;
}

/// r and tr K.
void RepresenterForm::find_at_zero() {
  kernel_->row_squares(scores_.r, threads_, terms_.weights);
  trace_ = 0;
  for (Index i = 0; i < n_; ++i) trace_ += terms_.weight(i) * kernel_->diagonal(i);
}

/// n numbers, each times the weight of its point.
std::vector<double> RepresenterForm::weighted(const double* values) const {
  std::vector<double> found(values, values + n_);
  for (Index i = 0; i < n_ && terms_.weighted(); ++i) found[at(i)] *= terms_.weight(i);
  return found;
}

/// Theta and G with room for one more row and column.
void RepresenterForm::grow() {
  const Index m = basis_size();
  if (m < room_) return;
  const Index room = std::max<Index>(8, 2 * room_);
  for (std::vector<double>* matrix : {&theta_, &g_}) {
    std::vector<double> larger(at(room * room));
    for (Index b = 0; b < m; ++b)
      std::copy_n(matrix->begin() + b * room_, m, larger.begin() + b * room);
    *matrix = std::move(larger);
  }
  room_ = room;
}

/// Where j stands in the basis; a new j is added, with its column of K and the product with it.
Index RepresenterForm::position(Index j) {
  const auto found = std::find(basis_.begin(), basis_.end(), j);
  if (found != basis_.end()) return found - basis_.begin();
  grow();
  const Index m = basis_size();
  u_.resize(at((m + 1) * n_));
  w_.resize(at((m + 1) * n_));
  column_and_product(
      *kernel_, terms_.weights, j,
      {.column = {u_.data() + m * n_, at(n_)}, .product = {w_.data() + m * n_, at(n_)}}, threads_);
  basis_.push_back(j);
  // G_bm = <k_b, S k_m> = (K S k_m)_b.
  for (Index b = 0; b <= m; ++b)
    g_[at(b * room_ + m)] = g_[at(m * room_ + b)] = w_[at(m * n_ + basis_[at(b)])];
  return m;
}

/// nu^2 of point j as the norm of U c~ itself; leaves pos_, t_ and c_ = c~ behind.
double RepresenterForm::exact_score(Index j) {
  pos_ = position(j);
  const Index m = basis_size();
  t_.assign(at(m), 0.0);
  for (Index b = 0; b < m; ++b) {
    const double factor = u_[at(b * n_ + j)];
    const double* row = theta_.data() + b * room_;
    for (Index l = 0; l < m; ++l) t_[at(l)] += row[l] * factor;
  }
  c_.resize(at(m));
  for (Index b = 0; b < m; ++b) c_[at(b)] = -t_[at(b)];
  c_[at(pos_)] += 1;
  std::vector<double> squares(at(block_count(n_)));
  for_blocks(threads_for(threads_, pass_work()), n_, [&](Index b, Index first, Index last) {
    combine_rows({u_.data() + first, m, last - first, n_}, c_.data(), v_.data() + first);
    squares[at(b)] =
        weighted_dot(terms_.weights, first, v_.data() + first, v_.data() + first, last - first);
  });
  return total(squares);
}

/// c_i = ||p_i||^2 and h_i = <p_i, k_i> from the rows p_i = k_i - U Theta^T u_i themselves.
void RepresenterForm::recompute() {
  kernel_->sum_left({.m = basis_size(),
                     .u = u_.data(),
                     .theta = theta_.data(),
                     .theta_stride = room_,
                     .v = u_.data()},
                    terms_.weights, {.squares = scores_.c, .with_k = scores_.h}, threads_,
                    keep_going_);
}

/// The same X on the same K with more digits.
void RepresenterForm::go_on_in_double() {
  kernel_ = &in_double_();
  const Index m = basis_size();
  find_at_zero();
  for (Index b = 0; b < m; ++b) kernel_->column(basis_[at(b)], {u_.data() + b * n_, at(n_)});
  std::vector<double> su;  // S U, where there are weights
  for (Index b = 0; b < m && terms_.weighted(); ++b) {
    const std::vector<double> row = weighted(u_.data() + b * n_);
    su.insert(su.end(), row.begin(), row.end());
  }
  kernel_->multiply_many(terms_.weighted() ? su : u_, m, w_, threads_, keep_going_);
  xk_ = xkx_ = 0;
  std::vector<double> tg(at(m));
  for (Index b = 0; b < m; ++b)
    for (Index l = 0; l < m; ++l)
      g_[at(b * room_ + l)] = w_[at(std::max(b, l) * n_ + basis_[at(std::min(b, l))])];
  for (Index b = 0; b < m; ++b) {
    const double* row = theta_.data() + b * room_;
    xk_ += fwsr::dot(row, g_.data() + b * room_, m);
    for (Index l = 0; l < m; ++l) tg[at(l)] = fwsr::dot(row, g_.data() + l * room_, m);
    for (Index l = 0; l < m; ++l)
      xkx_ += u_[at(l * n_ + basis_[at(b)])] * fwsr::dot(tg.data(), theta_.data() + l * room_, m);
  }
  f_ = trace_ - 2 * xk_ + xkx_;
  recompute();
}

void RepresenterForm::refine() {
  if (kernel_->single() && in_double_ && f_ < single_enough * f_at_zero_) go_on_in_double();
}

Pick RepresenterForm::best() {
  const double tie = kernel_->single() ? tie_single : tie_double;
  scores_.find_block_max(threads_);
  Index j = scores_.best(tie);
  double score = exact_score(j);
  if (std::abs(score - scores_.c[at(j)]) > drift * score) {
    recompute();
    scores_.find_block_max(threads_);
    j = scores_.best(tie);
    score = exact_score(j);
  }
  nu_ = std::sqrt(score);
  for (double& c : c_) c = nu_ > 0 ? c / nu_ : 0.0;
  gc_.resize(c_.size());
  for (Index b = 0; b < basis_size(); ++b)
    gc_[at(b)] = fwsr::dot(g_.data() + b * room_, c_.data(), basis_size());
  return {.point = j, .score = nu_};
}

Probe RepresenterForm::probe(const Pick& pick) {
  return {.score = nu_,
          .self = kernel_->diagonal(pick.point),
          .cross = dot(gc_, t_),
          .xp = xk_ - xkx_,
          .xkx = xkx_};
}

void RepresenterForm::step(const Pick& pick, double gamma, double length) {
  const Probe q = probe(pick);
  const Index m = basis_size();
  tgc_.resize(at(m));
  for (Index b = 0; b < m; ++b) tgc_[at(b)] = fwsr::dot(theta_.data() + b * room_, gc_.data(), m);
  const double* k = u_.data() + pos_ * n_;
  for_blocks(threads_for(threads_, pass_work()), n_, [&](Index, Index first, Index last) {
    combine_rows({w_.data() + first, m, last - first, n_}, c_.data(), y_.data() + first);
    combine_rows({u_.data() + first, m, last - first, n_}, tgc_.data(), v_.data() + first);
    for (Index i = first; i < last; ++i) v_[at(i)] = y_[at(i)] - v_[at(i)];  // P v
    update_scores({.gamma = gamma, .length = length}, last - first, k + first, y_.data() + first,
                  v_.data() + first, scores_.r.data() + first, scores_.c.data() + first,
                  scores_.h.data() + first);
  });
  double with_k = 0;  // <v, k_j>
  for (Index b = 0; b < m; ++b) with_k += c_[at(b)] * w_[at(b * n_ + pick.point)];
  const double keep = 1 - gamma;
  xk_ = keep * xk_ + length * with_k;
  xkx_ = keep * keep * xkx_ + 2 * keep * length * q.cross + length * length * q.self;
  f_ = trace_ - 2 * xk_ + xkx_;
  for (Index b = 0; b < m; ++b)
    for (Index l = 0; l < m; ++l) theta_[at(b * room_ + l)] *= keep;
  for (Index l = 0; l < m; ++l) theta_[at(pos_ * room_ + l)] += length * c_[at(l)];
}

}  // namespace fwsr
