// The methods of linear algebra against their definitions, in extended precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "fwsr/base/result.hpp"
#include "fwsr/linalg/blas.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/methods/methods.hpp"
#include "fwsr/methods/settings.hpp"
#include "lent_rows.hpp"
#include "method_tests.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace fwsr {
namespace {

using oracle::Matrix;
using oracle::Real;
using problems::Data;
using problems::Kind;
using problems::Storage;

// ---- the definitions ----------------------------------------------------------------------------

/// Residuals of points, or of points in the space of a kernel, after projection on some of them.
class Literal {
 public:
  static Literal of_points(const Matrix<Real>& points) {
    Literal l;
    l.vectors_ = points;
    l.multiply();
    return l;
  }
  static Literal of_kernel(const Matrix<Real>& kernel) {
    Literal l;
    l.inner_ = kernel;
    return l;
  }

  Index size() const { return inner_.rows; }
  Real inner(Index i, Index j) const { return inner_(i, j); }
  Real square(Index i) const { return inner_(i, i); }
  Real energy(Index i) const {
    Real sum = 0;
    for (Index j = 0; j < size(); ++j) sum += inner_(i, j) * inner_(i, j);
    return sum;
  }
  Real total() const {
    Real sum = 0;
    for (Index i = 0; i < size(); ++i) sum += square(i);
    return sum;
  }
  const Matrix<Real>& vectors() const { return vectors_; }

  void take(Index p) {
    if (vectors_.rows == 0) {
      const Matrix<Real> k = inner_;
      for (Index i = 0; i < size(); ++i)
        for (Index j = 0; j < size(); ++j) inner_(i, j) -= k(i, p) * k(p, j) / k(p, p);
      return;
    }
    std::vector<Real> q(at(vectors_.cols));
    for (Index l = 0; l < vectors_.cols; ++l) q[at(l)] = vectors_(p, l) / std::sqrt(square(p));
    for (int twice = 0; twice < 2; ++twice)
      for (Index i = 0; i < size(); ++i) {
        Real s = 0;
        for (Index l = 0; l < vectors_.cols; ++l) s += vectors_(i, l) * q[at(l)];
        for (Index l = 0; l < vectors_.cols; ++l) vectors_(i, l) -= s * q[at(l)];
      }
    multiply();
  }

 private:
  void multiply() {
    inner_ = Matrix<Real>(vectors_.rows, vectors_.rows);
    for (Index i = 0; i < vectors_.rows; ++i)
      for (Index j = 0; j <= i; ++j) {
        Real sum = 0;
        for (Index l = 0; l < vectors_.cols; ++l) sum += vectors_(i, l) * vectors_(j, l);
        inner_(i, j) = inner_(j, i) = sum;
      }
  }

  Matrix<Real> vectors_, inner_;
};

/// What a method makes largest at every step, of a point that is not in the span of those before.
using Score = std::function<Real(const Literal& left, const Literal& start, Index i)>;

const Score residual = [](const Literal& l, const Literal&, Index i) { return l.square(i); };
const Score correlation = [](const Literal& l, const Literal&, Index i) { return l.energy(i); };
const Score cosine = [](const Literal& l, const Literal& start, Index i) {
  return l.energy(i) / start.square(i);
};
const Score drop_of_error = [](const Literal& l, const Literal&, Index i) {
  Literal after = l;
  after.take(i);
  return l.total() - after.total();
};

Real largest_square(const Literal& l) {
  Real most = 0;
  for (Index i = 0; i < l.size(); ++i) most = std::max(most, l.square(i));
  return most;
}

struct Follow {
  const Matrix<Real>& data;  // rows that are equal are equal points
  Literal start;
  Score score;
  double floor = 1e-12;  // relative norms that count as rounding
  bool kernel = false;
};

/// Goes through the picks one by one: each must be the best, but for rounding, given those before.
/// Rounding of the points moves a direction by eps x norm / residual of the picks.
void follow(const Follow& how, const std::vector<Index>& picks, Index wanted) {
  Literal left = how.start;
  const Real largest = largest_square(how.start);
  Real worst = 1;  // norm over residual, of the picks so far
  std::vector<bool> taken(at(left.size()));
  for (std::size_t t = 0; t < picks.size(); ++t) {
    const Index pick = picks[t];
    ASSERT_TRUE(pick >= 0 && pick < left.size());
    ASSERT_FALSE(taken[at(pick)]) << "twice";
    const Real floor = largest * (how.kernel ? Real(1e-13) : Real(how.floor) * Real(how.floor));
    ASSERT_GT(left.square(pick), floor / 100) << "step " << t << ": in the span";
    const Real here = std::sqrt(largest / left.square(pick));
    worst = std::max(worst, here);
    const Real tolerance = 1e-9L + 2e-14L * (how.kernel ? worst * worst : worst);
    Real best = 0;
    for (Index i = 0; i < left.size(); ++i)
      if (!taken[at(i)] && left.square(i) > 100 * floor)
        best = std::max(best, how.score(left, how.start, i));
    ASSERT_GE(how.score(left, how.start, pick), best * (1 - tolerance)) << "step " << t;
    for (Index j = 0; j < pick; ++j)
      ASSERT_FALSE(!taken[at(j)] && same_point(how.data, pick, j)) << "the first of equals";
    taken[at(pick)] = true;
    left.take(pick);
  }
  if (static_cast<Index>(picks.size()) < wanted) {
    const Real limit = how.kernel ? Real(1e-11) : Real(how.floor) * Real(how.floor) * 100;
    for (Index i = 0; i < left.size(); ++i)
      ASSERT_TRUE(taken[at(i)] || left.square(i) <= limit * largest) << "there is another: " << i;
  }
}

struct Case {
  const char* method;
  std::map<std::string, std::string> settings;
  Score score;
  double floor;
};
const std::vector<Case> greedy = {{"rrqr", {}, residual, 1e-14},
                                  {"omp", {}, correlation, 1e-12},
                                  {"omp", {{"normalize", "yes"}}, cosine, 1e-12},
                                  {"greedy-cssp", {}, drop_of_error, 1e-12}};

// ---- one step after the other -------------------------------------------------------------------

TEST(LinearMethods, every_pick_of_points_is_the_best) {
  for (const Case& c : greedy)
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
      SCOPED_TRACE(testing::Message() << c.method << " seed " << seed);
      Rng rng(seed);
      const Index n = between(rng, 1, 24), d = between(rng, 1, 24);
      const Data data = random_data(rng, n, d);
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 8)));
      if (seed % 3 == 0) o.center = Center::point;
      const Selection s = select(data.view(), o, {c.method, c.settings});
      const auto reference = problems::reference_of(data.exact(), o, s.gamma);
      follow({.data = data.exact(),
              .start = Literal::of_points(reference.points),
              .score = c.score,
              .floor = c.floor},
             s.exemplars, o.exemplars);
      if (HasFatalFailure()) return;
    }
}

