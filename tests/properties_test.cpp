// What must hold for every selection, whatever the points: descent, certificates, invariances, and
// digits that last as long as the run does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fwsr/solver/select.hpp"
#include "fwsr/solver/select_points.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace {

using fwsr::Center;
using fwsr::FormKind;
using fwsr::Index;
using fwsr::KernelBy;
using fwsr::KernelType;
using fwsr::Norm;
using fwsr::Rng;
using fwsr::Selection;
using fwsr::SelectOptions;
using fwsr::WhenConverged;
using oracle::Real;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

/// Rounding of f over a whole run: sums of n squares, once a step.
double rounding(Index n, std::size_t steps) {
  return 4 * static_cast<double>(n + 1) * static_cast<double>(steps + 1) *
         std::numeric_limits<double>::epsilon();
}

/// One setting per way of running the algorithm.
struct Way {
  std::string name;
  SelectOptions options;
  Storage storage = Storage::dense_f64;
};

Way make_way(std::string name, Index k, const std::function<void(Way&)>& set) {
  Way way;
  way.name = std::move(name);
  way.options.exemplars = k;
  way.options.codes = way.options.assignment = true;
  set(way);
  return way;
}

std::vector<Way> every_way(Index k) {
  const auto kernel = [k](const char* name, KernelType type) {
    return make_way(name, k, [type](Way& w) { w.options.kernel.type = type; });
  };
  return {
      make_way("linear", k, [](Way&) {}),
      make_way("pursuit", k, [](Way& w) { w.options.alpha = 0; }),
      make_way("feature", k,
               [](Way& w) {
                 w.options.eta = 0.5;
                 w.options.eta_relative = true;
                 w.options.center = Center::feature;
               }),
      make_way("sparse", k, [](Way& w) { w.storage = Storage::csr_f64_i64; }),
      kernel("rbf", KernelType::rbf),
      kernel("cosine", KernelType::cosine),
      make_way("q1", k, [](Way& w) { w.options.q = Norm::one; }),
      make_way("qinf", k, [](Way& w) { w.options.q = Norm::infinity; }),
      make_way("nonneg", k, [](Way& w) { w.options.nonneg = true; }),
  };
}

std::vector<double> values_for(std::uint64_t seed, Index n, Index d) {
  Rng rng(seed);
  return problems::make_values(seed % 2 ? Kind::clustered : Kind::gaussian, n, d, false, rng);
}

Selection run_on(const std::vector<double>& values, Index n, Index d, const Way& way) {
  return fwsr::select(Data(n, d, values, way.storage).view(), way.options);
}

/// How many leading steps of the oracle are beyond the reach of rounding.
std::size_t clear_steps(const std::vector<double>& values, Index n, Index d, const Way& way,
                        double gamma, double lead = 1e-8) {
  const auto reference =
      problems::reference_of(Data(n, d, values, way.storage).exact(), way.options, gamma);
  const auto run = oracle::select(reference.k, reference.settings);
  std::size_t t = 0;
  while (t < run.trace.size() && run.trace[t].lead > lead && run.trace[t].from_full > lead &&
         run.trace[t].from_delta > lead)
    ++t;
  return t;
}

std::vector<Index> picks(const Selection& s) {
  std::vector<Index> p;
  for (const auto& step : s.trace) p.push_back(step.pick);
  return p;
}

TEST(Properties, f_never_rises_and_the_gap_is_never_negative) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Index n = 40, d = 3 + static_cast<Index>(seed) * 3;
    const auto values = values_for(seed, n, d);
    for (const Way& way : every_way(10)) {
      SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
      const Selection s = run_on(values, n, d, way);
      ASSERT_FALSE(s.trace.empty());
      const double noise = rounding(n, s.trace.size()) * s.f_at_zero;
      double before = s.f_at_zero;
      for (std::size_t t = 0; t < s.trace.size(); ++t) {
        EXPECT_LE(s.trace[t].f, before + noise) << "step " << t;
        EXPECT_GE(s.trace[t].gap, -noise * std::max(1.0, s.trace[t].beta)) << "step " << t;
        EXPECT_GE(s.trace[t].step_size, 0) << "step " << t;
        EXPECT_LE(s.trace[t].step_size, 1) << "step " << t;
        before = s.trace[t].f;
      }
      ASSERT_TRUE(s.certificate);
      EXPECT_NEAR(s.certificate->f, before, 1e-9 * s.f_at_zero);
    }
  }
}

