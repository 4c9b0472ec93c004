// DS3: representatives from dissimilarities alone (Elhamifar, Sapiro, Sastry, "Dissimilarity-based sparse
// subset selection", IEEE TPAMI 2016).
//
//   min_Z  lambda sum_i ||z_i||_p + sum_ij d_ij z_ij    s.t.  Z >= 0,  1^T Z = 1^T
//
// d_ij says how badly i represents j, row z_i what i represents; p is 2 or infinity. lambda is
// lambda_max / alpha with the article's lambda_max, from which on one row alone is not zero: that of the
// i with the least sum of d_i, called l,
//
//   p = infinity:  max_i ||d_i - d_l||_1 / 2
//   p = 2:         max_i sqrt(n) / 2 ||d_i - d_l||_2^2 / 1^T (d_i - d_l)
//
// alpha = 0 stands for 20, or as many times twice that as it takes to have k rows that are not zero: w goes on
// from where it is. In the case p = 2, i whose sum is that of l count for nothing (there is no such lambda); where that leaves
// none, max_i ||d_i - d_l||_1 / (2 sqrt(n)) is used.
//
// ADMM (Douglas-Rachford): Y = Z with simplex columns on one side, X = Z >= 0 with the norms on the other,
//
//   Y = (w - 1 theta^T)_+  with theta such that the columns sum to 1
//   X = prox_{lambda / rho}(2 Y - w - D / rho),  rows apart
//   w <- w + omega (X - Y)
//
// so that D and w are the only n x n matrices. Certificate: the dual is max sum(nu) over nu with
// ||(nu - d_i)_+||_{p*} <= lambda for every i, 1 / p + 1 / p* = 1. -rho theta, lowered or raised by one number
// until that holds, gives a lower bound; Y is feasible and gives the upper one. The exemplars are the k rows of
// Y of largest p-norm, among those that are not zero in X.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fwsr/base/finite.hpp"
#include "fwsr/linalg/large_array.hpp"
#include "fwsr/linalg/processor.hpp"
#include "fwsr/linalg/rows.hpp"
#include "fwsr/methods/distances.hpp"
#include "fwsr/methods/row_choice.hpp"
#include "fwsr/methods/task.hpp"

namespace fwsr {

namespace {

constexpr Index rows_at_once = 16;
constexpr Index columns_at_once = 64;
constexpr Index lanes = 8;
constexpr Index steps_a_check = 10;
constexpr double omega = 1.6;
/// rho / (lambda / ||1||_p'), p' the dual exponent of a row of ones: thresholds of a third of a full row.
constexpr double first_rho = 3;
constexpr double first_alpha = 20;  // when nobody says
constexpr double nothing = 1e-9;
constexpr int newton_steps = 100;
constexpr double same_sum = 1e-12;  // sums of dissimilarities that differ by less are equal

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

double positive(double v) {
  return v > 0 ? v : 0.0;
}

/// Of the entries of `a` above s: how many, sum of a - s, and sum of squares.
struct Excess {
  double count = 0, sum = 0, squares = 0;
};

// A vector type says what the compiler does not find by itself. Entry j is in sum j mod 8 on every
// instruction set, so that the bits are the same on all of them.
using Lanes [[gnu::vector_size(lanes / 2 * sizeof(double))]] = double;
using Flags [[gnu::vector_size(lanes / 2 * sizeof(double))]] = long long;

struct Sums {
  Lanes count = {}, sum = {}, squares = {};