TEST(LinearMethods, every_pick_in_the_space_of_a_kernel_is_the_best) {
  std::vector<Case> cases = greedy;
  cases.push_back({"kdpp", {}, residual, 1e-14});
  const KernelType types[] = {KernelType::rbf, KernelType::polynomial, KernelType::laplacian,
                              KernelType::cosine};
  for (const Case& c : cases)
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(testing::Message() << c.method << " seed " << seed);
      Rng rng(seed);
      const Index n = between(rng, 1, 24), d = between(rng, 1, 12);
      const auto kind = static_cast<Kind>(rng.below(4));
      const Data data = data_of(kind, n, d, rng);
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 8)));
      o.kernel.type = types[seed % 4];
      const Selection s = select(data.view(), o, {c.method, c.settings});
      const auto reference = problems::reference_of(data.exact(), o, s.gamma);
      follow({.data = data.exact(),
              .start = Literal::of_kernel(reference.k),
              .score = c.score,
              .floor = c.floor,
              .kernel = true},
             s.exemplars, o.exemplars);
      if (HasFatalFailure()) return;
    }
}

TEST(LinearMethods, every_pick_of_a_given_kernel_is_the_best) {
  std::vector<Case> cases = greedy;
  cases.push_back({"kdpp", {}, residual, 1e-14});
  for (const Case& c : cases)
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(testing::Message() << c.method << " seed " << seed);
      Rng rng(seed);
      const Index n = between(rng, 1, 20), d = between(rng, 1, 30);
      const auto points = problems::make_values(Kind::gaussian, n, d, false, rng);
      SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 8)));
      o.kernel.type = KernelType::precomputed;
      const Data data = kernel_data(points, n, d);
      const Selection s = select(data.view(), o, {c.method, c.settings});
      follow({.data = data.exact(),
              .start = Literal::of_kernel(data.exact()),
              .score = c.score,
              .floor = c.floor,
              .kernel = true},
             s.exemplars, o.exemplars);
      if (HasFatalFailure()) return;
    }
}

/// n x d with singular values from 1 to `smallest`, in even steps of their logarithms. `vectors`: entry i of
/// those that belong to the points.
std::vector<double> graded(Index n, Index d, double smallest, Rng& rng,
                           Matrix<Real>* vectors = nullptr) {
  const Index rank = std::min(n, d);
  const auto random_basis = [&](Index length) {
    Matrix<Real> q(rank, length);
    for (Real& v : q.values) v = rng.normal();
    for (Index r = 0; r < rank; ++r)
      for (int twice = 0; twice < 2; ++twice) {
        for (Index s = 0; s < r; ++s) {
          Real c = 0;
          for (Index l = 0; l < length; ++l) c += q(r, l) * q(s, l);
          for (Index l = 0; l < length; ++l) q(r, l) -= c * q(s, l);
        }
        Real norm = 0;
        for (Index l = 0; l < length; ++l) norm += q(r, l) * q(r, l);
        for (Index l = 0; l < length; ++l) q(r, l) /= std::sqrt(norm);
      }
    return q;
  };
  const Matrix<Real> u = random_basis(n), v = random_basis(d);
  if (vectors) *vectors = u;
  std::vector<double> a(at(n * d));
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l < d; ++l) {
      Real sum = 0;
      for (Index r = 0; r < rank; ++r)
        sum += u(r, i) * v(r, l) *
               std::pow(Real(smallest), static_cast<Real>(r) / static_cast<Real>(rank - 1));
      a[at(i * d + l)] = static_cast<double>(sum);
    }
  return a;
}

