// K-SVD against its definition: an objective that is what it says and never rises, one turn done literally, points nearest
// to the atoms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "clustering.hpp"

namespace fwsr::clustering {
namespace {

const std::vector<Kind> kinds = {Kind::gaussian, Kind::clustered, Kind::nonnegative};

struct Learnt {
  Selection s;
  Table points, atoms, codes;  // n x d, k x d, n x k
};
Learnt learn(std::uint64_t seed, Index turns, Index sparsity,
             Storage storage = Storage::dense_f64) {
  Small small = make_small(seed, kinds, storage);
  small.options.codes = true;
  Learnt m{.s = small.run("ksvd", {{"max_iterations", std::to_string(turns)},
                                   {"sparsity", std::to_string(sparsity)},
                                   {"tolerance", "0"}}),
           .points = small.reference().points,
           .atoms = Table(0, 0),
           .codes = Table(0, 0)};
  const auto k = static_cast<Index>(m.s.exemplars.size());
  m.atoms = Table(k, m.points.cols);
  m.codes = Table(m.points.rows, k);
  EXPECT_EQ(static_cast<Index>(m.s.atoms.size()), k);
  for (Index t = 0; t < k; ++t)
    for (Index l = 0; l < m.points.cols; ++l)
      m.atoms(t, l) = static_cast<Real>(m.s.atoms[at(t)][at(l)]);
  for (Index i = 0; i < m.points.rows; ++i)
    for (Index t = 0; t < k; ++t) m.codes(i, t) = static_cast<Real>(m.s.codes[at(i * k + t)]);
  return m;
}

/// ||A - X D||^2 and the rows that are left.
Real objective_of(const Table& points, const Table& codes, const Table& atoms, Table& left) {
  left = points;
  Real sum = 0;
  for (Index i = 0; i < points.rows; ++i)
    for (Index l = 0; l < points.cols; ++l) {
      for (Index t = 0; t < atoms.rows; ++t) left(i, l) -= codes(i, t) * atoms(t, l);
      sum += left(i, l) * left(i, l);
    }
  return sum;
}

TEST(KSvd, the_objective_is_what_it_says_and_never_rises) {
  int lower = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Index sparsity = 1 + static_cast<Index>(seed % 4);
    double before = std::numeric_limits<double>::infinity();
    for (const Index turns : {0, 1, 2, 3, 6, 12}) {
      const Learnt m =
          learn(seed, turns, sparsity, seed % 5 == 0 ? Storage::csr_f64_i32 : Storage::dense_f64);
      if (m.s.exemplars.empty()) continue;
      Table left(0, 0);
      Real energy = 0;
      for (const Real v : m.points.values) energy += v * v;
      const auto scale = static_cast<double>(energy);
      const double now = fact(m.s, "objective");
      EXPECT_NEAR(now, static_cast<double>(objective_of(m.points, m.codes, m.atoms, left)),
                  1e-10 * scale);
      EXPECT_LE(now, before + 1e-13 * scale);
      lower += now < before * (1 - 1e-6);
      before = now;
      for (Index t = 0; t < m.atoms.rows; ++t) {
        Real square = 0;
        for (Index l = 0; l < m.atoms.cols; ++l) square += m.atoms(t, l) * m.atoms(t, l);
        EXPECT_NEAR(static_cast<double>(square), 1, 1e-9);
      }
      for (Index i = 0; i < m.codes.rows; ++i) {
        Index used = 0;
        for (Index t = 0; t < m.codes.cols; ++t) used += m.codes(i, t) != 0;
        EXPECT_LE(used, sparsity);
      }
    }
  }
  EXPECT_GT(lower, 100);
}

TEST(KSvd, a_turn_is_the_best_rank_one_for_atom_after_atom) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Learnt first = learn(seed, 0, 2), second = learn(seed, 1, 2);
    const Index k = first.atoms.rows, n = first.points.rows, d = first.points.cols;
    if (first.s.exemplars.size() != second.s.exemplars.size() || k == 0) continue;
    // The atoms are listed by strength; they were drawn as points in this order.
    Rng rng(seed);
    std::vector<Index> order;
    for (const Index p : sample_without_replacement(n, n, rng)) {
      if (static_cast<Index>(order.size()) == k) break;
      if (square(first.points, p, std::vector<Real>(at(d))) == 0) continue;
      Index match = 0;
      Real most = -1;
      for (Index t = 0; t < k; ++t) {
        Real along = 0;
        for (Index l = 0; l < d; ++l) along += first.points(p, l) * first.atoms(t, l);
        const bool used = std::find(order.begin(), order.end(), t) != order.end();
        if (!used && along > most) most = along, match = t;
      }
      order.push_back(match);
    }
    Table atoms = first.atoms, codes = first.codes, left(0, 0);
    bool unused = false;
    for (const Index t : order) {
      std::vector<Index> uses;
      for (Index i = 0; i < n; ++i)
        if (codes(i, t) != 0) uses.push_back(i);
      unused = unused || uses.empty();
      if (uses.empty()) continue;
      objective_of(first.points, codes, atoms, left);
      for (const Index i : uses)
        for (Index l = 0; l < d; ++l) left(i, l) += codes(i, t) * atoms(t, l);
      std::vector<Real> v(at(d));
      for (Index l = 0; l < d; ++l) v[at(l)] = atoms(t, l);
      for (int step = 0; step < 800; ++step) {  // the power method
        std::vector<Real> w(at(d));
        for (const Index i : uses) {
          Real along = 0;
          for (Index l = 0; l < d; ++l) along += left(i, l) * v[at(l)];
          for (Index l = 0; l < d; ++l) w[at(l)] += along * left(i, l);
        }
        Real length = 0;
        for (const Real x : w) length += x * x;
        for (Real& x : w) x /= std::sqrt(length);
        v = w;
      }
      for (Index l = 0; l < d; ++l) atoms(t, l) = v[at(l)];
      for (const Index i : uses) {
        codes(i, t) = 0;
        for (Index l = 0; l < d; ++l) codes(i, t) += left(i, l) * v[at(l)];
      }
    }
    if (unused) continue;
    const auto expected = static_cast<double>(objective_of(first.points, codes, atoms, left));
    const double start = fact(first.s, "objective");
    EXPECT_NEAR(fact(second.s, "objective"), expected, 1e-6 * start + 1e-12);
    ++compared;
  }
  EXPECT_GT(compared, 30);
}