TEST(Properties, codes_stay_in_the_ball) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Index n = 30, d = 8;
    const auto values = values_for(seed, n, d);
    for (Way way : every_way(8)) {
      SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
      if (way.options.alpha) continue;  // pursuit knows no ball
      way.options.beta = 0.2 + 0.5 * static_cast<double>(seed);
      way.options.when_converged = WhenConverged::stop;
      const Selection s = run_on(values, n, d, way);
      const auto x = compare::codes_as_matrix(s, n);
      Real radius = 0;
      for (Index i = 0; i < n; ++i)
        radius += oracle::row_norm(x, i, static_cast<oracle::Norm>(way.options.q));
      EXPECT_LE(radius, *way.options.beta * (1 + 1e-12));
      EXPECT_EQ(s.beta, *way.options.beta);
      ASSERT_TRUE(s.certificate);
      EXPECT_TRUE(s.certificate->feasible);
    }
  }
}

TEST(Properties, the_gap_bounds_the_distance_from_the_optimum) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Index n = 25, d = 6;
    const auto values = values_for(seed, n, d);
    for (Way way : every_way(n)) {
      if (way.options.alpha) continue;
      SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
      way.options.beta = 3.0 + static_cast<double>(seed);
      way.options.when_converged = WhenConverged::stop;
      way.options.delta = 0;
      way.options.max_iterations = 60;
      const Selection s = run_on(values, n, d, way);
      auto reference =
          problems::reference_of(Data(n, d, values, way.storage).exact(), way.options, s.gamma);
      reference.settings.exemplars = n + 1;
      reference.settings.max_iterations = 3000;
      const auto longer = oracle::select(reference.k, reference.settings);
      const double best = static_cast<double>(longer.trace.back().f);  // f* <= best
      double before = s.f_at_zero;
      for (std::size_t t = 0; t < s.trace.size(); ++t) {
        EXPECT_LE(before - best, s.trace[t].gap + 1e-9 * s.f_at_zero) << "step " << t;
        before = s.trace[t].f;
      }
      ASSERT_TRUE(s.certificate);
      EXPECT_LE(s.certificate->f - best, s.certificate->gap + 1e-9 * s.f_at_zero);
      // and the other way round: the long run's own bound lies below every f of the short one
      const double lowest = best - static_cast<double>(longer.trace.back().gap);
      EXPECT_GE(s.certificate->f, lowest - 1e-9 * s.f_at_zero);
    }
  }
}

TEST(Properties, permuting_the_points_permutes_the_picks) {
  std::size_t compared = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Index n = 35, d = 4 + 4 * static_cast<Index>(seed);
    const auto values = values_for(seed, n, d);
    Rng rng(seed + 1000);
    const auto order = fwsr::sample_without_replacement(n, n, rng);
    std::vector<double> permuted;
    for (const Index i : order)
      permuted.insert(permuted.end(), values.begin() + i * d, values.begin() + (i + 1) * d);
    for (const Way& way : every_way(7)) {
      SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
      const Selection s = run_on(values, n, d, way);
      const auto p = picks(s), q = picks(run_on(permuted, n, d, way));
      const std::size_t clear = clear_steps(values, n, d, way, s.gamma);
      all += p.size();
      compared += clear;
      ASSERT_GE(q.size(), clear);
      for (std::size_t t = 0; t < clear; ++t) EXPECT_EQ(order[at(q[t])], p[t]) << "step " << t;
    }
  }
  EXPECT_GE(10 * compared, 9 * all);
}

TEST(Properties, scaling_points_and_eta_together_changes_nothing_but_f) {
  std::size_t compared = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Index n = 30, d = 3 + 6 * static_cast<Index>(seed);
    const auto values = values_for(seed, n, d);
    for (Way way : every_way(7)) {
      if (way.options.kernel.type != KernelType::linear) continue;
      way.options.eta = 0.7;
      way.options.eta_relative = false;
      const auto p = run_on(values, n, d, way);
      const std::size_t clear = clear_steps(values, n, d, way, 0);
      all += p.trace.size();
      compared += clear;
      for (const double factor : {3.7, 1e-30, 7e140}) {
        SCOPED_TRACE(way.name + ", seed " + std::to_string(seed) + ", factor " +
                     std::to_string(factor));
        auto scaled = values;
        for (double& v : scaled) v *= factor;
        Way other = way;
        other.options.eta *= factor;
        const auto q = run_on(scaled, n, d, other);
        ASSERT_GE(q.trace.size(), clear);
        for (std::size_t t = 0; t < clear; ++t) {
          EXPECT_EQ(q.trace[t].pick, p.trace[t].pick) << "step " << t;
          EXPECT_NEAR(q.trace[t].f / q.f_at_zero, p.trace[t].f / p.f_at_zero, 1e-9);
          EXPECT_NEAR(q.trace[t].step_size, p.trace[t].step_size, 1e-9);
        }
        EXPECT_NEAR(q.f_at_zero / factor / factor / p.f_at_zero, 1, 1e-12);
      }
    }
  }
  EXPECT_GE(10 * compared, 9 * all);
}