TEST(LinearMethods, rrqr_keeps_its_digits_down_to_the_smallest_singular_value) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = between(rng, 20, 60), d = between(rng, 10, 40);
    const Data data(n, d, graded(n, d, 1e-12, rng), Storage::dense_f64);
    const Selection s = select(data.view(), plain(std::min(n, d)), {"rrqr"});
    EXPECT_EQ(static_cast<Index>(s.exemplars.size()), std::min(n, d));
    follow({.data = data.exact(),
            .start = Literal::of_points(data.exact()),
            .score = residual,
            .floor = 1e-14},
           s.exemplars, std::min(n, d));
    if (HasFatalFailure()) return;
  }
}

TEST(LinearMethods, greedy_scores_keep_their_digits_when_little_is_left) {
  for (const Case& c : greedy)
    for (std::uint64_t seed = 0; seed < 10; ++seed)
      for (const bool tall : {true, false}) {
        SCOPED_TRACE(testing::Message() << c.method << " seed " << seed << " tall " << tall);
        Rng rng(seed);
        const Index n = tall ? 26 : 16, d = tall ? 16 : 26;
        const Data data(n, d, graded(n, d, 1e-8, rng), Storage::dense_f64);
        const Selection s = select(data.view(), plain(16), {c.method, c.settings});
        EXPECT_EQ(s.exemplars.size(), 16u);
        follow({.data = data.exact(),
                .start = Literal::of_points(data.exact()),
                .score = c.score,
                .floor = c.floor},
               s.exemplars, 16);
        if (HasFatalFailure()) return;
      }
}

// ---- volumes ------------------------------------------------------------------------------------

/// log of the product of the residuals' norms, one pick after the other: the volume of the picks.
Real log_volume(Literal left, const std::vector<Index>& picks) {
  Real sum = 0;
  for (const Index p : picks) {
    sum += std::log(left.square(p)) / 2;
    left.take(p);
  }
  return sum;
}

/// By how much the volume grows when a pick is exchanged for another point, at most: by definition.
Real largest_growth(const Literal& start, const std::vector<Index>& picks) {
  const Real before = log_volume(start, picks);
  Real most = 0;
  for (std::size_t t = 0; t < picks.size(); ++t)
    for (Index j = 0; j < start.size(); ++j) {
      if (std::find(picks.begin(), picks.end(), j) != picks.end()) continue;
      std::vector<Index> others = picks;
      others[t] = j;
      std::rotate(others.begin() + static_cast<Index>(t),
                  others.begin() + static_cast<Index>(t) + 1,
                  others.end());  // the new one last: it may be in the span of the others
      const Real after = log_volume(start, others);
      if (std::isfinite(after)) most = std::max(most, std::exp(after - before));
    }
  return most;
}

double fact(const Selection& s, const std::string& name) {
  for (const Fact& f : s.facts)
    if (f.name == name) return f.value;
  ADD_FAILURE() << "no fact " << name;
  return 0;
}

/// Pivoted QR without swaps fails on it: every pivot is the largest by a hair (Kahan 1966).
std::vector<double> kahan(Index n, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  std::vector<double> a(at(n * n));  // point i is column i
  for (Index i = 0; i < n; ++i)
    for (Index l = 0; l <= i; ++l)
      a[at(i * n + l)] = std::pow(s, static_cast<double>(l)) * (l == i ? 1.0 : -c) *
                         (1 - 1e-10 * static_cast<double>(i));
  return a;
}

TEST(LinearMethods, strong_rrqr_ends_where_no_exchange_multiplies_the_volume_by_more_than_f) {
  Index swaps = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = between(rng, 2, 18), d = between(rng, 1, 18);
    const auto kind = seed % 2 ? Kind::gaussian : Kind::clustered;
    Data data = data_of(kind, n, d, rng);
    if (seed % 5 == 0)
      data = Data(n, n, kahan(n, 0.6 + 0.05 * static_cast<double>(seed % 10)), Storage::dense_f64);
    SelectOptions o = plain(between(rng, 1, std::min({n - 1, data.cols(), Index{8}})));
    const bool kernel = seed % 4 == 3;
    if (kernel) o.kernel.type = KernelType::rbf;
    const double f = seed % 3 == 0 ? 1.0 : seed % 3 == 1 ? 1.2 : 2.0;
    const Selection s = select(data.view(), o, {"strong-rrqr", {{"f", std::to_string(f)}}});
    const Selection first = select(data.view(), o, {"rrqr"});
    const auto reference = problems::reference_of(data.exact(), o, s.gamma);
    const Literal start =
        kernel ? Literal::of_kernel(reference.k) : Literal::of_points(reference.points);
    ASSERT_EQ(s.exemplars.size(), first.exemplars.size());
    const Real growth = largest_growth(start, s.exemplars);
    EXPECT_LE(growth, f * (1 + 1e-6));
    EXPECT_NEAR(static_cast<double>(growth), fact(s, "rho"), 1e-6 * (1 + fact(s, "rho")));
    const Real gained = log_volume(start, s.exemplars) - log_volume(start, first.exemplars);
    EXPECT_GE(gained, fact(s, "swaps") * std::log(Real(f)) - 1e-9L);
    if (fact(s, "swaps") == 0) {
      EXPECT_NEAR(static_cast<double>(gained), 0, 1e-9);
    }
    swaps += static_cast<Index>(fact(s, "swaps"));
    if (HasFailure()) return;
  }
  EXPECT_GT(swaps, 50);
}