TEST(KSvd, exemplars_are_nearest_to_the_atoms_and_distinct) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Learnt m = learn(seed, 4, 3);
    std::set<Index> taken;
    for (Index t = 0; t < m.atoms.rows; ++t) {
      const auto cosine = [&](Index i) {
        Real along = 0, square = 0;
        for (Index l = 0; l < m.points.cols; ++l) {
          along += m.points(i, l) * m.atoms(t, l);
          square += m.points(i, l) * m.points(i, l);
        }
        return square > 0 ? static_cast<double>(std::abs(along) / std::sqrt(square)) : 0.0;
      };
      double most = 0;
      for (Index i = 0; i < m.points.rows; ++i)
        if (!taken.count(i)) most = std::max(most, cosine(i));
      const Index e = m.s.exemplars[at(t)];
      EXPECT_TRUE(taken.insert(e).second);
      EXPECT_GE(cosine(e), most * (1 - 2e-6));
      Real square = 0;
      for (Index i = 0; i < m.codes.rows; ++i) square += m.codes(i, t) * m.codes(i, t);
      EXPECT_NEAR(m.s.strength[at(t)], static_cast<double>(std::sqrt(square)),
                  1e-9 * (1 + m.s.strength[at(t)]));
    }
  }
}

TEST(KSvd, has_atoms_only_beside_codes) {
  Small small = make_small(3, {Kind::gaussian});
  EXPECT_TRUE(small.run("ksvd").atoms.empty());
  small.options.codes = true;
  EXPECT_EQ(small.run("ksvd").atoms.size(), small.run("ksvd").exemplars.size());
}

}  // namespace
}  // namespace fwsr::clustering