TEST(Properties, of_two_equal_points_only_the_first_is_taken) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Index n = 17, d = 3 + 4 * static_cast<Index>(seed);
    const auto values = values_for(seed, n, d);
    std::vector<double> behind = values, beside;
    behind.insert(behind.end(), values.begin(), values.end());
    for (Index i = 0; i < n; ++i)
      for (int copy = 0; copy < 2; ++copy)
        beside.insert(beside.end(), values.begin() + i * d, values.begin() + (i + 1) * d);
    for (const Way& way : every_way(12)) {
      SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
      for (const Index pick : picks(run_on(behind, 2 * n, d, way))) EXPECT_LT(pick, n);
      for (const Index pick : picks(run_on(beside, 2 * n, d, way))) EXPECT_EQ(pick % 2, 0);
    }
  }
}

TEST(Properties, equal_points_in_different_blocks_are_equal) {
  const Index n = 1100, d = 5;
  const auto values = values_for(3, n, d);
  std::vector<double> twice = values;
  twice.insert(twice.end(), values.begin(), values.end());
  for (Way way : every_way(4)) {
    SCOPED_TRACE(way.name);
    way.options.max_iterations = 12;
    for (const Index pick : picks(run_on(twice, 2 * n, d, way))) EXPECT_LT(pick, n);
  }
}

/// Reflections of the features, one after another.
std::vector<double> turned(std::vector<double> values, Index n, Index d, Rng& rng) {
  for (int reflection = 0; reflection < 5; ++reflection) {
    std::vector<double> u(at(d));
    double squares = 0;
    for (double& v : u) {
      v = rng.normal();
      squares += v * v;
    }
    for (Index i = 0; i < n; ++i) {
      double product = 0;
      for (Index j = 0; j < d; ++j) product += u[at(j)] * values[at(i * d + j)];
      for (Index j = 0; j < d; ++j) values[at(i * d + j)] -= 2 * product / squares * u[at(j)];
    }
  }
  return values;
}

TEST(Properties, turning_the_feature_space_changes_nothing) {
  std::size_t compared = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Index n = 30, d = 2 + 6 * static_cast<Index>(seed);
    const auto values = values_for(seed, n, d);
    Rng rng(seed + 77);
    const auto other = turned(values, n, d, rng);
    for (const Center center : {Center::feature, Center::none}) {
      for (Way way : every_way(7)) {
        SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
        way.options.center = center;
        const auto p = run_on(values, n, d, way), q = run_on(other, n, d, way);
        const std::size_t clear = clear_steps(values, n, d, way, p.gamma);
        all += p.trace.size();
        compared += clear;
        ASSERT_GE(q.trace.size(), clear);
        for (std::size_t t = 0; t < clear; ++t) {
          EXPECT_EQ(q.trace[t].pick, p.trace[t].pick) << "step " << t;
          EXPECT_NEAR(q.trace[t].f / q.f_at_zero, p.trace[t].f / p.f_at_zero, 1e-9);
        }
      }
    }
  }
  EXPECT_GE(10 * compared, 9 * all);
}

TEST(Properties, with_beta_above_n_steps_are_never_full_and_f_falls_by_the_cosine) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Index n = 30, d = 2 + 3 * static_cast<Index>(seed);
    const auto values = values_for(seed, n, d);
    for (Way way : every_way(n)) {
      if (way.options.alpha) continue;
      SCOPED_TRACE(way.name + ", seed " + std::to_string(seed));
      way.options.beta = 1.01 * static_cast<double>(n);
      way.options.when_converged = WhenConverged::stop;
      way.options.max_iterations = 80;
      const Selection s = run_on(values, n, d, way);
      double before = s.f_at_zero;
      for (std::size_t t = 0; t < s.trace.size(); ++t) {
        if (t > 0) {
          EXPECT_LT(s.trace[t].step_size, 1) << "step " << t;
        }
        // cos^2 = num^2 / (den f), num = gap / 2, den = num / gamma
        const double cos2 = s.trace[t].step_size * s.trace[t].gap / 2 / before;
        EXPECT_NEAR(s.trace[t].f, before * (1 - cos2),
                    rounding(n, s.trace.size()) * s.f_at_zero * *way.options.beta)
            << "step " << t;
        if (before > 1e-6 * s.f_at_zero) {
          EXPECT_LE(cos2, 1 + 1e-9) << "step " << t;
        }
        before = s.trace[t].f;
      }
    }
  }
}