/// Says no after some seconds, so that what never ends fails.
Observer for_seconds(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  return [=](const Progress&) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
           seconds;
  };
}

TEST(LinearMethods, strong_rrqr_ends_where_rounding_hides_what_a_swap_gains) {
  std::vector<double> line(200);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<double>(i) / 200;
  const MatrixView<const double> view{line.data(), 200, 1, 1};
  for (const Index k : {14, 17, 20, 23})
    for (const double gamma : {0.0, 1.0, 30.0}) {
      SCOPED_TRACE(testing::Message() << k << " of gamma " << gamma);
      SelectOptions o = plain(k);
      o.kernel.type = KernelType::rbf;
      if (gamma > 0) o.kernel.gamma = gamma;
      const Selection s = select(view, o, {"strong-rrqr", {{"f", "1"}}}, for_seconds(300));
      ASSERT_NE(s.status, Status::interrupted);
      const Selection first = select(view, o, {"rrqr"});
      EXPECT_LE(s.exemplars.size(), first.exemplars.size());
      EXPECT_GE(s.exemplars.size() + 1, first.exemplars.size());
      for (const double distance : s.strength) EXPECT_GT(distance, 0);
      for (const Index p : s.exemplars)
        EXPECT_EQ(std::count(s.exemplars.begin(), s.exemplars.end(), p), 1);
    }
}

TEST(LinearMethods, strong_rrqr_mends_what_plain_pivoting_cannot_see) {
  const Index n = 50;
  const Data data(n, n, kahan(n, 1.2), Storage::dense_f64);
  const Literal start = Literal::of_points(data.exact());
  const Selection weak = select(data.view(), plain(n - 1), {"rrqr"});
  const Selection strong = select(data.view(), plain(n - 1), {"strong-rrqr", {{"f", "1.5"}}});
  EXPECT_GT(largest_growth(start, weak.exemplars), 10);
  EXPECT_LE(largest_growth(start, strong.exemplars), 1.5 * (1 + 1e-6));
  EXPECT_GE(fact(strong, "swaps"), 1);
}

TEST(LinearMethods, kdpp_tells_the_determinant_it_reached) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    const Data data = gaussian_data(15, 3, rng);
    const Selection s = select(data.view(), plain(5), {"kdpp"});
    SelectOptions o = plain(5);
    o.kernel.type = KernelType::rbf;
    const auto reference = problems::reference_of(data.exact(), o, s.gamma);
    const Literal start = Literal::of_kernel(reference.k);
    EXPECT_NEAR(fact(s, "log_determinant"), static_cast<double>(2 * log_volume(start, s.exemplars)),
                1e-9);
  }
}

// ---- singular vectors ---------------------------------------------------------------------------

/// Eigenvalues (descending) and eigenvectors (rows) of a symmetric matrix, by Jacobi rotations.
struct Spectrum {
  std::vector<Real> values;
  Matrix<Real> vectors;
};
Spectrum spectrum_of(Matrix<Real> m) {
  const Index n = m.rows;
  Matrix<Real> v(n, n);
  for (Index i = 0; i < n; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < 40; ++sweep)
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) {
        if (m(p, q) == 0) continue;
        const Real theta = (m(q, q) - m(p, p)) / (2 * m(p, q));
        const Real t =
            (theta >= 0 ? Real(1) : Real(-1)) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const Real c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (Index l = 0; l < n; ++l) {
          const Real x = m(l, p), y = m(l, q);
          m(l, p) = c * x - s * y, m(l, q) = s * x + c * y;
        }
        for (Index l = 0; l < n; ++l) {
          const Real x = m(p, l), y = m(q, l);
          m(p, l) = c * x - s * y, m(q, l) = s * x + c * y;
        }
        for (Index l = 0; l < n; ++l) {
          const Real x = v(p, l), y = v(q, l);
          v(p, l) = c * x - s * y, v(q, l) = s * x + c * y;
        }
      }
  std::vector<Index> order(at(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return m(i, i) > m(j, j); });
  Spectrum result{{}, Matrix<Real>(n, n)};
  for (Index r = 0; r < n; ++r) {
    result.values.push_back(m(order[at(r)], order[at(r)]));
    for (Index l = 0; l < n; ++l) result.vectors(r, l) = v(order[at(r)], l);
  }
  return result;
}

Matrix<Real> inner_products(const Literal& l) {
  Matrix<Real> m(l.size(), l.size());
  for (Index i = 0; i < l.size(); ++i)
    for (Index j = 0; j < l.size(); ++j) m(i, j) = l.inner(i, j);
  return m;
}

/// Leverage scores by definition; empty when the space of the leading vectors is ill-defined.
std::vector<Real> leverage_by_definition(const Literal& start, Index rank) {
  const Spectrum s = spectrum_of(inner_products(start));
  const Index n = start.size();
  while (rank > 0 && s.values[at(rank - 1)] < 1e-28L * s.values[0]) --rank;
  if (rank > 0 && s.values[at(rank - 1)] < 1e-6L * s.values[0]) return {};
  if (rank > 0 && rank < n && s.values[at(rank)] > 0.99L * s.values[at(rank - 1)]) return {};
  std::vector<Real> scores(at(n));
  for (Index r = 0; r < rank; ++r)
    for (Index i = 0; i < n; ++i) scores[at(i)] += s.vectors(r, i) * s.vectors(r, i);
  return scores;
}