  [[gnu::always_inline]] void add(const double* a, double s) {
    Lanes v;
    __builtin_memcpy(&v, a, sizeof v);
    const Lanes more = v - s, one = Lanes{} + 1.0;
    const Flags above = (Flags)(more > Lanes{});  // all bits of those
    const Lanes part = (Lanes)((Flags)more & above);
    count += (Lanes)((Flags)one & above);
    sum += part;
    squares += part * part;
  }
};

[[gnu::always_inline]] inline Excess excess_body(const double* a, Index n, double s) {
  Sums even, odd;
  Index j = 0;
  for (; j + lanes <= n; j += lanes) {
    even.add(a + j, s);
    odd.add(a + j + lanes / 2, s);
  }
  if (j < n) {
    double rest[lanes];
    std::fill_n(rest, lanes, s);
    std::copy(a + j, a + n, rest);
    even.add(rest, s);
    odd.add(rest + lanes / 2, s);
  }
  Excess all;
  for (Index l = 0; l < lanes / 2; ++l) {
    all.count += even.count[l] + odd.count[l];
    all.sum += even.sum[l] + odd.sum[l];
    all.squares += even.squares[l] + odd.squares[l];
  }
  return all;
}

Excess excess_base(const double* a, Index n, double s) {
  return excess_body(a, n, s);
}
[[gnu::target("avx2")]] Excess excess_avx2(const double* a, Index n, double s) {
  return excess_body(a, n, s);
}
Excess excess(const double* a, Index n, double s) {
  static const auto chosen = instructions() >= Instructions::avx2 ? excess_avx2 : excess_base;
  return chosen(a, n, s);
}

double largest(const double* a, Index n) {
  double most[lanes];
  std::fill_n(most, lanes, a[0]);
  Index j = 0;
  for (; j + lanes <= n; j += lanes)
    for (Index l = 0; l < lanes; ++l) most[l] = a[j + l] > most[l] ? a[j + l] : most[l];
  return std::max(*std::max_element(most, most + lanes),
                  *std::max_element(a + std::min(j, n - 1), a + n));
}

/// The s with ||(a - s)_+|| = mass in the 1-norm (infinite p) or 2-norm: convex and falling in s, so that Newton's
/// steps come from below, after the first.
double level(const double* a, Index n, double mass, bool infinite, double guess) {
  const double top = largest(a, n);
  double s = guess < top ? std::max(guess, top - mass) : top - mass;
  double count = 0;
  for (int step = 0; step < newton_steps; ++step) {
    const Excess e = excess(a, n, s);
    if (infinite && e.count == count) break;  // the same entries: s is exact
    count = e.count;
    const double norm = infinite ? e.sum : std::sqrt(e.squares);
    const double slope = infinite ? e.count : e.sum / norm;
    const double next = std::max(s + (norm - mass) / slope, top - mass);
    if (next == s || (step > 0 && next < s)) break;
    s = next;
  }
  return s;
}

double p_norm(const double* a, Index n, bool infinite) {
  return infinite ? largest(a, n) : std::sqrt(dot(a, a, n));  // a >= 0
}

class Ds3 {
 public:
  explicit Ds3(const Task& task);
  Picks run();

 private:
  struct Part {  // of one block of rows
    double objective = 0, fit = 0, shift = -std::numeric_limits<double>::infinity();
    double moved = 0;  // ||X - Y||^2
  };

  Index most_central() const;
  double largest_lambda(Index central) const;
  void represent(double* x, Index i);
  void update_rows();
  void project_columns();
  void project_tile(std::vector<double>& above, Index first, Index last);
  bool check();
  void halve_lambda();
  bool enough_rows() const;
  std::vector<Index> in_order() const;
  Picks one(Index i) const;
  Picks answer() const;
  void row_of_y(Index i, double* out) const;
  template <class Work>
  Part over_rows(Work&& work);

