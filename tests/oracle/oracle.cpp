#include "oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace oracle {
template <class T>
void add_eta(Matrix<T>& k, Real eta) {
  for (T& v : k.values) v = static_cast<T>(v + eta * eta);
}

namespace {

Real square(Real v) {
  return v * v;
}

/// What the linear oracle sees of an entry of P: only its positive part when X >= 0.
Real visible(Real p, bool nonneg) {
  return nonneg ? std::max(p, Real(0)) : p;
}

/// The dual norm of row i of P.
template <class T>
Real dual_norm(const Matrix<T>& p, Index i, const Settings& s) {
  Real sum = 0, largest = 0, squares = 0;
  for (Index l = 0; l < p.cols; ++l) {
    const Real v = std::abs(visible(p(i, l), s.nonneg));
    sum += v;
    squares += square(v);
    largest = std::max(largest, v);
  }
  if (s.q == Norm::one) return largest;
  return s.q == Norm::two ? std::sqrt(squares) : sum;
}

struct Choice {
  Index pick = 0;
  Real score = 0;
  Real lead = std::numeric_limits<Real>::infinity();
  bool tied = false, copied = false;
};

/// Line 9: the row with the largest dual norm, the first of equals.
template <class T>
Choice choose(const Matrix<T>& p, const Settings& s) {
  std::vector<Real> scores;
  for (Index i = 0; i < p.rows; ++i) scores.push_back(dual_norm(p, i, s));
  Choice c;
  const auto best = std::max_element(scores.begin(), scores.end());
  c.pick = best - scores.begin();
  c.score = *best;
  const auto origin = [&](Index i) {
    return s.copy_of.empty() ? i : s.copy_of[static_cast<std::size_t>(i)];
  };
  for (Index i = 0; i < p.rows; ++i) {
    const Real v = scores[static_cast<std::size_t>(i)];
    if (v != c.score)
      c.lead = std::min(c.lead, (c.score - v) / c.score);
    else if (origin(i) != origin(c.pick))
      c.tied = true;
    else if (i != c.pick)
      c.copied = true;
  }
  return c;
}

struct Direction {
  std::vector<Real> s;
  Real lead = std::numeric_limits<Real>::infinity();
};

/// Lines 10 and 11: the non-zero row of S.
template <class T>
Direction direction(const Matrix<T>& p, const Choice& c, const Settings& set, Real beta) {
  Direction d;
  d.s.resize(static_cast<std::size_t>(p.cols));
  if (c.score == 0) return d;  // S = 0
  const auto at = [&](Index l) { return visible(p(c.pick, l), set.nonneg); };
  if (set.q == Norm::two) {
    for (Index l = 0; l < p.cols; ++l) d.s[static_cast<std::size_t>(l)] = beta * at(l) / c.score;
  } else if (set.q == Norm::one) {
    Index largest = 0;
    for (Index l = 1; l < p.cols; ++l)
      if (std::abs(at(l)) > std::abs(at(largest))) largest = l;
    d.s[static_cast<std::size_t>(largest)] = at(largest) > 0 ? beta : -beta;
    for (Index l = 0; l < p.cols; ++l)
      if (std::abs(at(l)) != c.score)
        d.lead = std::min(d.lead, (c.score - std::abs(at(l))) / c.score);
  } else {
    Real size = 0;
    for (Index l = 0; l < p.cols; ++l) size = std::max(size, std::abs(Real(p(c.pick, l))));
    for (Index l = 0; l < p.cols; ++l) {
      const Real v = at(l);
      if (v != 0) d.s[static_cast<std::size_t>(l)] = v > 0 ? beta : -beta;
      if (p(c.pick, l) != 0) d.lead = std::min(d.lead, std::abs(Real(p(c.pick, l))) / size);
    }
  }
  return d;
}

/// <X, P>.
template <class T>
Real inner(const Matrix<T>& x, const Matrix<T>& p) {
  Real sum = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i)
    if (x.values[i] != 0) sum += Real(x.values[i]) * p.values[i];
  return sum;
}

/// f(X) = <I - X, K (I - X)> = tr P - <X, P>.
template <class T>
Real objective(const Matrix<T>& x, const Matrix<T>& p) {
  Real trace = 0;
  for (Index i = 0; i < p.rows; ++i) trace += p(i, i);
  return trace - inner(x, p);
}

template <class T>
bool is_zero_row(const Matrix<T>& x, Index i) {
  for (Index l = 0; l < x.cols; ++l)
    if (x(i, l) != 0) return false;
  return true;
}

template <class T>
Index non_zero_rows(const Matrix<T>& x) {
  Index count = 0;
  for (Index i = 0; i < x.rows; ++i) count += is_zero_row(x, i) ? 0 : 1;
  return count;
}

