#include "fwsr/methods/lasso.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

constexpr int most_rounds = 200;
constexpr int sweeps = 10;  // of coordinate descent, in turn with steps by signs

double sign(double v) {
  return v > 0 ? 1 : -1;
}

double l1(const std::vector<double>& c) {
  double sum = 0;
  for (const double v : c) sum += std::abs(v);
  return sum;
}

/// c and b - G c, kept together.
class State {
 public:
  State(const SmallLasso& problem, std::vector<double>& c)
      : p_(problem), m_(problem.size()), c_(c) {
    refresh();
  }
  void refresh() {
    g_ = p_.products;
    for (Index j = 0; j < m_; ++j)
      if (c_[at(j)] != 0)
        for (Index i = 0; i < m_; ++i) g_[at(i)] -= c_[at(j)] * p_.gram[at(j * m_ + i)];
  }
  void move(Index j, double by) {
    c_[at(j)] += by;
    for (Index i = 0; i < m_; ++i) g_[at(i)] -= by * p_.gram[at(j * m_ + i)];
  }
  Residual residual() const {
    Residual r{.with_point = p_.square,
               .square = p_.square,
               .most = -std::numeric_limits<double>::infinity(),
               .least = std::numeric_limits<double>::infinity()};
    for (Index j = 0; j < m_; ++j) {
      r.with_point -= c_[at(j)] * p_.products[at(j)];
      r.square -= c_[at(j)] * (p_.products[at(j)] + g_[at(j)]);
      r.most = std::max(r.most, p_.lambda * g_[at(j)]);
      r.least = std::min(r.least, p_.lambda * g_[at(j)]);
    }
    r.square = std::max(0.0, r.square);
    return r;
  }

  void sweep() {
    for (Index j = 0; j < m_; ++j) {
      const double own = p_.gram[at(j * m_ + j)], was = c_[at(j)];
      if (!(own > 0)) continue;
      const double z = g_[at(j)] + own * was, past = std::abs(z) - 1 / p_.lambda;
      const double now = past > 0 ? sign(z) * past / own : 0.0;
      if (now == was) continue;
      move(j, now - was);
      c_[at(j)] = now;
    }
  }

  /// Weight from one coordinate to another, of which that helps most; false: none does.
  bool move_pair() {
    Index up = -1, down = -1;
    double steepest_up = 0, steepest_down = 0;
    for (Index j = 0; j < m_; ++j) {
      const double slope = p_.lambda * g_[at(j)];
      const double raise = (c_[at(j)] >= 0 ? 1 : -1) - slope;
      const double lower = (c_[at(j)] <= 0 ? 1 : -1) + slope;
      if (up < 0 || raise < steepest_up) up = j, steepest_up = raise;
      if (down < 0 || lower < steepest_down) down = j, steepest_down = lower;
    }
    double slope = steepest_up + steepest_down;
    if (up == down || !(slope < -1e-14)) return false;
    const double curvature =
        p_.lambda * (p_.gram[at(up * m_ + up)] + p_.gram[at(down * m_ + down)] -
                     2 * p_.gram[at(up * m_ + down)]);
    // The slope rises by 2 where a coordinate passes 0.
    double zeros[2] = {c_[at(up)] < 0 ? -c_[at(up)] : std::numeric_limits<double>::infinity(),
                       c_[at(down)] > 0 ? c_[at(down)] : std::numeric_limits<double>::infinity()};
    std::sort(zeros, zeros + 2);
    double by = 0;
    for (const double zero : {zeros[0], zeros[1], std::numeric_limits<double>::infinity()}) {
      const double whole =
          curvature > 0 ? by - slope / curvature : std::numeric_limits<double>::infinity();
      if (whole <= zero) {
        by = whole;
        break;
      }
      slope += curvature * (zero - by);
      by = zero;
      if (slope + 2 >= 0) break;
      slope += 2;
    }
    if (!std::isfinite(by) || !(by > 0)) return false;
    const double raised = c_[at(up)] + by, lowered = c_[at(down)] - by;
    const bool up_is_zero = by == -c_[at(up)], down_is_zero = by == c_[at(down)];
    move(up, by);
    move(down, -by);
    c_[at(up)] = up_is_zero ? 0.0 : raised;
    c_[at(down)] = down_is_zero ? 0.0 : lowered;
    return true;
  }

  /// To the solution for the signs of c, or to where the first of them changes. Where the points in use depend on each
  /// other, codes move along the dependence, which leaves the residual alone, until one of them is zero. False: nothing
  /// is gained.
  bool step_by_signs() {
    std::vector<Index> used;
    for (Index j = 0; j < m_; ++j)
      if (c_[at(j)] != 0) used.push_back(j);
    if (used.empty()) return false;
    const std::vector<double> before = c_;
    const double objective = value();
    std::vector<double> direction;
    double whole = 1;
    if (Factor factor(*this, used); factor.regular()) {
      direction = factor.target();
      for (std::size_t t = 0; t < used.size(); ++t) direction[t] -= c_[at(used[t])];
    } else {
      direction = factor.dependence();
      double slope = 0;
      for (std::size_t t = 0; t < used.size(); ++t) slope += sign(c_[at(used[t])]) * direction[t];
      if (slope > 0)
        for (double& v : direction) v = -v;
      whole = std::numeric_limits<double>::infinity();
    }
    std::size_t first = used.size();
    for (std::size_t t = 0; t < used.size(); ++t) {
      const double now = c_[at(used[t])];
      if (!std::isfinite(direction[t])) return false;
      if (now * direction[t] < 0 && -now / direction[t] < whole)
        whole = -now / direction[t], first = t;
    }
    if (!std::isfinite(whole)) return false;
    for (std::size_t t = 0; t < used.size(); ++t) {
      double& now = c_[at(used[t])];
      now = t == first ? 0.0 : now + whole * direction[t];
    }
    refresh();
    if (value() < objective || (value() == objective && first < used.size())) return true;
    c_ = before;
    refresh();
    return false;
  }