TEST(LinearMethods, leverage_scores_are_those_of_the_singular_vectors) {
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = between(rng, 1, 20), d = between(rng, 1, 20);
    const auto kind = static_cast<Kind>(seed % 3);
    const Data data = data_of(kind, n, d, rng);
    SelectOptions o = plain(n);
    const bool kernel = seed % 4 == 3;
    if (kernel) o.kernel.type = KernelType::rbf;
    const Index rank = between(rng, 1, n);
    const Selection s = select(data.view(), o, {"leverage", {{"rank", std::to_string(rank)}}});
    const auto reference = problems::reference_of(data.exact(), o, s.gamma);
    const std::vector<Real> expected = leverage_by_definition(
        kernel ? Literal::of_kernel(reference.k) : Literal::of_points(reference.points), rank);
    if (expected.empty()) continue;
    ++checked;
    std::vector<bool> there(at(n));
    for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
      there[at(s.exemplars[t])] = true;
      EXPECT_NEAR(s.strength[t], static_cast<double>(expected[at(s.exemplars[t])]), 1e-8);
      if (t > 0) {
        EXPECT_LE(s.strength[t], s.strength[t - 1] * (1 + 1e-8));  // ties have a width
      }
      if (t > 0 && s.strength[t] == s.strength[t - 1]) {
        EXPECT_GT(s.exemplars[t], s.exemplars[t - 1]);
      }
    }
    for (Index i = 0; i < n; ++i)
      EXPECT_TRUE(there[at(i)] || expected[at(i)] < 1e-8L) << "left out: " << i;
    if (HasFailure()) return;
  }
  EXPECT_GT(checked, 100);
}

TEST(LinearMethods, leverage_draws_each_point_as_often_as_its_score_says) {
  Rng rng(5);
  const Index n = 12, d = 4, runs = 4000;
  const Data data = gaussian_data(n, d, rng);
  const std::vector<Real> scores = leverage_by_definition(Literal::of_points(data.exact()), 3);
  ASSERT_FALSE(scores.empty());
  std::vector<double> first(at(n)), second(at(n)), expected(at(n));
  for (Index run = 0; run < runs; ++run) {
    const Selection s = select(
        data.view(), plain(2),
        {"leverage", {{"sampling", "random"}, {"rank", "3"}}, static_cast<std::uint64_t>(run)});
    ASSERT_EQ(s.exemplars.size(), 2u);
    ASSERT_NE(s.exemplars[0], s.exemplars[1]);
    first[at(s.exemplars[0])] += 1.0 / runs;
    second[at(s.exemplars[1])] += 1.0 / runs;
  }
  for (std::size_t i = 0; i < at(n); ++i)  // of the second draw: another first, then i of the rest
    for (std::size_t j = 0; j < at(n); ++j)
      if (i != j) expected[i] += static_cast<double>(scores[j] / 3 * scores[i] / (3 - scores[j]));
  for (std::size_t i = 0; i < at(n); ++i) {
    const double p = static_cast<double>(scores[i]) / 3;
    EXPECT_NEAR(first[i], p, 5 * std::sqrt(p / runs)) << i;
    EXPECT_NEAR(second[i], expected[i], 5 * std::sqrt(expected[i] / runs)) << i;
  }
}

TEST(LinearMethods, leverage_of_the_largest_does_not_depend_on_the_seed) {
  Rng rng(6);
  const Data data = gaussian_data(40, 6, rng);
  const Method& method = find_method("leverage");
  EXPECT_FALSE(draws_at_random(method, settings_of(method, {})));
  EXPECT_TRUE(draws_at_random(method, settings_of(method, {{"sampling", "random"}})));
  const Selection top = select(data.view(), plain(5), {"leverage", {}, 0});
  const Selection drawn = select(data.view(), plain(5), {"leverage", {{"sampling", "random"}}, 0});
  int others = 0;
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    EXPECT_EQ(select(data.view(), plain(5), {"leverage", {}, seed}).exemplars, top.exemplars);
    const Selection again =
        select(data.view(), plain(5), {"leverage", {{"sampling", "random"}}, seed});
    others += again.exemplars != drawn.exemplars;
  }
  EXPECT_GE(others, 8);
}

TEST(LinearMethods, leverage_and_two_stage_see_small_singular_values) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = between(rng, 6, 60), d = between(rng, 6, 60), full = std::min(n, d);
    Matrix<Real> vectors(0, 0);
    const Data data(n, d, graded(n, d, 1e-9, rng, &vectors), Storage::dense_f64);
    const Index rank = between(rng, 1, full);
    const Selection s =
        select(data.view(), plain(n), {"leverage", {{"rank", std::to_string(rank)}}});
    EXPECT_EQ(fact(s, "rank"), static_cast<double>(rank));
    for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
      Real expected = 0;
      for (Index r = 0; r < rank; ++r)
        expected += vectors(r, s.exemplars[t]) * vectors(r, s.exemplars[t]);
      ASSERT_NEAR(s.strength[t], static_cast<double>(expected), 3e-6);
    }
    const Selection two =
        select(data.view(), plain(full), {"two-stage", {{"restarts", "1"}}, seed});
    EXPECT_EQ(static_cast<Index>(two.exemplars.size()), full);
  }
}