/// P = K - K X, from nothing.
template <class T>
Matrix<T> residual(const Matrix<T>& k, const Matrix<T>& x) {
  std::vector<Index> rows;
  for (Index i = 0; i < x.rows; ++i)
    if (!is_zero_row(x, i)) rows.push_back(i);
  Matrix<T> p(k.rows, k.cols);
  for (Index i = 0; i < k.rows; ++i) {
    for (Index l = 0; l < k.cols; ++l) {
      Real sum = k(i, l);
      for (const Index t : rows) sum -= Real(k(i, t)) * x(t, l);
      p(i, l) = static_cast<T>(sum);
    }
  }
  return p;
}

/// What survives from step to step.
template <class T>
struct State {
  Matrix<T> x, p;
  std::vector<Index> order;  // picks since the last full step, each once
  Real f = 0;
};

struct Probe {
  Real num = 0;  // Tr(D^T (K - K X)), D = S - X
  Real den = 0;  // Tr(D^T K D)
};

/// The two numbers of line 15, with K X = K - P.
template <class T>
Probe look_along(const State<T>& now, const Matrix<T>& k, Index j, const std::vector<Real>& s) {
  const Real xp = inner(now.x, now.p);
  Real sp = 0, ss = 0, skx = 0;
  for (Index l = 0; l < k.cols; ++l) {
    const Real v = s[static_cast<std::size_t>(l)];
    sp += v * now.p(j, l);
    ss += v * v;
    skx += v * (Real(k(j, l)) - now.p(j, l));
  }
  return {sp - xp, ss * k(j, j) - 2 * skx + inner(now.x, k) - xp};
}

/// Lines 7 and 16: X <- (1 - gamma) X + gamma S, and P with it.
template <class T>
void take_step(State<T>& now, const Matrix<T>& k, const Settings& set, Index j,
               const std::vector<Real>& s, Real gamma) {
  for (T& v : now.x.values) v = static_cast<T>((1 - gamma) * v);
  for (Index l = 0; l < k.cols; ++l)
    now.x(j, l) = static_cast<T>(now.x(j, l) + gamma * s[static_cast<std::size_t>(l)]);
  if (set.from_scratch) {
    now.p = residual(k, now.x);
  } else {
    for (Index i = 0; i < k.rows; ++i)
      for (Index l = 0; l < k.cols; ++l)
        now.p(i, l) =
            static_cast<T>((1 - gamma) * now.p(i, l) +
                           gamma * (k(i, l) - Real(k(i, j)) * s[static_cast<std::size_t>(l)]));
  }
  now.f = objective(now.x, now.p);
  if (gamma == 1) now.order.clear();
  if (!is_zero_row(now.x, j) && std::find(now.order.begin(), now.order.end(), j) == now.order.end())
    now.order.push_back(j);
}

template <class T>
Run<T> finish(Run<T> run, State<T> state, Status status, Real beta) {
  for (const Index i : state.order)
    if (!is_zero_row(state.x, i)) run.exemplars.push_back(i);
  run.x = std::move(state.x);
  run.status = status;
  run.beta = beta;
  return run;
}

/// The limit beta -> infinity: X <- X + (nu / K_jj) e_j v^T, v = p_j / nu.
template <class T>
Run<T> matching_pursuit(const Matrix<T>& k, const Settings& set) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  State<T> now{Matrix<T>(k.rows, k.cols), k, {}, 0};
  Run<T> run;
  now.f = run.f_at_zero = objective(now.x, now.p);
  const Real delta = set.delta_absolute ? set.delta : set.delta * run.f_at_zero;
  for (Index t = 0;; ++t) {
    if (t == set.max_iterations)
      return finish(std::move(run), std::move(now), Status::iteration_limit, infinity);
    const Choice c = choose(now.p, set);
    run.ending = {c.pick, now.f,  infinity, 0,        infinity, c.score,
                  0,      c.lead, c.tied,   c.copied, infinity, infinity};
    if (run.f_at_zero > 0) run.ending.from_delta = std::abs(now.f - delta) / run.f_at_zero;
    if (now.f <= delta) return finish(std::move(run), std::move(now), Status::converged, infinity);
    if (c.score == 0) return finish(std::move(run), std::move(now), Status::exhausted, infinity);

    for (Index l = 0; l < k.cols; ++l)
      now.x(c.pick, l) =
          static_cast<T>(now.x(c.pick, l) + now.p(c.pick, l) / Real(k(c.pick, c.pick)));
    const Matrix<T> before = now.p;
    for (Index i = 0; i < k.rows; ++i)
      for (Index l = 0; l < k.cols; ++l)
        now.p(i, l) = static_cast<T>(before(i, l) - Real(k(i, c.pick)) * before(c.pick, l) /
                                                        Real(k(c.pick, c.pick)));
    if (set.from_scratch) now.p = residual(k, now.x);
    now.f = objective(now.x, now.p);
    if (std::find(now.order.begin(), now.order.end(), c.pick) == now.order.end())
      now.order.push_back(c.pick);

    run.ending.f = now.f;
    run.ending.rows = non_zero_rows(now.x);
    run.trace.push_back(run.ending);
    run.ending = {};
    if (run.trace.back().rows >= set.exemplars)
      return finish(std::move(run), std::move(now), Status::exemplars_reached, infinity);
  }
}

}  // namespace

