// Coresets against their definitions: probabilities and importance drawn literally, costs without bias and within the
// stated error; the gap of Frank-Wolfe around the true radius.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "clustering.hpp"

namespace fwsr::clustering {
namespace {

const std::vector<Kind> kinds = {Kind::gaussian, Kind::clustered, Kind::offset, Kind::duplicates};

Index drawn(const std::vector<Real>& weights, Rng& rng) {
  std::vector<Real> sums;
  Real sum = 0;
  for (const Real w : weights) sums.push_back(sum += w);
  const Real mark = static_cast<Real>(rng.uniform()) * sum;
  return std::upper_bound(sums.begin(), sums.end(), mark) - sums.begin();
}

/// p_i of variant=sensitivity, with the random numbers of the method.
std::vector<Real> sensitivities(const Table& d, Index centres, const std::vector<double>& weights,
                                Rng& rng) {
  const Index n = d.rows;
  std::vector<Real> near(at(n), std::numeric_limits<Real>::infinity()), shares;
  std::vector<Index> to(at(n));
  for (Index i = 0; i < n; ++i) shares.push_back(weight_of(weights, i));
  Index found = 0;
  for (; found < std::min(centres, n); ++found) {
    if (*std::max_element(shares.begin(), shares.end()) <= 0) break;
    const Index c = drawn(shares, rng);
    for (Index i = 0; i < n; ++i) {
      if (d(c, i) < near[at(i)]) near[at(i)] = d(c, i), to[at(i)] = found;
      shares[at(i)] = weight_of(weights, i) * near[at(i)];
    }
  }
  std::vector<Real> mass(at(found)), cost(at(found)), s(at(n));
  Real all = 0;
  for (Index i = 0; i < n; ++i) {
    mass[at(to[at(i)])] += weight_of(weights, i);
    cost[at(to[at(i)])] += weight_of(weights, i) * near[at(i)];
    all += weight_of(weights, i) * near[at(i)];
  }
  const Real alpha = 16 * (std::log(static_cast<Real>(found)) + 2);
  for (Index i = 0; i < n; ++i) {
    const std::size_t b = at(to[at(i)]);
    if (weight_of(weights, i) == 0) continue;
    s[at(i)] =
        weight_of(weights, i) *
        (4 / mass[b] + (all > 0 ? alpha * (near[at(i)] + 2 * cost[b] / mass[b]) / all : Real{0}));
  }
  return s;
}

/// p_i of variant=lightweight.
std::vector<Real> from_mean(const Table& d, const std::vector<double>& weights) {
  const Index n = d.rows;
  Real mass = 0, within = 0, all = 0;
  for (Index i = 0; i < n; ++i) mass += weight_of(weights, i);
  std::vector<Real> squares(at(n)), p(at(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      squares[at(i)] += weight_of(weights, j) * d(i, j) / mass;
      within += weight_of(weights, i) * weight_of(weights, j) * d(i, j) / mass / mass / 2;
    }
  for (Index i = 0; i < n; ++i) all += weight_of(weights, i) * (squares[at(i)] - within);
  for (Index i = 0; i < n; ++i)
    p[at(i)] = weight_of(weights, i) *
               (all > 0 ? (1 / mass + (squares[at(i)] - within) / all) / 2 : 1 / mass);
  return p;
}

/// Those left one after the other by exponential waits; each with its importance.
void draw_and_compare(const std::vector<Real>& s, const std::vector<double>& weights, Rng& rng,
                      const Selection& found) {
  std::vector<std::pair<Real, Index>> waits;
  Real sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const Real wait = -std::log1p(-static_cast<Real>(rng.uniform()));
    if (s[i] > 0) waits.emplace_back(wait / s[i], static_cast<Index>(i));
    sum += s[i];
  }
  std::sort(waits.begin(), waits.end());
  const bool all = waits.size() <= found.exemplars.size();
  ASSERT_EQ(found.exemplars.size(), found.importance.size());
  const auto k = static_cast<Real>(found.exemplars.size());
  Real left = 1;
  for (std::size_t t = 0; t < found.exemplars.size(); ++t) {
    const Index i = waits[t].second;
    ASSERT_EQ(found.exemplars[t], i) << "draw " << t;
    const Real p = s[at(i)] / sum;
    const Real counts = all ? 1 : (left / p + k - 1 - static_cast<Real>(t)) / k;
    const auto expected = static_cast<double>(weight_of(weights, i) * counts);
    EXPECT_NEAR(found.importance[t], expected, 1e-7 * expected);
    EXPECT_NEAR(found.strength[t], static_cast<double>(p), 1e-9);
    left -= p;
  }
}

TEST(Coreset, is_drawn_as_its_definition_says) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Small small =
        make_small(seed, kinds, seed % 5 == 0 ? Storage::csr_f64_i32 : Storage::dense_f64);
    const Index n = rows_of(small.data.view());
    if (seed % 4 == 1)
      for (Index i = 0; i < n; ++i)
        small.options.conditions.weights.push_back(static_cast<double>((at(i) + seed) % 4));
    std::vector<double>& weights = small.options.conditions.weights;
    if (!weights.empty() && n < 4) weights.clear();
    const bool rough = seed % 3 != 2;
    const Index centres = 1 + static_cast<Index>(seed % 6);
    const Given given =
        rough ? Given{{"clusters", std::to_string(centres)}} : Given{{"variant", "lightweight"}};
    const Selection s = small.run("coreset", given);
    const Table d = squared_distances(small.reference().plain);
    Rng rng(seed);
    const std::vector<Real> shares =
        rough ? sensitivities(d, centres, weights, rng) : from_mean(d, weights);
    draw_and_compare(shares, weights, rng, s);
    const auto k = static_cast<double>(small.options.exemplars);
    double sum = 0;
    for (const Real v : shares) sum += static_cast<double>(v);
    EXPECT_NEAR(fact(s, "error"), rough ? std::sqrt((sum - 1) / k) : std::sqrt(7 / k), 1e-6);
  }
}