 private:
  double value() const { return l1(c_) + p_.lambda / 2 * residual().square; }

  /// The Cholesky factor of G over the points in use; with the constraint of G + g 1 1^T, which is the same where codes
  /// sum to 1, and singular only for dependences whose codes sum to 0.
  class Factor {
   public:
    Factor(const State& state, const std::vector<Index>& used)
        : state_(state), used_(used), u_(used.size()), lower_(u_ * u_) {
      const SmallLasso& p = state.p_;
      for (const Index j : used) more_ = std::max(more_, p.gram[at(j * state.m_ + j)]);
      more_ = !p.affine ? 0.0 : more_ > 0 ? more_ : 1.0;
      for (; rows_ < u_; ++rows_) {
        const std::size_t i = rows_;
        for (std::size_t j = 0; j <= i; ++j) {
          double sum = entry(i, j);
          for (std::size_t l = 0; l < j; ++l) sum -= lower_[i * u_ + l] * lower_[j * u_ + l];
          lower_[i * u_ + j] = j < i ? sum / lower_[j * u_ + j] : sum;
        }
        if (!(lower_[i * u_ + i] > 1e-13 * entry(i, i))) return;
        lower_[i * u_ + i] = std::sqrt(lower_[i * u_ + i]);
      }
    }
    bool regular() const { return rows_ == u_; }

    /// The solution for the signs as they are.
    std::vector<double> target() const {
      const SmallLasso& p = state_.p_;
      std::vector<double> one(u_), two(u_, 1.0);
      for (std::size_t t = 0; t < u_; ++t)
        one[t] = p.products[at(used_[t])] - sign(state_.c_[at(used_[t])]) / p.lambda;
      solve(one, u_);
      if (!p.affine) return one;
      solve(two, u_);
      const double sum = std::accumulate(one.begin(), one.end(), 0.0),
                   all = std::accumulate(two.begin(), two.end(), 0.0);
      for (std::size_t t = 0; t < u_; ++t) one[t] += (1 - sum) / all * two[t];
      return one;
    }

    /// z with G z = 0: a point less its combination of those before.
    std::vector<double> dependence() const {
      std::vector<double> z(u_);
      for (std::size_t j = 0; j < rows_; ++j) z[j] = -entry(rows_, j);
      solve(z, rows_);
      z[rows_] = 1;
      return z;
    }

   private:
    double entry(std::size_t i, std::size_t j) const {
      return state_.p_.gram[at(used_[i] * state_.m_ + used_[j])] + more_;
    }
    /// By the first `rows` rows.
    void solve(std::vector<double>& x, std::size_t rows) const {
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t l = 0; l < i; ++l) x[i] -= lower_[i * u_ + l] * x[l];
        x[i] /= lower_[i * u_ + i];
      }
      for (std::size_t i = rows; i-- > 0;) {
        for (std::size_t l = i + 1; l < rows; ++l) x[i] -= lower_[l * u_ + i] * x[l];
        x[i] /= lower_[i * u_ + i];
      }
    }

    const State& state_;
    const std::vector<Index>& used_;
    std::size_t u_, rows_ = 0;
    double more_ = 0;
    std::vector<double> lower_;
  };

  const SmallLasso& p_;
  Index m_;
  std::vector<double>& c_;
  std::vector<double> g_;
};

}  // namespace

double lasso_gap(double norm, const Residual& r, double lambda, bool affine) {
  const double primal = norm + lambda / 2 * r.square;
  if (!(r.square > 0)) return affine ? std::max(0.0, primal - 1) : primal;
  const double wanted =
      affine ? (lambda * r.with_point - r.most) / (lambda * r.square) : r.with_point / r.square;
  const double range = affine ? (r.most - r.least) / 2 : std::max(r.most, -r.least);
  const double t =
      std::clamp(wanted, 0.0, range > 0 ? 1 / range : std::numeric_limits<double>::infinity());
  const double dual =
      t * lambda * r.with_point - t * t * lambda / 2 * r.square + (affine ? 1 - t * r.most : 0.0);
  return std::max(0.0, primal - dual);
}

double SmallLasso::objective(const std::vector<double>& c) const {
  std::vector<double> copy = c;
  return l1(c) + lambda / 2 * State(*this, copy).residual().square;
}

void SmallLasso::solve(std::vector<double>& c, double enough) const {
  if (size() == 0) return;
  State state(*this, c);
  for (int round = 0; round < most_rounds; ++round) {
    if (affine) {
      const Index moves = sweeps * size();
      for (Index t = 0; t < moves && state.move_pair(); ++t) continue;
    } else {
      for (int t = 0; t < sweeps; ++t) state.sweep();
    }
    for (Index t = 0; t <= 2 * size() && state.step_by_signs(); ++t) continue;
    state.refresh();
    const Residual r = state.residual();
    if (lasso_gap(l1(c), r, lambda, affine) <= enough * (l1(c) + lambda / 2 * r.square)) return;
  }
}

}  // namespace fwsr