TEST(LinearMethods, two_stage_finds_directions_of_small_features) {
  Rng rng(50);
  std::vector<double> a(150);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = rng.normal() * (i % 3 == 0 ? 1 : 1e-8);
  const MatrixView<const double> view{a.data(), 50, 3, 3};
  EXPECT_EQ(select(view, plain(3), {"two-stage"}).exemplars.size(), 3u);
  EXPECT_EQ(fact(select(view, plain(3), {"leverage"}), "rank"), 3);
}

TEST(LinearMethods, rounding_adds_no_singular_vectors) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const bool tall = seed % 2 == 0;
    const Index n = tall ? 500 : 40, d = tall ? 40 : 500, rank = between(rng, 1, 12);
    const auto left = problems::make_values(Kind::gaussian, n, rank, false, rng);
    const auto right = problems::make_values(Kind::gaussian, rank, d, false, rng);
    std::vector<double> a(at(n * d));
    const double fade = seed % 3 == 0 ? 1 : 1e-2;
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < d; ++l)
        for (Index r = 0; r < rank; ++r)
          a[at(i * d + l)] += left[at(i * rank + r)] * right[at(r * d + l)] *
                              std::pow(fade, std::min<double>(static_cast<double>(r), 4));
    const Data data(n, d, std::move(a), Storage::dense_f64);
    EXPECT_EQ(fact(select(data.view(), plain(20), {"leverage"}), "rank"),
              static_cast<double>(rank));
  }
}

TEST(LinearMethods, a_kernel_matrix_that_rounding_makes_singular_is_told) {
  std::vector<double> line(100);
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<double>(i) / 100;
  const MatrixView<const double> view{line.data(), 100, 1, 1};
  SelectOptions o = plain(40);
  o.kernel.type = KernelType::rbf;
  for (const char* name : {"leverage", "two-stage"}) {
    const Selection s = select(view, o, {name});
    EXPECT_TRUE(std::any_of(s.warnings.begin(), s.warnings.end(), [](const std::string& w) {
      return w.find("stand out from the rounding of the kernel matrix") != std::string::npos;
    })) << name;
  }
}

TEST(LinearMethods, the_largest_eigenvalues_are_those_of_all) {
  const fwsr::SerialBlas serial;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index m = between(rng, 1, 70), count = between(rng, 0, m);
    const Index rank = seed % 3 == 0 ? between(rng, 1, m) : m;
    const auto half = problems::make_values(Kind::gaussian, m, rank, false, rng);
    std::vector<double> matrix(at(m * m));
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < m; ++j)
        for (Index l = 0; l < rank; ++l)
          matrix[at(i * m + j)] += half[at(i * rank + l)] * half[at(j * rank + l)];
    const EigenDecomposition all = symmetric_eigen(matrix, m),
                             some = largest_eigen(matrix, m, count);
    ASSERT_EQ(static_cast<Index>(some.values.size()), count);
    ASSERT_EQ(static_cast<Index>(some.vectors.size()), count * m);
    const double enough = 1e-12 * (1 + all.values.back());
    for (Index r = 0; r < count; ++r) {
      const double value = some.values[at(r)];
      EXPECT_NEAR(value, all.values[at(m - count + r)], enough);
      for (Index i = 0; i < m; ++i) {
        double image = 0;
        for (Index j = 0; j < m; ++j) image += matrix[at(i * m + j)] * some.vectors[at(r * m + j)];
        ASSERT_NEAR(image, value * some.vectors[at(r * m + i)], enough);
      }
      for (Index s = 0; s <= r; ++s) {
        double product = 0;
        for (Index i = 0; i < m; ++i)
          product += some.vectors[at(r * m + i)] * some.vectors[at(s * m + i)];
        ASSERT_NEAR(product, r == s ? 1 : 0, 1e-11);
      }
    }
  }
}

TEST(LinearMethods, a_matrix_too_large_for_all_its_eigenvectors_is_refused) {
  EXPECT_THROW(symmetric_eigen({}, 32767), Error);
}

