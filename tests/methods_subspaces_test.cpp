// Sparse subspace clustering against its definitions: matching pursuit step by step, the conditions of the optimum, clusters
// of points on subspaces; and what it is made of, a small lasso and block Lanczos.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "clustering.hpp"
#include "fwsr/linalg/block_lanczos.hpp"
#include "fwsr/linalg/lapack.hpp"
#include "fwsr/methods/first_best.hpp"
#include "fwsr/methods/lasso.hpp"
#include "fwsr/methods/ties.hpp"

namespace fwsr::clustering {
namespace {

const std::vector<Kind> kinds = {Kind::gaussian, Kind::clustered, Kind::nonnegative};

/// A run with all points as exemplars, so that its codes are C.
struct Expressed {
  Selection s;
  Table c;       // C, rows by columns
  Table points;  // as the method saw them, one a row
};
Expressed express(Small small, const std::string& method, const Given& given) {
  const Index n = rows_of(small.data.view());
  small.options.exemplars = n;
  small.options.codes = true;
  Expressed e{.s = small.run(method, given), .c = Table(n, n), .points = small.reference().points};
  const auto k = static_cast<Index>(e.s.exemplars.size());
  for (Index i = 0; i < n; ++i)
    for (Index t = 0; t < k; ++t)
      e.c(e.s.exemplars[at(t)], i) = static_cast<Real>(e.s.codes[at(i * k + t)]);
  return e;
}

Real product(const Table& x, Index i, Index j) {
  Real sum = 0;
  for (Index l = 0; l < x.cols; ++l) sum += x(i, l) * x(j, l);
  return sum;
}

// ---- Matching pursuit ------------------------------------------------------------------------------

struct Pursued {
  std::map<Index, Real> codes;
  bool clear = true;  // no choice was between equals
};

/// One column, with the points brought to norm 1.
Pursued pursue(const Table& unit, Index i, Index sparsity, Real tolerance) {
  Pursued p;
  std::vector<Index> chosen;
  std::vector<std::vector<Real>> q;  // orthonormal
  std::vector<Real> r = row_of(unit, i);
  const auto dot = [&](const std::vector<Real>& a, const std::vector<Real>& b) {
    Real sum = 0;
    for (std::size_t l = 0; l < a.size(); ++l) sum += a[l] * b[l];
    return sum;
  };
  while (static_cast<Index>(chosen.size()) < std::min(sparsity, unit.rows - 1)) {
    Index best = -1;
    Real most = 0, second = 0;
    for (Index j = 0; j < unit.rows; ++j) {
      if (j == i || std::find(chosen.begin(), chosen.end(), j) != chosen.end()) continue;
      const Real score = std::abs(dot(row_of(unit, j), r));
      second = std::max(second, std::min(score, most));
      if (score > most) most = score, best = j;
    }
    p.clear = p.clear && (most - second > 1e-6L * most || most < 1e-7L);
    if (best < 0 || most < 1e-11L) break;
    std::vector<Real> next = row_of(unit, best);
    for (int twice = 0; twice < 2; ++twice)
      for (const auto& other : q) {
        const Real along = dot(next, other);
        for (std::size_t l = 0; l < next.size(); ++l) next[l] -= along * other[l];
      }
    const Real length = std::sqrt(dot(next, next));
    p.clear = p.clear && (length > 1e-6L || length < 1e-10L);
    if (length < 1e-8L) break;
    for (Real& v : next) v /= length;
    chosen.push_back(best);
    q.push_back(next);
    const Real along = dot(r, next);
    for (std::size_t l = 0; l < r.size(); ++l) r[l] -= along * next[l];
    const Real left = std::sqrt(dot(r, r));
    p.clear = p.clear && std::abs(left - tolerance) > 1e-9L;
    if (left <= tolerance) break;
  }
  // Codes by back substitution: <q_u, a_i> = sum_t codes_t <q_u, a_t>.
  const std::vector<Real> own = row_of(unit, i);
  std::vector<Real> codes(chosen.size());
  for (std::size_t t = chosen.size(); t-- > 0;) {
    Real sum = dot(q[t], own);
    for (std::size_t u = t + 1; u < chosen.size(); ++u)
      sum -= codes[u] * dot(q[t], row_of(unit, chosen[u]));
    codes[t] = sum / dot(q[t], row_of(unit, chosen[t]));
    p.codes[chosen[t]] = codes[t];
  }
  return p;
}

TEST(SscOmp, every_column_is_matching_pursuit) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Storage storage = seed % 5 == 0 ? Storage::csr_f64_i32 : Storage::dense_f64;
    const Index sparsity = 1 + static_cast<Index>(seed % 6);
    const Expressed e = express(make_small(seed, kinds, storage), "ssc-omp",
                                {{"sparsity", std::to_string(sparsity)}, {"tolerance", "0.05"}});
    const Index n = e.points.rows;
    Table unit = e.points;
    std::vector<Real> norms;
    for (Index i = 0; i < n; ++i) {
      norms.push_back(std::sqrt(product(e.points, i, i)));
      for (Index l = 0; l < unit.cols; ++l) unit(i, l) /= norms.back();
    }
    if (*std::min_element(norms.begin(), norms.end()) < 1e-9L) continue;
    for (Index i = 0; i < n; ++i) {
      const Pursued p = pursue(unit, i, sparsity, 0.05L);
      if (!p.clear) continue;
      ++compared;
      for (Index j = 0; j < n; ++j) {
        const Real expected =
            p.codes.count(j) ? p.codes.at(j) * norms[at(i)] / norms[at(j)] : Real{0};
        EXPECT_NEAR(static_cast<double>(e.c(j, i)), static_cast<double>(expected),
                    1e-9 * (1 + std::abs(static_cast<double>(expected))))
            << "point " << i << " by " << j;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

// ---- The lasso -------------------------------------------------------------------------------------

TEST(Ssc, every_column_obeys_the_conditions_of_the_optimum) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const bool affine = seed % 2 == 1;
    const Storage storage = seed % 5 == 0 ? Storage::csr_f64_i32 : Storage::dense_f64;
    const double alpha = seed % 3 == 0 ? 3 : 30;
    const Expressed e = express(make_small(seed, kinds, storage), "ssc",
                                {{"affine", affine ? "yes" : "no"},
                                 {"alpha", std::to_string(alpha)},
                                 {"tolerance", "1e-9"}});
    const Index n = e.points.rows;
    // lambda, and the objective with its gap.
    Real least = std::numeric_limits<Real>::infinity();
    for (Index i = 0; i < n; ++i) {
      Real most = 0;
      for (Index j = 0; j < n; ++j)
        if (j != i) most = std::max(most, std::abs(product(e.points, i, j)));
      if (most > 1e-14L * product(e.points, i, i)) least = std::min(least, most);
    }
    if (!std::isfinite(least)) continue;
    const double lambda = fact(e.s, "lambda");
    EXPECT_NEAR(lambda, alpha / static_cast<double>(least), 1e-9 * lambda);
    Real objective = 0;
    for (Index i = 0; i < n; ++i) {
      std::vector<Real> r = row_of(e.points, i);
      Real sum = 0;
      EXPECT_EQ(e.c(i, i), 0);
      for (Index j = 0; j < n; ++j) {
        objective += std::abs(e.c(j, i));
        sum += e.c(j, i);
        for (Index l = 0; l < e.points.cols; ++l) r[at(l)] -= e.c(j, i) * e.points(j, l);
      }
      for (const Real v : r) objective += static_cast<Real>(lambda) / 2 * v * v;
      if (affine) {
        EXPECT_NEAR(static_cast<double>(sum), 1, 1e-9);
      }
      // rho_j + nu is the sign of a code, and between -1 and 1 elsewhere.
      std::vector<Real> rho(at(n));
      for (Index j = 0; j < n; ++j)
        for (Index l = 0; l < e.points.cols; ++l)
          rho[at(j)] += static_cast<Real>(lambda) * r[at(l)] * e.points(j, l);
      Real nu = 0, most = 0;
      for (Index j = 0; j < n; ++j)
        if (affine && std::abs(e.c(j, i)) > most)
          most = std::abs(e.c(j, i)), nu = (e.c(j, i) > 0 ? 1 : -1) - rho[at(j)];
      for (Index j = 0; j < n; ++j) {
        if (j == i) continue;
        const auto value = static_cast<double>(rho[at(j)] + nu);
        EXPECT_LE(std::abs(value), 1 + 2e-3);
        if (std::abs(e.c(j, i)) > 1e-3L) {
          EXPECT_NEAR(value, e.c(j, i) > 0 ? 1 : -1, 2e-3) << i << " by " << j;
        }
      }
    }
    EXPECT_NEAR(fact(e.s, "objective"), static_cast<double>(objective),
                1e-8 * fact(e.s, "objective"));
    EXPECT_LE(fact(e.s, "gap"), 1e-9 * fact(e.s, "objective"));
  }
}

TEST(Ssc, a_gap_bounds_the_distance_from_the_optimum) {
  int open = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Given exact = {{"affine", seed % 2 ? "yes" : "no"}, {"tolerance", "1e-10"}};
    Given early = exact;
    early["tolerance"] = "0.2";
    const Small small = make_small(seed, kinds);
    const Selection best = small.run("ssc", exact), rough = small.run("ssc", early);
    const double above = fact(rough, "objective") - fact(best, "objective");
    open += above > 1e-6 * fact(best, "objective");
    EXPECT_GE(above, -1e-9 * fact(best, "objective"));
    EXPECT_LE(above, fact(rough, "gap") + 1e-9 * fact(best, "objective"));
  }
  EXPECT_GT(open, 10);
}

TEST(SmallLasso, ends_within_the_gap_for_points_that_depend_on_each_other) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index m = 1 + static_cast<Index>(rng.below(30)),
                d = 1 + static_cast<Index>(rng.below(12));
    std::vector<double> x(at((m + 1) * d));
    for (double& v : x) v = rng.normal();
    if (m > 3) std::copy_n(x.begin(), d, x.begin() + 2 * d);  // a copy
    const auto with = [&](Index i, Index j) {
      double sum = 0;
      for (Index l = 0; l < d; ++l) sum += x[at(i * d + l)] * x[at(j * d + l)];
      return sum;
    };
    SmallLasso p{.gram = {},
                 .products = {},
                 .square = with(m, m),
                 .lambda = 0.5 + 20 * rng.uniform(),
                 .affine = seed % 2 == 1};
    for (Index i = 0; i < m; ++i) {
      p.products.push_back(with(i, m));
      for (Index j = 0; j < m; ++j) p.gram.push_back(with(i, j));
    }
    std::vector<double> c(at(m));
    if (p.affine) c[0] = 1;
    p.solve(c, 1e-8);
    Residual r{.with_point = p.square, .square = p.square, .most = -1e300, .least = 1e300};
    double norm = 0, sum = 0;
    for (Index j = 0; j < m; ++j) {
      double g = p.products[at(j)];
      for (Index i = 0; i < m; ++i) g -= c[at(i)] * p.gram[at(j * m + i)];
      r.with_point -= c[at(j)] * p.products[at(j)];
      r.square -= c[at(j)] * (p.products[at(j)] + g);
      r.most = std::max(r.most, p.lambda * g), r.least = std::min(r.least, p.lambda * g);
      norm += std::abs(c[at(j)]), sum += c[at(j)];
    }
    const double objective = norm + p.lambda / 2 * r.square;
    EXPECT_NEAR(p.objective(c), objective, 1e-9 * objective);
    EXPECT_LE(lasso_gap(norm, r, p.lambda, p.affine), 2e-8 * objective);
    if (p.affine) {
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

// ---- Clusters --------------------------------------------------------------------------------------

/// Points on subspaces of dimension 3 in 30, one after the other; without noise.
std::vector<double> on_subspaces(Index subspaces, Index each, Index d, Rng& rng) {
  std::vector<double> x;
  for (Index s = 0; s < subspaces; ++s) {
    std::vector<double> basis(at(3 * d));
    for (double& v : basis) v = rng.normal();
    for (Index p = 0; p < each; ++p) {
      const double by[3] = {rng.normal(), rng.normal(), rng.normal()};
      for (Index l = 0; l < d; ++l)
        x.push_back(by[0] * basis[at(l)] + by[1] * basis[at(d + l)] + by[2] * basis[at(2 * d + l)]);
    }
  }
  return x;
}

TEST(Subspaces, are_found_and_each_has_its_exemplars) {
  for (const char* method : {"ssc", "ssc-omp"})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SCOPED_TRACE(testing::Message() << method << ' ' << seed);
      const Index subspaces = 3 + 2 * static_cast<Index>(seed), each = 25, d = 30;
      Rng rng(seed);
      const Data data(subspaces * each, d, on_subspaces(subspaces, each, d, rng),
                      seed % 2 ? Storage::dense_f32 : Storage::dense_f64);
      std::vector<Selection> all;
      for (const int threads : {1, 3}) {
        const SelectOptions o{.exemplars = 2 * subspaces, .threads = threads};
        all.push_back(select(data.view(), o,
                             {.name = method,
                              .settings = {{"clusters", std::to_string(subspaces)}},
                              .seed = static_cast<std::uint64_t>(threads)}));
        EXPECT_EQ(all.back().exemplars, all.front().exemplars);
        EXPECT_EQ(all.back().clusters, all.front().clusters);
      }
      const Selection& s = all.front();
      ASSERT_EQ(static_cast<Index>(s.clusters.size()), subspaces * each);
      for (Index i = 0; i < subspaces * each; ++i) EXPECT_EQ(s.clusters[at(i)], i / each);
      std::map<Index, int> chosen;
      for (const Index e : s.exemplars) ++chosen[e / each];
      EXPECT_EQ(static_cast<Index>(chosen.size()), subspaces);
      for (const auto& [subspace, count] : chosen) EXPECT_EQ(count, 2) << subspace;
    }
}

TEST(Subspaces, exemplars_are_the_longest_rows) {
  for (const char* method : {"ssc", "ssc-omp"}) {
    const Expressed all = express(make_small(8, {Kind::gaussian}), method, {});
    Small small = make_small(8, {Kind::gaussian});
    small.options.exemplars = 4;
    const Selection s = small.run(method);
    const std::vector<Index> first(all.s.exemplars.begin(), all.s.exemplars.begin() + 4);
    EXPECT_EQ(s.exemplars, first);
    EXPECT_TRUE(s.clusters.empty());
    for (std::size_t t = 1; t < all.s.strength.size(); ++t)
      EXPECT_LE(all.s.strength[t], all.s.strength[t - 1] * (1 + 2e-6));
    if (std::string(method) == "ssc-omp") continue;  // whose rows are of points of norm 1
    for (std::size_t t = 0; t < 4; ++t) {
      Real square = 0;
      for (Index i = 0; i < all.c.rows; ++i)
        square += all.c(s.exemplars[t], i) * all.c(s.exemplars[t], i);
      EXPECT_NEAR(s.strength[t], static_cast<double>(std::sqrt(square)), 1e-9);
    }
  }
}

TEST(BlockLanczos, finds_eigenvalues_that_are_equal) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Index n = 6 + static_cast<Index>(rng.below(90)),
                count = 1 + static_cast<Index>(rng.below(5));
    // Eigenvectors of a random matrix, with the largest value `count` times.
    std::vector<double> random(at(n * n)), matrix(at(n * n));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) random[at(i * n + j)] = random[at(j * n + i)] = rng.normal();
    const EigenDecomposition frame = symmetric_eigen(random, n);
    std::vector<double> values;
    for (Index r = 0; r < n; ++r) values.push_back(r < count ? 1.0 : 0.9 * rng.uniform() - 0.5);
    for (Index r = 0; r < n; ++r)
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
          matrix[at(i * n + j)] +=
              values[at(r)] * frame.vectors[at(r * n + i)] * frame.vectors[at(r * n + j)];
    const std::vector<double> found = leading_vectors(
        [&](const double* x, Index rows, double* out) {
          for (Index v = 0; v < rows; ++v)
            for (Index i = 0; i < n; ++i) {
              out[v * n + i] = 0;
              for (Index j = 0; j < n; ++j) out[v * n + i] += matrix[at(i * n + j)] * x[v * n + j];
            }
        },
        n, count, {});
    ASSERT_EQ(static_cast<Index>(found.size()), count * n);
    for (Index r = 0; r < count; ++r) {  // in the span of the first `count` vectors
      double inside = 0;
      for (Index s = 0; s < count; ++s) {
        double along = 0;
        for (Index i = 0; i < n; ++i) along += found[at(r * n + i)] * frame.vectors[at(s * n + i)];
        inside += along * along;
      }
      EXPECT_NEAR(inside, 1, 1e-8);
    }
  }
}

TEST(FirstBest, is_the_first_of_the_largest) {
  Rng rng(2);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> scores(30);
    for (double& v : scores) v = static_cast<double>(rng.below(4)) + 1e-9 * rng.uniform();
    FirstBest best(1e-8);
    for (Index i = 0; i < 30; ++i) best.tell(i, scores[at(i)]);
    EXPECT_EQ(best.index(), first_largest(
                                30, [&](Index i) { return scores[at(i)]; }, 1e-8));
  }
  EXPECT_EQ(FirstBest(1e-8).index(), -1);
}

}  // namespace
}  // namespace fwsr::clustering