template <class T>
Run<T> select(const Matrix<T>& k, const Settings& set) {
  if (k.rows != k.cols) throw std::invalid_argument("the kernel matrix is square");
  if (std::isinf(set.beta)) return matching_pursuit(k, set);

  const bool grow = set.when_converged == WhenConverged::grow;
  State<T> now{Matrix<T>(k.rows, k.cols), k, {}, 0};
  Run<T> run;
  now.f = run.f_at_zero = objective(now.x, now.p);
  const Real delta = set.delta_absolute ? set.delta : set.delta * run.f_at_zero;
  Real beta = set.beta;
  Index without_new_row = 0;

  for (;;) {
    if (static_cast<Index>(run.trace.size()) == set.max_iterations)
      return finish(std::move(run), std::move(now), Status::iteration_limit, beta);
    const Choice c = choose(now.p, set);                 // line 9
    const Direction d = direction(now.p, c, set, beta);  // lines 10, 11
    const Probe probe = look_along(now, k, c.pick, d.s);
    const Real gap = 2 * probe.num;
    const Real off = run.f_at_zero > 0 ? std::abs(gap - delta) / run.f_at_zero : 1;
    Step& step = run.ending;
    step = {c.pick,
            now.f,
            gap,
            0,
            beta,
            c.score,
            0,
            std::min(c.lead, d.lead),
            c.tied,
            c.copied,
            std::min(step.from_delta, off),
            step.from_full};

    if (grow && (now.f <= 1e-12L * run.f_at_zero || (c.score == 0 && gap <= delta)))
      return finish(std::move(run), std::move(now), Status::exhausted, beta);
    if (gap <= delta) {  // line 13
      if (!grow) return finish(std::move(run), std::move(now), Status::converged, beta);
      beta *= 2;
      without_new_row = 0;
      continue;
    }

    step.gamma = std::min(Real(1), probe.num / probe.den);  // line 15
    step.from_full = std::abs(probe.num / probe.den - 1);
    const bool is_new = c.score > 0 && is_zero_row(now.x, c.pick);
    take_step(now, k, set, c.pick, d.s, step.gamma);  // line 16
    step.f = now.f;
    step.rows = non_zero_rows(now.x);  // line 17
    const bool reached = step.rows >= set.exemplars;
    run.trace.push_back(step);
    step = {};
    if (reached) return finish(std::move(run), std::move(now), Status::exemplars_reached, beta);

    without_new_row = is_new ? 0 : without_new_row + 1;
    if (grow && without_new_row >= std::max<Index>(50, 2 * set.exemplars)) {
      beta *= 2;
      without_new_row = 0;
    }
  }
}

template <class T>
Real row_norm(const Matrix<T>& x, Index i, Norm q) {
  Real sum = 0, largest = 0, squares = 0;
  for (Index l = 0; l < x.cols; ++l) {
    const Real v = std::abs(Real(x(i, l)));
    sum += v;
    squares += square(v);
    largest = std::max(largest, v);
  }
  if (q == Norm::one) return sum;
  return q == Norm::two ? std::sqrt(squares) : largest;
}

template <class T>
Certificate certify(const Matrix<T>& k, const Matrix<T>& x, const Settings& settings, Real beta) {
  const Matrix<T> p = residual(k, x);
  Certificate c;
  c.f = objective(x, p);
  for (Index i = 0; i < k.rows; ++i) {
    c.f_at_zero += k(i, i);
    c.radius_used += row_norm(x, i, settings.q);
  }
  c.gap = std::isinf(beta) ? beta : 2 * (beta * choose(p, settings).score - inner(x, p));
  return c;
}