/// The cost of centres by all points, or by some of them with what these count.
double cost_of(const std::vector<double>& x, Index d, const std::vector<double>& centres,
               const std::vector<Index>& points, const std::vector<double>& counts) {
  double sum = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < centres.size() / at(d); ++c) {
      double square = 0;
      for (Index l = 0; l < d; ++l)
        square += std::pow(x[at(points[p] * d + l)] - centres[c * at(d) + at(l)], 2);
      least = std::min(least, square);
    }
    sum += counts[p] * least;
  }
  return sum;
}

TEST(Coreset, costs_are_without_bias_and_vary_less_than_stated) {
  const Index n = 60, d = 3, c = 3, k = 12;
  const int runs = 1000;
  for (const char* const variant : {"sensitivity", "lightweight"}) {
    SCOPED_TRACE(variant);
    Rng rng(4);
    const std::vector<double> x = problems::make_values(Kind::clustered, n, d, false, rng);
    const Data data(n, d, x, Storage::dense_f64);
    std::vector<Index> everybody(at(n));
    std::iota(everybody.begin(), everybody.end(), Index{0});
    std::vector<std::vector<double>> centres(4, std::vector<double>(at(c * d)));
    for (auto& set : centres)
      for (double& v : set) v = 2 * rng.normal();
    std::vector<double> sums(centres.size()), squares(centres.size());
    double promised = 0;
    const double mean_cost = [&] {  // of the mean, which lightweight's error refers to
      std::vector<double> mean(at(d));
      for (Index i = 0; i < n * d; ++i) mean[at(i % d)] += x[at(i)] / static_cast<double>(n);
      return cost_of(x, d, mean, everybody, std::vector<double>(at(n), 1.0));
    }();
    for (int run = 0; run < runs; ++run) {
      const SelectOptions o{.exemplars = k, .certificate = CertificateKind::none, .threads = 1};
      const Selection s = select(data.view(), o,
                                 {.name = "coreset",
                                  .settings = {{"variant", variant}, {"clusters", "3"}},
                                  .seed = static_cast<std::uint64_t>(run)});
      promised = fact(s, "error");
      for (std::size_t q = 0; q < centres.size(); ++q) {
        const double cost = cost_of(x, d, centres[q], s.exemplars, s.importance);
        sums[q] += cost / runs, squares[q] += cost * cost / runs;
      }
    }
    for (std::size_t q = 0; q < centres.size(); ++q) {
      const double cost = cost_of(x, d, centres[q], everybody, std::vector<double>(at(n), 1.0));
      const double deviation = std::sqrt(std::max(0.0, squares[q] - sums[q] * sums[q]));
      EXPECT_GT(deviation, 0);
      EXPECT_NEAR(sums[q], cost, 5 * deviation / std::sqrt(runs));
      const double scale = std::string(variant) == "sensitivity" ? cost : cost + mean_cost;
      EXPECT_LT(deviation, promised * scale);
    }
  }
}

TEST(Coreset, of_all_points_counts_each_as_it_is) {
  Rng rng(1);
  const Data data(9, 2, problems::make_values(Kind::gaussian, 9, 2, false, rng),
                  Storage::dense_f64);
  const Selection s =
      select(data.view(), {.exemplars = 9, .threads = 1}, MethodChoice{.name = "coreset"});
  EXPECT_EQ(s.importance, std::vector<double>(9, 1.0));
}