TEST(LinearMethods, two_stage_draws_no_more_than_it_can) {
  Rng rng(9);
  const Data data = gaussian_data(600, 40, rng);
  const auto with = [](const char* name, const char* value) {
    return MethodChoice{"two-stage", {{name, value}}};
  };
  EXPECT_THROW(plan(data.view(), plain(5), with("restarts", "1000000000000000000")), Error);
  EXPECT_THROW(plan(data.view(), plain(5), with("oversampling", "1e300")), Error);
  const Index usual = plan(data.view(), plain(30), {"two-stage"}).memory_bytes;
  EXPECT_LT(plan(data.view(), plain(30), with("oversampling", "10000")).memory_bytes, 2 * usual);
  SelectOptions o = plain(30);
  o.threads = 1;
  const std::clock_t start = std::clock();  // of this thread, whatever others do
  const Selection s =
      select(data.view(), o, {"two-stage", {{"oversampling", "10000"}, {"restarts", "1000000"}}},
             for_seconds(0.2));
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

Real error_of(Literal left, const std::vector<Index>& picks) {
  const Real largest = largest_square(left);
  for (const Index p : picks)
    if (left.square(p) > 1e-24L * largest) left.take(p);
  return left.total();
}

TEST(LinearMethods, two_stage_keeps_the_bound_and_the_best_of_its_restarts) {
  Real better = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = between(rng, 2, 24), d = between(rng, 2, 24);
    const Data data = data_of(Kind::gaussian, n, d, rng);
    const Index k = between(rng, 1, std::min<Index>({n, d, 6}));
    const Literal start = Literal::of_points(data.exact());
    const Selection s = select(data.view(), plain(k), {"two-stage", {}, seed});
    const Selection once = select(data.view(), plain(k), {"two-stage", {{"restarts", "1"}}, seed});
    ASSERT_EQ(static_cast<Index>(s.exemplars.size()), k);
    const Real error = error_of(start, s.exemplars);
    EXPECT_NEAR(fact(s, "residual"), static_cast<double>(error),
                1e-9 * static_cast<double>(start.total()));
    EXPECT_LE(error, error_of(start, once.exemplars) + 1e-12L * start.total());
    better += error_of(start, once.exemplars) - error;
    const Spectrum spectrum = spectrum_of(inner_products(start));
    Real least = 0;
    for (Index r = k; r < n; ++r) least += spectrum.values[at(r)];
    EXPECT_LE(error, static_cast<Real>(1 + 4 * k * (n - k)) * least + 1e-12L * start.total());
    if (HasFailure()) return;
  }
  EXPECT_GT(better, 0);
}

// ---- projection and matching --------------------------------------------------------------------

/// |<v, r_i>|^2 / ||r_i||^2 with the leading singular direction v of the residuals.
std::vector<Real> alignments(const Literal& l, bool& clear) {
  const Spectrum s = spectrum_of(inner_products(l));
  clear = l.size() == 1 || s.values[1] < 0.999L * s.values[0];
  std::vector<Real> result(
      at(l.size()));  // <v, r_i> = sqrt(value) times entry i of the eigenvector
  for (Index i = 0; i < l.size(); ++i)
    result[at(i)] = s.values[0] * s.vectors(0, i) * s.vectors(0, i) / l.square(i);
  return result;
}

TEST(LinearMethods, every_pick_of_ipm_is_the_best_aligned) {
  int steps = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = between(rng, 1, 18), d = between(rng, 1, 18);
    const Data data = random_data(rng, n, d);
    SelectOptions o = plain(between(rng, 1, std::min<Index>(n, 6)));
    if (seed % 3 == 0) o.center = Center::point;
    const Selection s = select(data.view(), o, {"ipm"});
    const auto reference = problems::reference_of(data.exact(), o, s.gamma);
    Literal left = Literal::of_points(reference.points);
    const Real largest = largest_square(left);
    for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
      const Index pick = s.exemplars[t];
      ASSERT_GT(left.square(pick), 1e-26L * largest) << "in the span";
      bool clear = false;
      const std::vector<Real> all = alignments(left, clear);
      const Real smallest = std::sqrt(left.square(pick) / largest);
      if (!clear || smallest < 1e-5L) break;
      ++steps;
      for (Index i = 0; i < n; ++i)
        if (left.square(i) > 1e-10L * largest) {
          ASSERT_GE(all[at(pick)], all[at(i)] * (1 - 1e-7L)) << "step " << t << " point " << i;
        }
      EXPECT_NEAR(s.strength[t], static_cast<double>(std::sqrt(all[at(pick)])), 1e-7);
      left.take(pick);
    }
    for (const Index p : s.exemplars)
      EXPECT_EQ(std::count(s.exemplars.begin(), s.exemplars.end(), p), 1);
    if (HasFailure()) return;
  }
  EXPECT_GT(steps, 200);
}

// ---- all of them --------------------------------------------------------------------------------

const std::vector<MethodChoice> everything = {{"rrqr"},
                                              {"strong-rrqr", {{"f", "1.1"}}},
                                              {"omp"},
                                              {"omp", {{"normalize", "yes"}}},
                                              {"leverage"},
                                              {"leverage", {{"sampling", "random"}}, 7},
                                              {"two-stage", {{"restarts", "3"}}, 7},
                                              {"greedy-cssp"},
                                              {"omp", {{"mu", "0.001"}}},
                                              {"greedy-cssp", {{"mu", "0.001"}}},
                                              {"kdpp"},
                                              {"ipm"}};

TEST(LinearMethods, the_number_of_threads_changes_no_bit) {
  Rng rng(1);
  for (const MethodChoice& choice : everything)
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32})
      for (const bool tall : {true, false}) {
        SCOPED_TRACE(testing::Message() << choice.name << " storage " << static_cast<int>(storage));
        const Index n = tall ? 1300 : 200, d = tall ? 24 : 420;
        const Data data(n, d, problems::make_values(Kind::nonnegative, n, d, true, rng), storage);
        SelectOptions o = plain(12);
        o.certificate = CertificateKind::full;
        o.threads = 1;
        const Selection one = select(data.view(), o, choice);
        EXPECT_EQ(one.exemplars.size(), 12u);
        for (const int threads : {2, 8}) {
          if (threads == 2 && storage != Storage::dense_f64) continue;
          o.threads = threads;
          same::expect_same(one, select(data.view(), o, choice));
        }
      }
}