// ---- digits ------------------------------------------------------------------------------------

/// Entries near `offset` for point centring (constant per point) or feature centring (per feature).
std::vector<double> far_away(Index n, Index d, Center center, double offset, Rng& rng) {
  std::vector<double> v(at(n * d));
  for (double& x : v) x = rng.normal();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) {
      const Index along = center == Center::point ? i : j;
      v[at(i * d + j)] += offset * (1 + 0.01 * static_cast<double>(along));
    }
  return v;
}

TEST(Properties, an_offset_of_ten_thousand_deviations_costs_no_digits) {
  for (const Center center : {Center::point, Center::feature}) {
    for (const auto& [n, d] : {std::pair<Index, Index>{80, 10}, {15, 40}}) {
      for (const bool nonneg : {false, true}) {
        Rng rng(at(n));
        const auto values = far_away(n, d, center, 1e4, rng);
        const Way way = make_way("offset", 8, [&](Way& w) {
          w.options.nonneg = nonneg;
          w.options.center = center;
        });
        const Selection s = run_on(values, n, d, way);
        SCOPED_TRACE(testing::Message() << form_of(s.plan) << ' ' << n << " x " << d << " center "
                                        << fwsr::name_of(center));
        const auto reference =
            problems::reference_of(Data(n, d, values, way.storage).exact(), way.options, 0);
        const auto run = oracle::select(reference.k, reference.settings);
        const auto outcome = compare::expect_same_run(s, run, compare::fine, true);
        EXPECT_TRUE(outcome.whole);
        ASSERT_TRUE(s.certificate);
        EXPECT_NEAR(s.certificate->f, double(run.trace.back().f), 1e-9 * s.f_at_zero);
      }
    }
  }
}

/// Rank 8 in 12 features: f falls by a factor of about ten every forty steps.
std::vector<double> rank_eight(Index n, Index d, Rng& rng) {
  std::vector<double> left(at(n * 8)), right(at(8 * d)), v(at(n * d));
  for (double& x : left) x = rng.normal();
  for (double& x : right) x = rng.normal();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j)
      for (Index r = 0; r < 8; ++r) v[at(i * d + j)] += left[at(i * 8 + r)] * right[at(r * d + j)];
  return v;
}

/// Picks agree until f has lost thirteen digits. By then P has lost six and a half, so that double
/// arithmetic tells scores apart to about 1e-16 / 3e-7 times a few.
void expect_long_agreement(const Selection& s, const oracle::Run<Real>& run) {
  Real lowest = 1;
  for (std::size_t t = 0; t < run.trace.size() && lowest > 1e-13L; ++t) {
    ASSERT_LT(t, s.trace.size());
    if (run.trace[t].lead < 1e-6L) return;
    ASSERT_EQ(s.trace[t].pick, run.trace[t].pick)
        << "step " << t << ", f/f(0) " << double(lowest) << ", lead " << double(run.trace[t].lead);
    lowest = run.trace[t].f / run.f_at_zero;
    ASSERT_NEAR(s.trace[t].f / s.f_at_zero, double(lowest), rounding(1, t)) << "step " << t;
  }
  EXPECT_LE(lowest, 1e-13L) << "the run was meant to go further";
}

TEST(Properties, picks_agree_down_to_thirteen_digits) {
  const Index n = 60, d = 12;
  const std::vector<std::pair<FormKind, KernelBy>> forms = {
      {FormKind::covariance, KernelBy::none},
      {FormKind::representer, KernelBy::held},
      {FormKind::representer, KernelBy::products},
      {FormKind::gradient, KernelBy::held}};
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const double beta_over_n : {1.2, 5.0}) {
      Rng rng(seed);
      const Data data(n, d, rank_eight(n, d, rng), Storage::dense_f64);
      SelectOptions o;
      o.exemplars = n;
      o.center = Center::none;
      o.beta = beta_over_n * static_cast<double>(n);
      o.when_converged = WhenConverged::stop;
      o.delta = 0;
      o.max_iterations = 800;
      o.certificate = fwsr::CertificateKind::none;
      const auto reference = problems::reference_of(data.exact(), o, 0);
      const auto run = oracle::select(reference.k, reference.settings);
      fwsr::Plan plan = fwsr::plan(data.view(), o);
      for (const auto& [form, kernel_by] : forms) {
        plan.form = form;
        plan.kernel_by = kernel_by;
        SCOPED_TRACE(testing::Message()
                     << form_of(plan) << " beta/n " << beta_over_n << " seed " << seed);
        expect_long_agreement(fwsr::select_points(data.view(), {}, o, plan, {}), run);
      }
    }
  }
}

}  // namespace