TEST(Coreset, has_no_importance_once_exemplars_are_exchanged) {
  const Data data = [] {
    Rng rng(1);
    return Data(50, 4, problems::make_values(Kind::gaussian, 50, 4, false, rng),
                Storage::dense_f64);
  }();
  SelectOptions o{.exemplars = 5, .threads = 1};
  EXPECT_EQ(select(data.view(), o, MethodChoice{.name = "coreset"}).importance.size(), 5u);
  o.refine = Refine::exchange;
  EXPECT_TRUE(select(data.view(), o, MethodChoice{.name = "coreset"}).importance.empty());
}

// ---- Frank-Wolfe -----------------------------------------------------------------------------------

TEST(FwCoreset, the_smallest_ball_is_between_its_bounds) {
  int few = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Small small =
        make_small(seed, kinds, seed % 5 == 0 ? Storage::csr_f64_i32 : Storage::dense_f64);
    if (seed % 2 == 0) small.options.exemplars = rows_of(small.data.view());  // until it is closed
    if (seed % 7 == 3) small.options.kernel = {.type = KernelType::rbf, .gamma = 0.1};
    const Selection s = small.run("fw-coreset", {{"problem", "ball"}});
    const Table d = squared_distances(small.reference(0.1).plain);
    // The dual, and the ball about the centre that the importance says.
    Real dual = 0, radius = 0, sum = 0;
    const std::size_t k = s.exemplars.size();
    for (std::size_t t = 0; t < k; ++t) {
      EXPECT_GE(s.importance[t], 0);
      sum += static_cast<Real>(s.importance[t]);
      for (std::size_t u = 0; u < k; ++u)
        dual += static_cast<Real>(s.importance[t]) * static_cast<Real>(s.importance[u]) *
                d(s.exemplars[t], s.exemplars[u]) / 2;
    }
    EXPECT_NEAR(static_cast<double>(sum), 1, 1e-12);
    for (Index i = 0; i < d.rows; ++i) {
      Real square = -dual;
      for (std::size_t t = 0; t < k; ++t)
        square += static_cast<Real>(s.importance[t]) * d(s.exemplars[t], i);
      radius = std::max(radius, square);
    }
    const auto scale = static_cast<double>(radius) + 1e-12;
    EXPECT_NEAR(std::pow(fact(s, "radius"), 2), static_cast<double>(radius), 1e-7 * scale);
    EXPECT_NEAR(std::pow(fact(s, "radius_bound"), 2), static_cast<double>(dual), 1e-7 * scale);
    EXPECT_NEAR(fact(s, "gap"), static_cast<double>(radius - dual), 1e-7 * scale);
    if (small.options.exemplars == d.rows) {
      EXPECT_LE(fact(s, "gap"), 1.001e-6 * scale);
      few += static_cast<Index>(k) < d.rows;
    }
    // Every further exemplar was the farthest from the centre of those before: not nearer than the radius told then.
    for (std::size_t t = 1; t < k; ++t) EXPECT_GT(s.strength[t - 1], 0);
  }
  EXPECT_GT(few, 20);
}

/// The squared distance of point p from the hull of a few others: the least over all faces that it projects into.
Real hull_square(const Table& k, Index p, const std::vector<Index>& of) {
  Real best = std::numeric_limits<Real>::infinity();
  const auto m = of.size();
  for (std::size_t face = 1; face < (std::size_t{1} << m); ++face) {
    std::vector<Index> corner;
    for (std::size_t t = 0; t < m; ++t)
      if (face >> t & 1) corner.push_back(of[t]);
    // Gauss: K x - nu 1 = k_p, 1^T x = 1.
    const std::size_t r = corner.size() + 1;
    std::vector<std::vector<Real>> a(r, std::vector<Real>(r + 1));
    for (std::size_t i = 0; i + 1 < r; ++i) {
      for (std::size_t j = 0; j + 1 < r; ++j) a[i][j] = k(corner[i], corner[j]);
      a[i][r - 1] = a[r - 1][i] = 1;
      a[i][r] = k(corner[i], p);
    }
    a[r - 1][r] = 1;
    bool regular = true;
    for (std::size_t c = 0; c < r && regular; ++c) {
      std::size_t pivot = c;
      for (std::size_t i = c; i < r; ++i)
        if (std::abs(a[i][c]) > std::abs(a[pivot][c])) pivot = i;
      std::swap(a[c], a[pivot]);
      regular = std::abs(a[c][c]) > 1e-12L;
      for (std::size_t i = 0; i < r && regular; ++i) {
        if (i == c) continue;
        const Real times = a[i][c] / a[c][c];
        for (std::size_t j = c; j <= r; ++j) a[i][j] -= times * a[c][j];
      }
    }
    if (!regular) continue;
    std::vector<Real> x;
    for (std::size_t i = 0; i + 1 < r; ++i) x.push_back(a[i][r] / a[i][i]);
    if (*std::min_element(x.begin(), x.end()) < -1e-12L) continue;
    Real square = k(p, p);
    for (std::size_t i = 0; i + 1 < r; ++i) {
      square -= 2 * x[i] * k(corner[i], p);
      for (std::size_t j = 0; j + 1 < r; ++j) square += x[i] * x[j] * k(corner[i], corner[j]);
    }
    best = std::min(best, square);
  }
  return best;
}