Real projection_error(const Matrix<Real>& a, const std::vector<Index>& chosen, Real tolerance) {
  std::vector<std::vector<Real>> basis;
  const auto remove = [&](std::vector<Real>& v) {
    for (const auto& b : basis) {
      Real product = 0;
      for (std::size_t j = 0; j < v.size(); ++j) product += b[j] * v[j];
      for (std::size_t j = 0; j < v.size(); ++j) v[j] -= product * b[j];
    }
  };
  const auto norm_of = [](const std::vector<Real>& v) {
    Real sum = 0;
    for (const Real u : v) sum += square(u);
    return std::sqrt(sum);
  };
  const auto row = [&](Index i) {
    const auto first = a.values.begin() + i * a.cols;
    return std::vector<Real>(first, first + a.cols);
  };
  for (const Index t : chosen) {
    std::vector<Real> v = row(t);
    const Real whole = norm_of(v);
    remove(v);
    remove(v);
    const Real rest = norm_of(v);
    if (rest <= tolerance * whole) continue;
    for (Real& u : v) u /= rest;
    basis.push_back(std::move(v));
  }
  Real error = 0;
  for (Index i = 0; i < a.rows; ++i) {
    std::vector<Real> v = row(i);
    remove(v);
    error += square(norm_of(v));
  }
  return error;
}

template <class T>
Real projection_error_of_kernel(const Matrix<T>& k, const std::vector<Index>& chosen,
                                Real tolerance) {
  // Row i of `factor` holds the coordinates of point i along the directions found so far.
  std::vector<std::vector<Real>> factor(static_cast<std::size_t>(k.rows));
  const auto rest_of = [&](Index i, Index l) {
    Real sum = k(i, l);
    const auto& fi = factor[static_cast<std::size_t>(i)];
    const auto& fl = factor[static_cast<std::size_t>(l)];
    for (std::size_t m = 0; m < fi.size(); ++m) sum -= fi[m] * fl[m];
    return sum;
  };
  Real largest = 0;
  for (const Index t : chosen) largest = std::max(largest, Real(k(t, t)));
  for (std::size_t m = 0; m < chosen.size(); ++m) {
    Index pivot = chosen[0];
    for (const Index t : chosen)
      if (rest_of(t, t) > rest_of(pivot, pivot)) pivot = t;
    const Real size = rest_of(pivot, pivot);
    if (size <= tolerance * largest) break;
    std::vector<Real> column;
    for (Index i = 0; i < k.rows; ++i) column.push_back(rest_of(i, pivot) / std::sqrt(size));
    for (Index i = 0; i < k.rows; ++i)
      factor[static_cast<std::size_t>(i)].push_back(column[static_cast<std::size_t>(i)]);
  }
  Real error = 0;
  for (Index i = 0; i < k.rows; ++i) error += rest_of(i, i);
  return error;
}

template <class T>
Real boolean_objective(const Matrix<T>& k, const std::vector<Index>& chosen, Real lambda,
                       Real rho) {
  // tr K - tr K_T^T (K_TT + rho^2 I)^{-1} K_T, by Cholesky: L L^T = K_TT + rho^2 I, Y = L^{-1} K_T.
  const Index m = static_cast<Index>(chosen.size());
  const auto point = [&](Index t) { return chosen[static_cast<std::size_t>(t)]; };
  Matrix<Real> low(m, m);
  for (Index i = 0; i < m; ++i) {
    for (Index l = 0; l <= i; ++l) {
      Real sum = k(point(i), point(l)) + (i == l ? rho * rho : 0);
      for (Index c = 0; c < l; ++c) sum -= low(i, c) * low(l, c);
      low(i, l) = i == l ? std::sqrt(sum) : sum / low(l, l);
    }
  }
  Real value = lambda * static_cast<Real>(m);
  for (Index i = 0; i < k.rows; ++i) {
    std::vector<Real> y;
    value += k(i, i);
    for (Index t = 0; t < m; ++t) {
      Real sum = k(point(t), i);
      for (Index c = 0; c < t; ++c) sum -= low(t, c) * y[static_cast<std::size_t>(c)];
      y.push_back(sum / low(t, t));
      value -= square(y.back());
    }
  }
  return value;
}

#define ORACLE_FOR(T)                                                                          \
  template void add_eta(Matrix<T>&, Real);                                                     \
  template Run<T> select(const Matrix<T>&, const Settings&);                                   \
  template Real row_norm(const Matrix<T>&, Index, Norm);                                       \
  template Certificate certify(const Matrix<T>&, const Matrix<T>&, const Settings&, Real);     \
  template Real projection_error_of_kernel(const Matrix<T>&, const std::vector<Index>&, Real); \
  template Real boolean_objective(const Matrix<T>&, const std::vector<Index>&, Real, Real);
ORACLE_FOR(double)
ORACLE_FOR(Real)
#undef ORACLE_FOR

}  // namespace oracle
