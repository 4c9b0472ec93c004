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

/// K in its two roles.
template <class T>
struct Kernels {
  Matrix<T> among;  // of the points as exemplars
  Matrix<T> with;   // of these with the points as they are represented: column l times sqrt(s_l)
  Real trace = 0;   // sum_l s_l K_ll
};

template <class T>
Kernels<T> kernels_of(const Matrix<T>& k, const Conditions& c) {
  Kernels<T> roles{beyond(k, c.included), {}, 0};
  for (Index j = 0; j < k.rows && !c.included.empty(); ++j) {
    if (roles.among(j, j) > 1e-13L * k(j, j)) continue;
    for (Index i = 0; i < k.rows; ++i) roles.among(i, j) = roles.among(j, i) = 0;  // spanned
  }
  roles.with = roles.among;
  for (Index l = 0; l < k.rows; ++l) {
    const Real weight = c.weights.empty() ? 1 : c.weights[static_cast<std::size_t>(l)];
    roles.trace += weight * roles.among(l, l);
    if (c.weights.empty()) continue;
    for (Index i = 0; i < k.rows; ++i)
      roles.with(i, l) = static_cast<T>(roles.with(i, l) * std::sqrt(weight));
  }
  return roles;
}

Real cost_of(const Conditions& c, Index j) {
  return c.costs.empty() ? 1 : c.costs[static_cast<std::size_t>(j)];
}

bool is_candidate(const Conditions& c, Index j) {
  if (std::find(c.included.begin(), c.included.end(), j) != c.included.end()) return false;
  return c.candidates.empty() || c.candidates[static_cast<std::size_t>(j)];
}

Real spent(const Conditions& c, const std::vector<Index>& chosen) {
  Real sum = 0;
  for (const Index j : chosen) sum += cost_of(c, j);
  return sum;
}

Index in_group(const Conditions& c, const std::vector<Index>& chosen, Index group) {
  return std::count_if(chosen.begin(), chosen.end(),
                       [&](Index j) { return c.groups[static_cast<std::size_t>(j)] == group; });
}

/// Whether j may be the next exemplar beside `chosen`, of k.
bool may_be_added(const Settings& s, const std::vector<Index>& chosen, Index j) {
  const Conditions& c = s.conditions;
  if (c.budget && spent(c, chosen) + cost_of(c, j) > *c.budget * (1 + 1e-12L)) return false;
  if (c.groups.empty()) return true;
  const Index own = c.groups[static_cast<std::size_t>(j)];
  const auto missing = [&](std::size_t g) {
    return std::max<Index>(0, c.floors[g] - in_group(c, chosen, static_cast<Index>(g)));
  };
  Index all_missing = 0;
  for (std::size_t g = 0; g < c.floors.size(); ++g) all_missing += missing(g);
  const Index cap = c.caps[static_cast<std::size_t>(own)];
  if (cap >= 0 && in_group(c, chosen, own) >= cap) return false;
  const Index left = s.exemplars - static_cast<Index>(chosen.size());
  return left > all_missing || missing(static_cast<std::size_t>(own)) > 0;
}

/// Rows that may be picked: those that are chosen already, and those that may be added.
std::vector<bool> open_rows(const Settings& s, const std::vector<Index>& chosen, Index n) {
  std::vector<bool> open;
  for (Index j = 0; j < n; ++j)
    open.push_back(
        is_candidate(s.conditions, j) &&
        (std::find(chosen.begin(), chosen.end(), j) != chosen.end() || may_be_added(s, chosen, j)));
  return open;
}

/// Why nobody can be added any more, where that is so.
std::optional<Status> ended_by_conditions(const Settings& s, const std::vector<Index>& chosen,
                                          Index n) {
  bool too_dear = false;
  Settings rich = s;
  rich.conditions.budget.reset();
  for (Index j = 0; j < n; ++j) {
    if (!is_candidate(s.conditions, j) ||
        std::find(chosen.begin(), chosen.end(), j) != chosen.end())
      continue;
    if (may_be_added(s, chosen, j)) return std::nullopt;
    too_dear = too_dear || may_be_added(rich, chosen, j);
  }
  return too_dear ? Status::budget_spent : Status::candidates_exhausted;
}

struct Choice {
  Index pick = 0;
  Real score = 0;
  Real lead = std::numeric_limits<Real>::infinity();
  bool tied = false, copied = false;
};