template <class T>
void expect_same_from_stream(const Data& data, const SelectOptions& o, const MethodChoice& choice) {
  const LentRows<T> rows(std::get<MatrixView<const T>>(data.view()));
  const Selection held = select(data.view(), o, choice);
  EXPECT_EQ(static_cast<Index>(held.exemplars.size()), o.exemplars);
  same::expect_same(held, select(rows.view(), o, choice));
}

TEST(LinearMethods, points_that_are_streamed_have_the_same_answer) {
  Rng rng(4);
  int compared = 0;
  for (const MethodChoice& choice : everything) {
    if (!find_method(choice.name).streams) continue;
    for (const bool tall : {true, false})
      for (const Center center : {Center::none, Center::feature}) {
        SCOPED_TRACE(testing::Message() << choice.name << " tall " << tall);
        const Index n = tall ? 601 : 60, d = tall ? 12 : 150;
        const auto values = problems::make_values(Kind::nonnegative, n, d, true, rng);
        SelectOptions o = plain(6);
        o.center = center;
        expect_same_from_stream<double>(Data(n, d, values, Storage::dense_f64), o, choice);
        expect_same_from_stream<float>(Data(n, d, values, Storage::dense_f32), o, choice);
        if (tall && find_method(choice.name).any_kernel) {
          o.kernel.type = KernelType::rbf;
          expect_same_from_stream<float>(Data(n, d, values, Storage::dense_f32), o, choice);
        }
        ++compared;
      }
  }
  EXPECT_EQ(compared, 4 * 9);
}

TEST(LinearMethods, kernels_and_threads) {
  Rng rng(2);
  const Data data(1000, 5, problems::make_values(Kind::gaussian, 1000, 5, true, rng),
                  Storage::dense_f32);
  for (const char* name : {"rrqr", "strong-rrqr", "omp", "greedy-cssp", "kdpp"}) {
    SelectOptions o = plain(15);
    o.kernel.type = KernelType::rbf;
    o.certificate = CertificateKind::full;
    o.threads = 1;
    const Selection one = select(data.view(), o, {name});
    EXPECT_EQ(one.exemplars.size(), 15u);
    o.threads = 8;
    same::expect_same(one, select(data.view(), o, {name}));
  }
}

TEST(LinearMethods, edges) {
  struct Edge {
    const char* what;
    Index n, d, k;
    std::vector<double> values;
    std::size_t least, most;  // how many there are to find, of points and in the space of a kernel
  };
  std::vector<double> twice(20), zeros(12), wide(3 * 40), line(9);
  for (std::size_t i = 0; i < 20; ++i)
    twice[i] = i % 4 < 2 ? 1.0 + static_cast<double>(i % 2) : 3.0;
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = std::cos(static_cast<double>(i * i));
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<double>(i) - 3.5;
  const std::vector<Edge> edges = {{"one point", 1, 3, 1, {1, 2, 2}, 1, 1},
                                   {"one zero point", 1, 2, 1, {0, 0}, 0, 1},
                                   {"all zero", 4, 3, 2, zeros, 0, 1},
                                   {"all equal", 5, 2, 3, {2, 1, 2, 1, 2, 1, 2, 1, 2, 1}, 1, 1},
                                   {"two directions", 10, 2, 5, twice, 2, 2},
                                   {"every point", 3, 40, 3, wide, 3, 3},
                                   {"one feature", 9, 1, 4, line, 1, 4}};
  for (const MethodChoice& choice : everything)
    for (const Edge& e : edges) {
      SCOPED_TRACE(testing::Message() << choice.name << ": " << e.what);
      const MatrixView<const double> view{e.values.data(), e.n, e.d, e.d};
      const Selection s = select(view, plain(e.k), choice);
      const bool scores = choice.name == "leverage";  // does not look at what is in the span
      if (choice.name == "kdpp")
        EXPECT_EQ(s.exemplars.size(), e.most);
      else if (choice.settings.contains("mu"))  // copies and what is spanned have something left
        EXPECT_EQ(std::ssize(s.exemplars), e.least == 0 ? 0 : e.k);
      else if (!scores)
        EXPECT_EQ(s.exemplars.size(), e.least);
      else
        EXPECT_EQ(s.exemplars.empty(), e.least == 0);
      std::vector<Index> distinct = s.exemplars;
      std::sort(distinct.begin(), distinct.end());
      EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end());
      const bool drawn = scores || choice.name == "two-stage";
      if (!drawn && !s.exemplars.empty() && std::string(e.what) == "all equal") {
        EXPECT_EQ(s.exemplars[0], 0);
      }
    }
}

TEST(LinearMethods, stop_when_told) {
  Rng rng(3);
  const Data data = gaussian_data(600, 40, rng);
  for (const MethodChoice& choice : everything) {
    if (choice.name == "leverage" || choice.name == "two-stage") continue;  // one step
    const Selection s =
        select(data.view(), plain(30), choice, [](const Progress& p) { return p.exemplars < 3; });
    EXPECT_EQ(s.status, Status::interrupted) << choice.name;
  }
}

}  // namespace
}  // namespace fwsr
