#include "fwsr/solver/representer_form.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fwsr/base/blocks.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/rows.hpp"

namespace fwsr {

namespace {

constexpr double drift = 1e-6;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

using Rows = std::vector<std::vector<double>>;

/// M x and M^T x for a matrix held as rows.
std::vector<double> times(const Rows& m, const std::vector<double>& x) {
  std::vector<double> y;
  y.reserve(m.size());
  for (const auto& row : m) y.push_back(dot(row.data(), x.data(), static_cast<Index>(x.size())));
  return y;
}
std::vector<double> transposed_times(const Rows& m, const std::vector<double>& x) {
  std::vector<double> y(m.empty() ? 0 : m[0].size());
  for (std::size_t r = 0; r < m.size(); ++r)
    for (std::size_t l = 0; l < y.size(); ++l) y[l] += m[r][l] * x[r];
  return y;
}
/// Entries first .. last of sum_b weights_b columns_b.
std::vector<double> combine(const Rows& columns, const std::vector<double>& weights, Index first,
                            Index last) {
  std::vector<double> sum(at(last - first));
  for (std::size_t b = 0; b < columns.size(); ++b) {
    const double* column = columns[b].data() + first;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[b] * column[i];
  }
  return sum;
}
double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return fwsr::dot(a.data(), b.data(), static_cast<Index>(a.size()));
}

}  // namespace

RepresenterForm::RepresenterForm(const KernelMatrix& kernel, int threads, const Alive& alive)
    : kernel_(kernel), threads_(threads), alive_(alive), n_(kernel.size()), scores_(n_) {
  for_blocks(
      threads_, n_,
      [&](Index, Index first, Index last) {
        stop_unless(alive_);
        std::vector<double> sums(at(last - first));
        kernel_.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          for (Index i = 0; i < last - first; ++i)
            sums[at(i)] += fwsr::dot(tile + i * stride, tile + i * stride, end - begin);
        });
        std::copy(sums.begin(), sums.end(), scores_.r.begin() + first);
      },
      kernel_.row_block());
  scores_.c = scores_.r;
  scores_.h = scores_.r;
  f_ = trace_ = block_sum(threads_, n_, [&](Index i) { return kernel_.diagonal(i); });
}

/// Where j stands in the basis; a new j is added, with its two products.
Index RepresenterForm::position(Index j) {
  const auto found = std::find(basis_.begin(), basis_.end(), j);
  if (found != basis_.end()) return found - basis_.begin();
  std::vector<double> k(at(n_)), kk(at(n_));
  kernel_.column(j, k);
  kernel_.multiply(k, kk, threads_);
  basis_.push_back(j);
  u_.push_back(std::move(k));
  w_.push_back(std::move(kk));
  const std::size_t m = basis_.size();
  for (auto& row : theta_) row.push_back(0);
  theta_.emplace_back(m, 0.0);
  // G_bl = <k_b, k_l> = (K k_l)_b.
  g_.emplace_back(m, 0.0);
  for (std::size_t b = 0; b < m; ++b) {
    g_[m - 1][b] = w_[m - 1][at(basis_[b])];
    if (b + 1 < m) g_[b].push_back(g_[m - 1][b]);
  }
  return static_cast<Index>(m) - 1;
}

