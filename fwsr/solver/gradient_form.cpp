#include "fwsr/solver/gradient_form.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"
#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/linalg/tile.hpp"
#include "fwsr/solver/scores.hpp"

namespace fwsr {

GradientForm::GradientForm(const KernelMatrix& kernel, const Terms& terms, Norm q, bool nonneg,
                           int threads)
    : kernel_(kernel),
      roots_(terms.weights),
      q_(q),
      nonneg_(nonneg),
      threads_(threads),
      n_(kernel.size()),
      p_(new double[at(checked_bytes(n_, n_, 1))]),
      scores_(at(n_)),
      v_(at(n_)),
      column_(at(n_)),
      with_(at(n_)) {
  for (double& root : roots_) root = std::sqrt(root);
  for_blocks(
      threads_, n_,
      [&](Index, Index first, Index last) {
        kernel_.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          copy_rows(tile, stride, last - first, end - begin, p_.get() + first * n_ + begin, n_);
        });
        for (Index i = first; i < last; ++i) {
          times_roots(0, n_, p_.get() + i * n_);
          scores_[at(i)] = dual_norm(p_.get() + i * n_);
        }
      },
      kernel_.row_block());
  trace_ = block_sum(threads_, n_, [&](Index i) { return terms.weight(i) * kernel_.diagonal(i); });
  f_ = trace_;
}

/// ||p||_dual: q = 2: ||p||_2, q = 1: max |p_l|, q = inf: sum |p_l|; of the positive part for X >=
/// 0.
double GradientForm::dual_norm(const double* p) const {
  if (q_ == Norm::two && !nonneg_) return std::sqrt(dot(p, p, n_));
  double norm = 0;
  for (Index l = 0; l < n_; ++l) {
    const double v = nonneg_ ? std::max(p[l], 0.0) : std::abs(p[l]);
    if (q_ == Norm::one)
      norm = std::max(norm, v);
    else
      norm += q_ == Norm::two ? v * v : v;
  }
  return q_ == Norm::two ? std::sqrt(norm) : norm;
}

/// v with ||v||_q = 1 and <v, p> = ||p||_dual (paper section 4.1.3), zero when the norm is.
void GradientForm::direction(const double* p, double score) {
  std::fill(v_.begin(), v_.end(), 0.0);
  if (!(score > 0)) return;
  if (q_ == Norm::one) {
    const double enough = score * (1 - tie_double);
    for (Index l = 0; l < n_; ++l)
      if ((nonneg_ ? p[l] : std::abs(p[l])) >= enough) {
        v_[at(l)] = p[l] > 0 ? 1.0 : -1.0;
        return;
      }
  }
  const double noise = 1e-14 * score;  // q = inf: the sign of a rounding error means nothing
  for (Index l = 0; l < n_; ++l) {
    if (nonneg_ && !(p[l] > 0)) continue;
    if (q_ == Norm::two)
      v_[at(l)] = p[l] / score;
    else
      v_[at(l)] = p[l] > noise ? 1.0 : p[l] < -noise ? -1.0 : 0.0;
  }
}

/// Numbers of points begin .. end times sqrt(s_l).
void GradientForm::times_roots(Index begin, Index end, double* numbers) const {
  for (Index l = begin; l < end && !roots_.empty(); ++l) numbers[l - begin] *= roots_[at(l)];
}

double GradientForm::score_for_price(std::size_t i) const {
  if (prices_.empty()) return scores_[i];
  return prices_[i] > 0 ? scores_[i] * std::sqrt(prices_[i]) : -1.0;
}

Pick GradientForm::best() {
  double largest = score_for_price(0);
  for (std::size_t i = 1; i < scores_.size(); ++i)
    if (largest < score_for_price(i)) largest = score_for_price(i);
  const double enough = largest * (1 - tie_double);
  std::size_t first = 0;
  while (first < scores_.size() && !(score_for_price(first) >= enough)) ++first;
  if (first == scores_.size()) return {.point = 0, .score = 0};  // scores that are not numbers
  return {.point = static_cast<Index>(first), .score = scores_[first]};
}