  const Task& task_;
  const Distances distances_;
  const Index n_;
  const bool infinite_;
  DistanceMatrix<double> d_;
  LargeArray<double> w_;
  double most_lambda_ = 0, alpha_ = 0, lambda_ = 0, rho_ = 0;
  std::vector<double> theta_;
  std::vector<double> levels_;  // of the dual, the last ones: guesses
  std::vector<double> caps_;    // of the rows of X (infinite p): guesses
  std::vector<char> used_;      // rows of X that are not zero
  std::vector<double> norms_;   // of the rows of Y
  double objective_ = 0, fit_ = 0, bound_ = -std::numeric_limits<double>::infinity(), residual_ = 0;
  Index iterations_ = 0;
};

Ds3::Ds3(const Task& task)
    : task_(task),
      distances_(task, task.settings.word("metric")),
      n_(task.size()),
      infinite_(task.settings.word("p") == "inf"),
      d_(distances_.matrix<double>()),
      w_(make_large_array<double>(n_ * n_)),
      theta_(at(n_), 0.0),
      levels_(at(n_), -std::numeric_limits<double>::infinity()),
      caps_(at(n_), 0.0),
      used_(at(n_), 0),
      norms_(at(n_), 0.0) {}

Index Ds3::most_central() const {
  std::vector<double> sums(at(n_));
  for_blocks(
      task_.threads, n_,
      [&](Index, Index first, Index last) {
        for (Index i = first; i < last; ++i)
          sums[at(i)] = std::accumulate(d_.row(i), d_.row(i) + n_, 0.0);
      },
      rows_at_once);
  const double least = *std::min_element(sums.begin(), sums.end());  // the first but for rounding
  const auto found = std::find_if(sums.begin(), sums.end(),
                                  [&](double sum) { return sum <= least * (1 + same_sum); });
  if (found == sums.end()) throw_not_finite();
  return found - sums.begin();
}

double Ds3::largest_lambda(Index central) const {
  const double* const own = d_.row(central);
  const double tiny = same_sum * std::accumulate(own, own + n_, 0.0);
  const double root = std::sqrt(static_cast<double>(n_));
  double most = 0, absolute = 0;
  for (Index i = 0; i < n_; ++i) {
    const double* const d = d_.row(i);
    double sum = 0;
    for (Index j = 0; j < n_; ++j) sum += d[j] - own[j];
    absolute = std::max(absolute, absolute_distance(d, own, n_) / 2);
    if (sum > tiny) most = std::max(most, root / 2 * squared_distance(d, own, n_) / sum);
  }
  if (infinite_) return absolute;
  return most > 0 ? most : absolute / root;
}

void Ds3::row_of_y(Index i, double* out) const {
  const double* const w = w_.get() + i * n_;
  const double* const theta = theta_.data();
  for (Index j = 0; j < n_; ++j) out[j] = positive(w[j] - theta[j]);
}

/// x <- prox of lambda / rho ||.||_p on x >= 0.
void Ds3::represent(double* x, Index i) {
  const double mass = lambda_ / rho_;
  for (Index j = 0; j < n_; ++j) x[j] = positive(x[j]);
  if (infinite_) {
    const double cap = std::max(0.0, level(x, n_, mass, true, caps_[at(i)]));
    caps_[at(i)] = cap;
    for (Index j = 0; j < n_; ++j) x[j] = x[j] < cap ? x[j] : cap;
  } else {
    const double norm = std::sqrt(dot(x, x, n_));
    const double keep = norm > mass ? 1 - mass / norm : 0.0;
    for (Index j = 0; j < n_; ++j) x[j] *= keep;
  }
}

/// work(i, room, part) for every row; `room` has place for two. The parts are put together in order.
template <class Work>
Ds3::Part Ds3::over_rows(Work&& work) {
  std::vector<Part> parts(at(block_count(n_, rows_at_once)));
  std::vector<std::vector<double>> rooms(at(std::max(1, task_.threads)));
  for_blocks(
      threads_for(task_.threads, 4 * static_cast<double>(n_) * static_cast<double>(n_)), n_,
      [&](int thread, Index b, Index first, Index last) {
        stop_unless(task_.alive);
        rooms[at(thread)].resize(at(2 * n_));
        for (Index i = first; i < last; ++i) work(i, rooms[at(thread)].data(), parts[at(b)]);
      },
      rows_at_once);
  Part all;
  for (const Part& part : parts) {
    all.objective += part.objective;
    all.fit += part.fit;
    all.moved += part.moved;
    all.shift = std::max(all.shift, part.shift);
  }
  return all;
}

void Ds3::update_rows() {
  const Part all = over_rows([&](Index i, double* room, Part& part) {
    double *const y = room, *const x = room + n_, *const w = w_.get() + i * n_;
    const double* const d = d_.row(i);
    row_of_y(i, y);
    const double inverse = 1 / rho_;
    for (Index j = 0; j < n_; ++j) x[j] = 2 * y[j] - w[j] - d[j] * inverse;
    represent(x, i);
    used_[at(i)] = largest(x, n_) > 0;
    part.moved += squared_distance(x, y, n_);
    for (Index j = 0; j < n_; ++j) w[j] += omega * (x[j] - y[j]);
  });
  residual_ = std::sqrt(all.moved / static_cast<double>(n_));
}

/// theta of columns first .. last: sum_i (w_ij - theta_j)_+ = 1. One of Newton's steps from the last theta
/// leads below the root; what is above that, as a rule little, is copied, and the other steps are taken there.
void Ds3::project_tile(std::vector<double>& above, Index first, Index last) {
  const Index columns = last - first;
  double sum[columns_at_once] = {}, count[columns_at_once] = {}, least[columns_at_once];
  std::fill_n(least, columns_at_once, std::numeric_limits<double>::infinity());
  double* const theta = theta_.data() + first;
  for (Index i = 0; i < n_; ++i) {
    const double* const w = w_.get() + i * n_ + first;
    for (Index c = 0; c < columns; ++c) {
      const double more = w[c] - theta[c];
      sum[c] += positive(more);
      count[c] += more > 0 ? 1.0 : 0.0;
      least[c] = w[c] < least[c] ? w[c] : least[c];
    }
  }
  for (Index c = 0; c < columns; ++c)
    theta[c] = count[c] > 0 ? theta[c] + (sum[c] - 1) / count[c] : least[c] - 1;
  Index found[columns_at_once] = {};
  for (Index i = 0; i < n_; ++i) {
    const double* const w = w_.get() + i * n_ + first;
    for (Index c = 0; c < columns; ++c)
      if (w[c] > theta[c]) above[at(c * n_ + found[c]++)] = w[c];
  }
  for (Index c = 0; c < columns; ++c)
    theta[c] = level(above.data() + c * n_, found[c], 1, true, theta[c]);
}

void Ds3::project_columns() {
  std::vector<std::vector<double>> rooms(at(std::max(1, task_.threads)));
  for_blocks(
      threads_for(task_.threads, 4 * static_cast<double>(n_) * static_cast<double>(n_)), n_,
      [&](int thread, Index, Index first, Index last) {
        stop_unless(task_.alive);
        rooms[at(thread)].resize(at(columns_at_once * n_));
        project_tile(rooms[at(thread)], first, last);
      },
      columns_at_once);
}

/// Both bounds; true when they are near enough.
bool Ds3::check() {
  const Part all = over_rows([&](Index i, double* room, Part& part) {
    const double* const d = d_.row(i);
    row_of_y(i, room);
    norms_[at(i)] = p_norm(room, n_, infinite_);
    const double fit = dot(d, room, n_);
    part.fit += fit;
    part.objective += lambda_ * norms_[at(i)] + fit;
    for (Index j = 0; j < n_; ++j) room[j] = -rho_ * theta_[at(j)] - d[j];
    levels_[at(i)] = level(room, n_, lambda_, infinite_, levels_[at(i)]);
    part.shift = std::max(part.shift, levels_[at(i)]);
  });
  objective_ = all.objective;
  fit_ = all.fit;
  double bound = 0;
  for (const double t : theta_) bound += -rho_ * t - all.shift;
  bound_ = std::max(bound_, bound);
  return objective_ - bound_ <= task_.settings.number("tolerance") * objective_;
}

/// The rows of Y by p-norm, largest first: those that X has too, or all when it has none yet.
std::vector<Index> Ds3::in_order() const {
  std::vector<double> norms = norms_;
  for (Index i = 0; i < n_; ++i)
    if (!used_[at(i)]) norms[at(i)] = 0;
  const std::vector<Index> both = rows_by_norm(norms);
  return both.empty() ? rows_by_norm(norms_) : both;
}

/// All dissimilarities are those of i, to which lambda does not matter: it represents all.
Picks Ds3::one(Index i) const {
  const double* const d = d_.row(i);
  return {.exemplars = {i},
          .strength = {infinite_ ? 1.0 : std::sqrt(static_cast<double>(n_))},
          .codes = std::vector<double>(at(n_), 1.0),
          .facts = {{"objective", distances_.scale() * std::accumulate(d, d + n_, 0.0)},
                    {"gap", 0},
                    {"lambda", 0},
                    {"alpha", 0},
                    {"iterations", 0},
                    {"primal_residual", 0},
                    {"rows", 1}}};
}

Picks Ds3::answer() const {
  Picks picks;
  picks.exemplars = in_order();
  const auto rows = static_cast<Index>(picks.exemplars.size());
  if (rows < task_.exemplars && rows < n_)
    picks.warnings.push_back(
        fmt::format("only {} rows of Z are not zero; a larger alpha gives more", rows));
  picks.exemplars.resize(at(std::min(rows, task_.exemplars)));
  const auto k = static_cast<Index>(picks.exemplars.size());
  picks.codes.resize(at(k * n_));
  for (Index t = 0; t < k; ++t) {
    const Index i = picks.exemplars[at(t)];
    picks.strength.push_back(norms_[at(i)]);
    row_of_y(i, picks.codes.data() + t * n_);
  }
  // To the row that represents most of a point; where none of the chosen does, to the least dissimilar.
  picks.assignment.assign(at(n_), 0);
  for (Index j = 0; j < n_; ++j) {
    const auto better = [&](Index t, Index than) {
      const double a = picks.codes[at(t * n_ + j)], b = picks.codes[at(than * n_ + j)];
      if (a != b) return a > b;
      return d_.row(picks.exemplars[at(t)])[j] < d_.row(picks.exemplars[at(than)])[j];
    };
    for (Index t = 1; t < k; ++t)
      if (better(t, picks.assignment[at(j)])) picks.assignment[at(j)] = t;
  }
  const double scale = distances_.scale(), gap = std::max(0.0, objective_ - bound_);
  if (gap > task_.settings.number("tolerance") * objective_) {
    picks.status = Status::iteration_limit;
    picks.warnings.push_back(
        fmt::format("the ADMM stopped after {} iterations with a gap of {:.2g} of the objective",
                    iterations_, gap / objective_));
  }
  picks.facts = {{"objective", scale * objective_},
                 {"gap", scale * gap},
                 {"lambda", scale * lambda_},
                 {"alpha", alpha_},
                 {"iterations", static_cast<double>(iterations_)},
                 {"primal_residual", residual_},
                 {"rows", static_cast<double>(rows)}};
  return picks;
}

/// Nothing is left to gain from more rows, or there are as many as asked for.
bool Ds3::enough_rows() const {
  const auto rows = static_cast<Index>(in_order().size());
  return rows >= std::min(task_.exemplars, n_) || fit_ <= nothing * most_lambda_;
}

/// With half of rho too, so that the unscaled dual variables stay: U = w + D / rho - Y is twice what it was.
void Ds3::halve_lambda() {
  over_rows([&](Index i, double* y, Part&) {
    row_of_y(i, y);
    double* const w = w_.get() + i * n_;
    for (Index j = 0; j < n_; ++j) w[j] = 2 * w[j] - y[j];
  });
  alpha_ *= 2, lambda_ /= 2, rho_ /= 2;
  bound_ = -std::numeric_limits<double>::infinity();
}

Picks Ds3::run() {
  const double asked = task_.settings.number("alpha");
  const Index central = most_central();
  most_lambda_ = largest_lambda(central);
  if (!(most_lambda_ > 0)) return one(central);
  alpha_ = asked > 0 ? std::max(1.0, asked) : first_alpha;
  lambda_ = most_lambda_ / alpha_;
  const auto n = static_cast<double>(n_);
  rho_ = first_rho * lambda_ / (infinite_ ? n : std::sqrt(n));
  for_blocks(task_.threads, n_, [&](Index, Index first, Index last) {
    for (Index i = first; i < last; ++i)
      for (Index j = 0; j < n_; ++j) w_[at(i * n_ + j)] = 1 / n - d_.row(i)[j] / rho_;
  });
  for (;;) {
    project_columns();
    const bool last = iterations_ >= task_.settings.whole("max_iterations");
    if (iterations_ > 0 && (last || iterations_ % steps_a_check == 0) && (check() || last)) {
      if (last || asked > 0 || enough_rows()) return answer();
      halve_lambda();
      project_columns();
    }
    update_rows();
    ++iterations_;
  }
}

Picks choose(const Task& task) {
  return Ds3(task).run();
}

Cost cost(const Sizes& s, const Settings&) {
  constexpr double steps = 300, passes = 12, flops_a_number = 10;
  return {.bytes = 16 * s.n * s.n + 8 * s.n * (8 + 66 * s.threads),
          .flops = steps * passes * flops_a_number * s.n * s.n + s.n * s.n * s.pair(),
          .how = "holds two n x n matrices; a step passes over both about ten times"};
}

}  // namespace

Method ds3_method() {
  return {.name = "ds3",
          .title = "dissimilarity-based sparse subset selection",
          .about =
              "few points that represent all others at little dissimilarity, as a convex "
              "program (Elhamifar, Sapiro, Sastry 2016)",
          .knobs = {{.name = "alpha",
                     .value = 0.0,
                     .about = "lambda is the one that leaves one exemplar divided by this; 0: 20, "
                              "doubled until k rows are not zero",
                     .least = 0},
                    {.name = "p",
                     .value = std::string("inf"),
                     .about = "the norm of the rows, 2 or inf",
                     .words = {"2", "inf"}},
                    {.name = "tolerance",
                     .value = 1e-3,
                     .about = "stop when the objective is within this part of the optimum, for "
                              "certain",
                     .least = 0,
                     .most = 1},
                    {.name = "max_iterations",
                     .value = Index{10000},
                     .about = "of the ADMM",
                     .least = 1},
                    metric_knob()},
          .any_kernel = true,
          .codes = true,
          .cost = cost,
          .choose = choose};
}

}  // namespace fwsr