/// nu^2 of point j as the norm of U c~ itself; leaves pos_, t_ and c_ = c~ behind.
double RepresenterForm::exact_score(Index j) {
  pos_ = position(j);
  const std::size_t m = basis_.size();
  std::vector<double> row(m);
  for (std::size_t b = 0; b < m; ++b) row[b] = u_[b][at(j)];
  t_ = transposed_times(theta_, row);
  c_.assign(m, 0.0);
  for (std::size_t b = 0; b < m; ++b) c_[b] = -t_[b];
  c_[at(pos_)] += 1;
  std::vector<double> squares(at(block_count(n_)));
  for_blocks(threads_for(threads_, pass_work()), n_, [&](Index b, Index first, Index last) {
    const std::vector<double> v = combine(u_, c_, first, last);
    squares[at(b)] = dot(v, v);
  });
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

/// c_i = ||p_i||^2 and h_i = <p_i, k_i> from the rows p_i = k_i - U Theta^T u_i themselves.
void RepresenterForm::recompute() {
  const std::size_t m = basis_.size();
  for_blocks(
      threads_, n_,
      [&](Index, Index first, Index last) {
        const Index rows = last - first;
        std::vector<std::vector<double>> t(at(rows));  // Theta^T u_i
        std::vector<double> c(at(rows)), h(at(rows)), p;
        for (Index i = 0; i < rows; ++i) {
          std::vector<double> row(m);
          for (std::size_t b = 0; b < m; ++b) row[b] = u_[b][at(first + i)];
          t[at(i)] = transposed_times(theta_, row);
        }
        kernel_.scan(first, last, [&](Index begin, Index end, const double* tile, Index stride) {
          p.resize(at(end - begin));
          for (Index i = 0; i < rows; ++i) {
            const double* k = tile + i * stride;
            std::copy(k, k + (end - begin), p.begin());
            for (std::size_t b = 0; b < m; ++b)
              for (Index l = begin; l < end; ++l) p[at(l - begin)] -= t[at(i)][b] * u_[b][at(l)];
            c[at(i)] += fwsr::dot(p.data(), p.data(), end - begin);
            h[at(i)] += fwsr::dot(p.data(), k, end - begin);
          }
        });
        std::copy(c.begin(), c.end(), scores_.c.begin() + first);
        std::copy(h.begin(), h.end(), scores_.h.begin() + first);
      },
      kernel_.row_block());
}

Pick RepresenterForm::best() {
  scores_.find_most(threads_);
  Index j = scores_.best(tie_double);
  double score = exact_score(j);
  if (std::abs(score - scores_.c[at(j)]) > drift * score) {
    recompute();
    scores_.find_most(threads_);
    j = scores_.best(tie_double);
    score = exact_score(j);
  }
  nu_ = std::sqrt(score);
  for (double& c : c_) c = nu_ > 0 ? c / nu_ : 0.0;
  gc_ = times(g_, c_);
  return {.point = j, .score = nu_};
}

Probe RepresenterForm::probe(const Pick& pick) {
  return {.score = nu_,
          .self = kernel_.diagonal(pick.point),
          .cross = dot(gc_, t_),
          .xp = xk_ - xkx_,
          .xkx = xkx_};
}

void RepresenterForm::step(const Pick& pick, double gamma, double length) {
  const Probe q = probe(pick);
  const std::size_t m = basis_.size();
  const std::vector<double> tgc = times(theta_, gc_);  // Theta G c
  for_blocks(threads_for(threads_, pass_work()), n_, [&](Index, Index first, Index last) {
    const std::vector<double> y = combine(w_, c_, first, last);  // K v
    const std::vector<double> z = combine(u_, tgc, first, last);
    for (Index i = first; i < last; ++i) {
      const double kv = y[at(i - first)];
      scores_.update(i, gamma, length, u_[at(pos_)][at(i)], kv, kv - z[at(i - first)]);
    }
  });
  double with_k = 0;  // <v, k_j>
  for (std::size_t b = 0; b < m; ++b) with_k += c_[b] * w_[b][at(pick.point)];
  const double keep = 1 - gamma;
  xk_ = keep * xk_ + length * with_k;
  xkx_ = keep * keep * xkx_ + 2 * keep * length * q.cross + length * length * q.self;
  f_ = trace_ - 2 * xk_ + xkx_;
  for (auto& row : theta_)
    for (double& v : row) v *= keep;
  for (std::size_t b = 0; b < m; ++b) theta_[at(pos_)][b] += length * c_[b];
}

}  // namespace fwsr