TEST(FwCoreset, every_pick_is_farthest_from_the_hull_of_those_before) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    Small small = make_small(seed, {Kind::gaussian, Kind::clustered}, Storage::dense_f64);
    small.options.exemplars = std::min<Index>(small.options.exemplars, 5);
    const Selection s = small.run("fw-coreset", {{"problem", "hull"}});
    const Table kernel = small.reference().plain;
    std::vector<Index> before;
    for (std::size_t t = 0; t < s.exemplars.size(); ++t) {
      before.push_back(s.exemplars[t]);
      Real most = 0;
      for (Index i = 0; i < kernel.rows; ++i) most = std::max(most, hull_square(kernel, i, before));
      const auto square = static_cast<double>(most);
      if (square < 1e-9) continue;
      EXPECT_NEAR(std::pow(s.strength[t], 2), square, 1e-5 * square);
      if (t + 1 < s.exemplars.size()) {
        const auto next = static_cast<double>(hull_square(kernel, s.exemplars[t + 1], before));
        EXPECT_GT(next, square * (1 - 1e-5));
        ++compared;
      }
      if (t + 1 < s.exemplars.size()) continue;
      // The gap bounds the true distance.
      EXPECT_LE(fact(s, "radius_bound"), std::sqrt(square) * (1 + 1e-9));
      EXPECT_GE(fact(s, "radius"), std::sqrt(square) * (1 - 1e-9));
      EXPECT_GE(fact(s, "radius_bound"), std::sqrt(square) * (1 - 1e-5));
    }
    double used = 0;
    for (const double v : s.importance) used += v;
    EXPECT_NEAR(used, static_cast<double>(kernel.rows), 1e-8);
  }
  EXPECT_GT(compared, 100);
}

TEST(FwCoreset, a_hull_says_whether_it_was_found_to_the_tolerance) {
  // Circles, one of them nearly flat, about which much is rounding.
  for (const double flat : {1.0, 1e-4, 1e-7}) {
    std::vector<double> x;
    Rng rng(5);
    for (int i = 0; i < 150; ++i) {
      const double angle = 2 * std::numbers::pi * i / 150;
      x.insert(x.end(), {std::cos(angle), flat * std::sin(angle), 10 * flat * rng.normal()});
    }
    const Data data(150, 3, x, Storage::dense_f64);
    const Selection s = select(data.view(), {.exemplars = 12, .threads = 2},
                               {.name = "fw-coreset", .settings = {{"problem", "hull"}}});
    const double most = std::pow(fact(s, "radius"), 2);
    const bool open = fact(s, "gap") > std::max(1e-6 * most, 1e-12) * (1 + 1e-6);
    const bool said = std::any_of(s.warnings.begin(), s.warnings.end(), [](const std::string& w) {
      return w.find("within the gap") != std::string::npos;
    });
    EXPECT_EQ(said, open) << flat;
    EXPECT_LE(most - std::pow(fact(s, "radius_bound"), 2), fact(s, "gap") * (1 + 1e-9)) << flat;
    if (flat == 1) {
      EXPECT_FALSE(said);
    }
  }
}

TEST(FwCoreset, ends_when_all_points_are_within) {
  // The corners of a square, and much inside of it.
  std::vector<double> x = {0, 0, 4, 0, 0, 4, 4, 4};
  Rng rng(3);
  for (int i = 0; i < 60; ++i) x.push_back(0.5 + 3 * rng.uniform());
  const Data data(34, 2, x, Storage::dense_f64);
  for (const char* problem : {"ball", "hull"}) {
    const Selection s = select(data.view(), {.exemplars = 10, .threads = 2},
                               {.name = "fw-coreset", .settings = {{"problem", problem}}});
    EXPECT_EQ(s.status, Status::converged) << problem;
    EXPECT_LE(s.exemplars.size(), 4u);
    for (const Index e : s.exemplars) EXPECT_LT(e, 4);
    EXPECT_NEAR(fact(s, "radius"), std::string(problem) == "ball" ? std::sqrt(8.0) : 0.0, 1e-5);
    EXPECT_FALSE(s.warnings.empty());
  }
}

}  // namespace
}  // namespace fwsr::clustering
