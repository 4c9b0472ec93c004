#include "fwsr/methods/simplex_program.hpp"

#include <algorithm>
#include <cmath>

#include "fwsr/base/at.hpp"

namespace fwsr {

namespace {

constexpr int corrected = 8;  // every so many steps the best over the points in use

class Program {
 public:
  Program(const SquareDistances& squares, const std::vector<double>& h, std::vector<double> x)
      : squares_(squares), h_(h), m_(std::ssize(x)), x_(std::move(x)) {
    find_gradient();
  }

  Combination minimise(const SimplexEnd& end) {
    Combination found;
    for (int step = 0;; ++step) {
      Index best = 0, worst = -1;
      double along = 0;
      found.value = 0;
      for (Index t = 0; t < m_; ++t) {
        if (g_[at(t)] < g_[at(best)]) best = t;
        if (!(x_[at(t)] > 0)) continue;
        if (worst < 0 || g_[at(t)] > g_[at(worst)]) worst = t;
        along += x_[at(t)] * g_[at(t)];
        found.value += x_[at(t)] * (g_[at(t)] + h_[at(t)]) / 2;
      }
      found.gap = std::max(0.0, along - g_[at(best)]);
      if (found.gap <= std::max(end.enough * std::abs(found.value), end.least) ||
          found.value < end.futile || step == most_simplex_steps ||
          !(squares_.row(best)[worst] > 0))
        break;
      move(best, worst);
      if (step % corrected == corrected - 1) correct();
    }
    found.x = std::move(x_);
    return found;
  }

 private:
  void find_gradient() {  // h - D x
    g_ = h_;
    for (Index t = 0; t < m_; ++t) {
      if (!(x_[at(t)] > 0)) continue;
      const double* const row = squares_.row(t);
      for (Index s = 0; s < m_; ++s) g_[at(s)] -= x_[at(t)] * row[s];
    }
  }

  /// A pairwise step: weight from the worst of those in use to the best, as much as lowers f most.
  void move(Index best, Index worst) {
    const double* const to = squares_.row(best);
    const double* const from = squares_.row(worst);
    const double whole = (g_[at(worst)] - g_[at(best)]) / (2 * to[worst]);
    const double moved = std::min(whole, x_[at(worst)]);
    x_[at(best)] += moved;
    x_[at(worst)] = moved == x_[at(worst)] ? 0.0 : x_[at(worst)] - moved;
    for (Index t = 0; t < m_; ++t) g_[at(t)] -= moved * (to[t] - from[t]);
  }

  /// To the best x over the points in use: towards the best combination of these that sums to 1, but no weight becomes
  /// negative; a point that this leaves without weight is no longer in use, and so on.
  void correct() {
    std::vector<Index> used;
    for (Index t = 0; t < m_; ++t)
      if (x_[at(t)] > 0) used.push_back(t);
    while (used.size() > 1) {
      const Direction way = towards_best(used);
      double part = way.most;
      std::size_t first = used.size();
      for (std::size_t u = 0; u < used.size(); ++u) {
        const double now = x_[at(used[u])];
        if (way.d[u] < 0 && now < -part * way.d[u]) part = -now / way.d[u], first = u;
      }
      if (!std::isfinite(part)) break;
      for (std::size_t u = 0; u < used.size(); ++u) {
        double& now = x_[at(used[u])];
        now = u == first ? 0.0 : std::max(0.0, now + part * way.d[u]);
      }
      find_gradient();
      if (first == used.size()) break;
      used.erase(used.begin() + static_cast<Index>(first));
    }
  }

  struct Direction {
    std::vector<double> d;  // of the weights in use; its sum is 0
    double most = 1;        // how far
  };

  /// With a_0 the first of those in use and B_st = <a_s - a_0, a_t - a_0> for the others, the best combination has
  ///
  ///   B x = (h_0 - h_s + D_s0) / 2.
  ///
  /// Where a point depends on those before it, f is linear along that dependence, and falls one way as far as weights
  /// allow.
  Direction towards_best(const std::vector<Index>& used) const {
    const std::size_t rest = used.size() - 1;
    const double* const base = squares_.row(used[0]);
    std::vector<double> lower(rest * rest), x(rest);  // B = L L^T
    for (std::size_t s = 0; s < rest; ++s) {
      const Index one = used[s + 1];
      const double* const row = squares_.row(one);
      for (std::size_t t = 0; t <= s; ++t) {
        double sum = (base[one] + base[used[t + 1]] - row[used[t + 1]]) / 2;
        for (std::size_t u = 0; u < t; ++u) sum -= lower[s * rest + u] * lower[t * rest + u];
        if (t < s)
          lower[s * rest + t] = sum / lower[t * rest + t];
        else if (sum > 1e-12 * base[one])
          lower[s * rest + s] = std::sqrt(sum);
        else
          return along_dependence(used, lower, rest, s);
      }
      x[s] = (h_[at(used[0])] - h_[at(one)] + base[one]) / 2;
      for (std::size_t t = 0; t < s; ++t) x[s] -= lower[s * rest + t] * x[t];
      x[s] /= lower[s * rest + s];
    }
    back_substitute(lower, rest, rest, x);
    Direction way{.d = {1}};
    for (const double v : x) {
      way.d[0] -= v;
      way.d.push_back(v);
    }
    for (std::size_t u = 0; u < used.size(); ++u) way.d[u] -= x_[at(used[u])];
    return way;
  }

  /// a_s - a_0 is a combination of those before it, L^T z = row s of L.
  Direction along_dependence(const std::vector<Index>& used, const std::vector<double>& lower,
                             std::size_t rest, std::size_t s) const {
    std::vector<double> z(lower.begin() + static_cast<Index>(s * rest),
                          lower.begin() + static_cast<Index>(s * rest + s));
    back_substitute(lower, rest, s, z);
    Direction way{.d = std::vector<double>(used.size()),
                  .most = std::numeric_limits<double>::infinity()};
    way.d[0] = -1;
    way.d[s + 1] = 1;
    for (std::size_t t = 0; t < s; ++t) {
      way.d[0] += z[t];
      way.d[t + 1] = -z[t];
    }
    double slope = 0;
    for (std::size_t u = 0; u < used.size(); ++u) slope += way.d[u] * g_[at(used[u])];
    if (slope > 0)
      for (double& v : way.d) v = -v;
    return way;
  }

  /// x <- L^-T x, by the first `count` rows.
  static void back_substitute(const std::vector<double>& lower, std::size_t stride,
                              std::size_t count, std::vector<double>& x) {
    for (std::size_t s = count; s-- > 0;) {
      for (std::size_t t = s + 1; t < count; ++t) x[s] -= lower[t * stride + s] * x[t];
      x[s] /= lower[s * stride + s];
    }
  }

  const SquareDistances& squares_;
  const std::vector<double>& h_;
  Index m_;
  std::vector<double> x_, g_;
};

}  // namespace

Combination minimise_on_simplex(const SquareDistances& squares, const std::vector<double>& h,
                                std::vector<double> x, const SimplexEnd& end) {
  return Program(squares, h, std::move(x)).minimise(end);
}

}  // namespace fwsr