/// Line 9: of the open rows that with the largest dual norm for its cost, the first of equals.
template <class T>
Choice choose(const Matrix<T>& p, const Settings& s, const std::vector<bool>& open) {
  std::vector<Real> scores;
  for (Index i = 0; i < p.rows; ++i)
    scores.push_back(open[static_cast<std::size_t>(i)]
                         ? dual_norm(p, i, s) / cost_of(s.conditions, i)
                         : -std::numeric_limits<Real>::infinity());
  Choice c;
  const auto best = std::max_element(scores.begin(), scores.end());
  c.pick = best - scores.begin();
  c.score = *best;
  const auto origin = [&](Index i) {
    return s.copy_of.empty() ? i : s.copy_of[static_cast<std::size_t>(i)];
  };
  for (Index i = 0; i < p.rows; ++i) {
    const Real v = scores[static_cast<std::size_t>(i)];
    if (!open[static_cast<std::size_t>(i)]) continue;
    if (v != c.score)
      c.lead = std::min(c.lead, (c.score - v) / c.score);
    else if (origin(i) != origin(c.pick))
      c.tied = true;
    else if (i != c.pick)
      c.copied = true;
  }
  c.score *= cost_of(s.conditions, c.pick);
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

/// f(X) = tr K - 2 <X, K> + <X, K X>, and K X = K - P.
template <class T>
Real objective(const Matrix<T>& x, const Matrix<T>& p, const Kernels<T>& k) {
  return k.trace - inner(x, k.with) - inner(x, p);
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
Matrix<T> residual(const Kernels<T>& k, const Matrix<T>& x) {
  std::vector<Index> rows;
  for (Index i = 0; i < x.rows; ++i)
    if (!is_zero_row(x, i)) rows.push_back(i);
  Matrix<T> p(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index l = 0; l < x.cols; ++l) {
      Real sum = k.with(i, l);
      for (const Index t : rows) sum -= Real(k.among(i, t)) * x(t, l);
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
Probe look_along(const State<T>& now, const Kernels<T>& k, Index j, const std::vector<Real>& s) {
  const Real xp = inner(now.x, now.p);
  Real sp = 0, ss = 0, skx = 0;
  for (Index l = 0; l < now.p.cols; ++l) {
    const Real v = s[static_cast<std::size_t>(l)];
    sp += v * now.p(j, l);
    ss += v * v;
    skx += v * (Real(k.with(j, l)) - now.p(j, l));
  }
  return {sp - xp, ss * k.among(j, j) - 2 * skx + inner(now.x, k.with) - xp};
}

/// Lines 7 and 16: X <- (1 - gamma) X + gamma S, and P with it.
template <class T>
void take_step(State<T>& now, const Kernels<T>& k, const Settings& set, Index j,
               const std::vector<Real>& s, Real gamma) {
  for (T& v : now.x.values) v = static_cast<T>((1 - gamma) * v);
  for (Index l = 0; l < now.x.cols; ++l)
    now.x(j, l) = static_cast<T>(now.x(j, l) + gamma * s[static_cast<std::size_t>(l)]);
  if (set.from_scratch) {
    now.p = residual(k, now.x);
  } else {
    for (Index i = 0; i < now.p.rows; ++i)
      for (Index l = 0; l < now.p.cols; ++l)
        now.p(i, l) = static_cast<T>(
            (1 - gamma) * now.p(i, l) +
            gamma * (k.with(i, l) - Real(k.among(i, j)) * s[static_cast<std::size_t>(l)]));
  }
  now.f = objective(now.x, now.p, k);
  if (gamma == 1) now.order.clear();
  if (!is_zero_row(now.x, j) && std::find(now.order.begin(), now.order.end(), j) == now.order.end())
    now.order.push_back(j);
}

/// The share of the points, without the row of eta, that is beyond what is included and chosen.
template <class T>
Real unexplained(const Matrix<T>& given, const Settings& set, const std::vector<Index>& chosen) {
  const Conditions& c = set.conditions;
  Matrix<Real> plain(given.rows, given.cols);
  for (std::size_t i = 0; i < plain.values.size(); ++i)
    plain.values[i] = given.values[i] - c.eta * c.eta;
  std::vector<Index> all = c.included;
  all.insert(all.end(), chosen.begin(), chosen.end());
  const Matrix<Real> left = beyond(plain, all);
  Real whole = 0, rest = 0;
  for (Index i = 0; i < plain.rows; ++i) {
    const Real weight = c.weights.empty() ? 1 : c.weights[static_cast<std::size_t>(i)];
    whole += weight * plain(i, i);
    rest += weight * std::max(Real(0), left(i, i));
  }
  return whole > 0 ? rest / whole : 0;
}

template <class T>
bool explains_enough(const Matrix<T>& given, const Settings& set,
                     const std::vector<Index>& chosen) {
  const Conditions& c = set.conditions;
  for (std::size_t g = 0; g < c.floors.size(); ++g)
    if (in_group(c, chosen, static_cast<Index>(g)) < c.floors[g]) return false;
  return c.until_error && unexplained(given, set, chosen) <= *c.until_error;
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

/// X as codes of the points themselves; of those without a weight nothing is known.
template <class T>
Run<T> unweighted(Run<T> run, const Conditions& c) {
  if (c.weights.empty()) return run;
  for (Index i = 0; i < run.x.rows; ++i)
    for (Index l = 0; l < run.x.cols; ++l) {
      const Real weight = c.weights[static_cast<std::size_t>(l)];
      run.x(i, l) = weight > 0 ? static_cast<T>(run.x(i, l) / std::sqrt(weight)) : T(0);
    }
  return run;
}

/// The limit beta -> infinity: X <- X + (nu / K_jj) e_j v^T, v = p_j / nu.
template <class T>
Run<T> matching_pursuit(const Matrix<T>& given, const Settings& set) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  const Kernels<T> k = kernels_of(given, set.conditions);
  State<T> now{Matrix<T>(given.rows, given.cols), k.with, {}, 0};
  Run<T> run;
  now.f = run.f_at_zero = objective(now.x, now.p, k);
  const Real delta = set.delta_absolute ? set.delta : set.delta * run.f_at_zero;
  if (explains_enough(given, set, {}))  // what is there already
    return finish(std::move(run), std::move(now), Status::error_reached, infinity);
  for (Index t = 0;; ++t) {
    if (t == set.max_iterations)
      return finish(std::move(run), std::move(now), Status::iteration_limit, infinity);
    if (const auto ended = ended_by_conditions(set, now.order, given.rows))
      return finish(std::move(run), std::move(now), *ended, infinity);
    const Choice c = choose(now.p, set, open_rows(set, now.order, given.rows));
    run.ending = {c.pick, now.f,  infinity, 0,        infinity, c.score,
                  0,      c.lead, c.tied,   c.copied, infinity, infinity};
    if (run.f_at_zero > 0) run.ending.from_delta = std::abs(now.f - delta) / run.f_at_zero;
    if (now.f <= delta) return finish(std::move(run), std::move(now), Status::converged, infinity);
    if (c.score == 0) return finish(std::move(run), std::move(now), Status::exhausted, infinity);

    const Real self = k.among(c.pick, c.pick);
    for (Index l = 0; l < now.x.cols; ++l)
      now.x(c.pick, l) = static_cast<T>(now.x(c.pick, l) + now.p(c.pick, l) / self);
    const Matrix<T> before = now.p;
    for (Index i = 0; i < now.p.rows; ++i)
      for (Index l = 0; l < now.p.cols; ++l)
        now.p(i, l) =
            static_cast<T>(before(i, l) - Real(k.among(i, c.pick)) * before(c.pick, l) / self);
    if (set.from_scratch) now.p = residual(k, now.x);
    now.f = objective(now.x, now.p, k);
    if (std::find(now.order.begin(), now.order.end(), c.pick) == now.order.end())
      now.order.push_back(c.pick);

    run.ending.f = now.f;
    run.ending.rows = non_zero_rows(now.x);
    run.trace.push_back(run.ending);
    run.ending = {};
    if (run.trace.back().rows >= set.exemplars)
      return finish(std::move(run), std::move(now), Status::exemplars_reached, infinity);
    if (explains_enough(given, set, now.order))
      return finish(std::move(run), std::move(now), Status::error_reached, infinity);
  }
}

template <class T>
Run<T> frank_wolfe(const Matrix<T>& given, const Settings& set) {
  const bool grow = set.when_converged == WhenConverged::grow;
  const Kernels<T> k = kernels_of(given, set.conditions);
  State<T> now{Matrix<T>(given.rows, given.cols), k.with, {}, 0};
  Run<T> run;
  now.f = run.f_at_zero = objective(now.x, now.p, k);
  const Real delta = set.delta_absolute ? set.delta : set.delta * run.f_at_zero;
  Real beta = set.beta;
  Index without_new_row = 0;

  if (explains_enough(given, set, {}))  // what is there already
    return finish(std::move(run), std::move(now), Status::error_reached, beta);
  for (;;) {
    if (static_cast<Index>(run.trace.size()) == set.max_iterations)
      return finish(std::move(run), std::move(now), Status::iteration_limit, beta);
    if (const auto ended = ended_by_conditions(set, now.order, given.rows))
      return finish(std::move(run), std::move(now), *ended, beta);
    const Choice c = choose(now.p, set, open_rows(set, now.order, given.rows));  // line 9
    const Real radius = beta / cost_of(set.conditions, c.pick);
    const Direction d = direction(now.p, c, set, radius);  // lines 10, 11
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
    if (is_new && explains_enough(given, set, now.order))
      return finish(std::move(run), std::move(now), Status::error_reached, beta);

    without_new_row = is_new ? 0 : without_new_row + 1;
    if (grow && without_new_row >= std::max<Index>(50, 2 * set.exemplars)) {
      beta *= 2;
      without_new_row = 0;
    }
  }
}

}  // namespace

template <class T>
Run<T> select(const Matrix<T>& k, const Settings& set) {
  if (k.rows != k.cols) throw std::invalid_argument("the kernel matrix is square");
  return unweighted(std::isinf(set.beta) ? matching_pursuit(k, set) : frank_wolfe(k, set),
                    set.conditions);
}

template <class T>
Matrix<T> beyond(const Matrix<T>& k, const std::vector<Index>& included, Real tolerance) {
  if (included.empty()) return k;
  Matrix<Real> left(k.rows, k.cols);
  Real largest = 0;
  for (std::size_t i = 0; i < left.values.size(); ++i) left.values[i] = k.values[i];
  for (const Index t : included) largest = std::max(largest, left(t, t));
  for (std::size_t m = 0; m < included.size(); ++m) {  // elimination, the largest pivot first
    Index pivot = included[0];
    for (const Index t : included)
      if (left(t, t) > left(pivot, pivot)) pivot = t;
    const Real size = left(pivot, pivot);
    if (size <= tolerance * largest) break;
    std::vector<Real> column;
    for (Index i = 0; i < k.rows; ++i) column.push_back(left(i, pivot) / std::sqrt(size));
    for (Index i = 0; i < k.rows; ++i)
      for (Index l = 0; l < k.cols; ++l)
        left(i, l) -= column[static_cast<std::size_t>(i)] * column[static_cast<std::size_t>(l)];
  }
  Matrix<T> found(k.rows, k.cols);
  for (std::size_t i = 0; i < left.values.size(); ++i)
    found.values[i] = static_cast<T>(left.values[i]);
  return found;
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
Certificate certify(const Matrix<T>& given, const Matrix<T>& codes, const Settings& settings,
                    Real beta) {
  const Conditions& conditions = settings.conditions;
  const Kernels<T> k = kernels_of(given, conditions);
  Matrix<T> x = codes;
  for (Index i = 0; i < x.rows && !conditions.weights.empty(); ++i)
    for (Index l = 0; l < x.cols; ++l)
      x(i, l) =
          static_cast<T>(x(i, l) * std::sqrt(conditions.weights[static_cast<std::size_t>(l)]));
  const Matrix<T> p = residual(k, x);
  std::vector<bool> open;
  Certificate c;
  c.f = objective(x, p, k);
  c.f_at_zero = k.trace;
  for (Index i = 0; i < x.rows; ++i) {
    open.push_back(is_candidate(conditions, i));
    c.radius_used += cost_of(conditions, i) * row_norm(x, i, settings.q);
  }
  const Choice best = choose(p, settings, open);
  c.gap = std::isinf(beta) ? beta
                           : 2 * (beta / cost_of(conditions, best.pick) * best.score - inner(x, p));
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
Real boolean_objective(const Matrix<T>& k, const std::vector<Index>& chosen, Real lambda, Real rho,
                       const std::vector<Real>& weights) {
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
    const Real weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(i)];
    value += weight * k(i, i);
    for (Index t = 0; t < m; ++t) {
      Real sum = k(point(t), i);
      for (Index c = 0; c < t; ++c) sum -= low(t, c) * y[static_cast<std::size_t>(c)];
      y.push_back(sum / low(t, t));
      value -= weight * square(y.back());
    }
  }
  return value;
}

#define ORACLE_FOR(T)                                                                          \
  template void add_eta(Matrix<T>&, Real);                                                     \
  template Run<T> select(const Matrix<T>&, const Settings&);                                   \
  template Matrix<T> beyond(const Matrix<T>&, const std::vector<Index>&, Real);                \
  template Real row_norm(const Matrix<T>&, Index, Norm);                                       \
  template Certificate certify(const Matrix<T>&, const Matrix<T>&, const Settings&, Real);     \
  template Real projection_error_of_kernel(const Matrix<T>&, const std::vector<Index>&, Real); \
  template Real boolean_objective(const Matrix<T>&, const std::vector<Index>&, Real, Real,     \
                                  const std::vector<Real>&);
ORACLE_FOR(double)
ORACLE_FOR(Real)
#undef ORACLE_FOR

}  // namespace oracle