RunProducts GradientForm::take_products() {
  for (auto& row : x_.codes)
    for (std::size_t l = 0; l < roots_.size(); ++l)
      row[l] = roots_[l] > 0 ? row[l] / roots_[l] : 0.0;
  return {.rows = std::move(x_)};
}

Probe GradientForm::probe(const Pick& pick) {
  const double* p = p_.get() + pick.point * n_;
  direction(p, pick.score);
  kernel_.column(pick.point, column_);
  with_ = column_;
  times_roots(0, n_, with_.data());
  double squares = 0, with_k = 0, with_p = 0;
  for (Index l = 0; l < n_; ++l) {
    squares += v_[at(l)] * v_[at(l)];
    with_k += v_[at(l)] * with_[at(l)];
    with_p += v_[at(l)] * p[l];
  }
  // <X, P> and <X, K X> = <X, K> - <X, P> from the rows of X themselves.
  double xp = 0, xk = 0;
  std::vector<double> k(at(n_));
  for (std::size_t t = 0; t < x_.points.size(); ++t) {
    kernel_.column(x_.points[t], k);
    times_roots(0, n_, k.data());
    xp += dot(x_.codes[t].data(), p_.get() + x_.points[t] * n_, n_);
    xk += dot(x_.codes[t].data(), k.data(), n_);
  }
  xk_ = xk;
  xkx_ = xk - xp;
  return {.score = with_p,
          .self = kernel_.diagonal(pick.point) * squares,
          .cross = with_k - with_p,
          .xp = xp,
          .xkx = xkx_};
}

void GradientForm::step(const Pick& pick, double gamma, double length) {
  const double keep = 1 - gamma;
  // X and its inner products.
  const double with_k = dot(v_.data(), with_.data(), n_);
  const double with_kx = with_k - dot(v_.data(), p_.get() + pick.point * n_, n_);
  double squares = dot(v_.data(), v_.data(), n_);
  xkx_ = keep * keep * xkx_ + 2 * keep * length * with_kx +
         length * length * kernel_.diagonal(pick.point) * squares;
  xk_ = keep * xk_ + length * with_k;
  f_ = trace_ - 2 * xk_ + xkx_;
  for (auto& row : x_.codes)
    for (double& value : row) value *= keep;
  auto place = std::find(x_.points.begin(), x_.points.end(), pick.point) - x_.points.begin();
  if (gamma == 1) {  // a full step empties X except for row j
    x_.points.clear();
    x_.codes.clear();
    place = 0;
  }
  if (length > 0 && pick.score > 0) {
    if (place == static_cast<Index>(x_.points.size())) {
      x_.points.push_back(pick.point);
      x_.codes.emplace_back(at(n_), 0.0);
    }
    auto& row = x_.codes[at(place)];
    for (Index l = 0; l < n_; ++l) row[at(l)] += length * v_[at(l)];
  }
  // P <- (1 - gamma) P + gamma K - length k_j v^T, and the new dual norms, in one sweep.
  for_blocks(
      threads_, n_,
      [&](Index, Index first, Index last) {
        kernel_.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          for (Index i = first; i < last; ++i) {
            double* p = p_.get() + i * n_;
            const double* k = tile + (i - first) * stride;
            const double factor = length * column_[at(i)];
            const auto root = [&](Index l) { return roots_.empty() ? 1.0 : roots_[at(l)]; };
            for (Index l = begin; l < end; ++l)
              p[l] = keep * p[l] + gamma * (root(l) * k[l - begin]) - factor * v_[at(l)];
          }
        });
        for (Index i = first; i < last; ++i) scores_[at(i)] = dual_norm(p_.get() + i * n_);
      },
      kernel_.row_block());
}

}  // namespace fwsr
