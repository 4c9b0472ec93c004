// The ends of the range: smallest sizes, degenerate points, numbers that are none, runs that must
// end by themselves, observers, threads.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/linalg/projection.hpp"
#include "fwsr/solver/select.hpp"
#include "oracle/oracle.hpp"
#include "problems.hpp"

namespace {

using fwsr::Center;
using fwsr::Index;
using fwsr::KernelType;
using fwsr::Norm;
using fwsr::Rng;
using fwsr::Selection;
using fwsr::SelectOptions;
using fwsr::Status;
using fwsr::WhenConverged;
using problems::Data;
using problems::Kind;
using problems::Storage;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

SelectOptions options(Index k, const std::function<void(SelectOptions&)>& set = {}) {
  SelectOptions o;
  o.exemplars = k;
  o.codes = o.assignment = true;
  if (set) set(o);
  return o;
}

/// Runs, compares with the oracle, checks the certificate, and returns the selection.
Selection checked(const Data& data, const SelectOptions& o,
                  const compare::Tolerance& tolerance = compare::fine) {
  const Selection s = fwsr::select(data.view(), o);
  const auto reference = problems::reference_of(data.exact(), o, s.gamma);
  const auto run = oracle::select(reference.k, reference.settings);
  compare::expect_same_run(s, run, tolerance, o.when_converged == WhenConverged::grow);
  compare::expect_consistent(s, o, reference, tolerance);
  EXPECT_EQ(int(s.status), int(run.status)) << fwsr::name_of(s.status);
  return s;
}

std::vector<double> gaussian(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  return problems::make_values(Kind::gaussian, n, d, false, rng);
}

const std::vector<std::pair<std::string, std::function<void(SelectOptions&)>>> ways = {
    {"covariance", [](SelectOptions& o) { o.center = Center::none; }},
    {"pursuit",
     [](SelectOptions& o) {
       o.center = Center::none;
       o.alpha = 0;
     }},
    {"rbf",
     [](SelectOptions& o) {
       o.kernel.type = KernelType::rbf;
       o.kernel.gamma = 0.5;
     }},
    {"nonneg",
     [](SelectOptions& o) {
       o.center = Center::none;
       o.nonneg = true;
     }},
    {"q1",
     [](SelectOptions& o) {
       o.center = Center::none;
       o.q = Norm::one;
     }},
    {"qinf",
     [](SelectOptions& o) {
       o.center = Center::none;
       o.q = Norm::infinity;
     }},
};

TEST(EdgeCases, squares_that_rounding_made_negative_have_no_factor) {
  const fwsr::PivotedCholesky c = fwsr::pivoted_cholesky({-1e-17, 0, 0, -2e-17}, 2);
  EXPECT_EQ(c.rank, 0);
  EXPECT_TRUE(c.pivots.empty());
}

TEST(EdgeCases, a_short_row_beside_a_long_one_is_a_pivot_of_its_own) {
  for (const double large : {1e3, 1e7, 1e12}) {  // rows (large, 0), (1, 1), (large, large)
    const fwsr::PivotedCholesky c =
        fwsr::pivoted_cholesky({large * large, large, large * large, large, 2, 2 * large,
                                large * large, 2 * large, 2 * large * large},
                               3);
    EXPECT_EQ(c.rank, 2);
    // Rows 0 and 2 span the plane, and so do 0 and 1: a vector of length 1 has all of it there.
    const double b[] = {0.6 * large, 1.4, 1.4 * large};
    double scratch[3];
    EXPECT_NEAR(c.squared_solution(b, scratch), 1.0, 1e-9);
  }
}

// ---- sizes -------------------------------------------------------------------------------------

TEST(EdgeCases, one_point) {
  for (const auto& [name, set] : ways) {
    SCOPED_TRACE(name);
    const Selection s = checked(Data(1, 3, {1, -2, 0.5}, Storage::dense_f64), options(1, set));
    EXPECT_EQ(s.exemplars, (std::vector<Index>{0}));
    EXPECT_EQ(s.weights, (std::vector<double>{1}));
    EXPECT_EQ(s.status, Status::exemplars_reached);
  }
}

TEST(EdgeCases, one_feature) {
  for (const auto& [name, set] : ways) {
    SCOPED_TRACE(name);
    const Selection s =
        checked(Data(5, 1, {1, -2, 0.5, 3, -2.5}, Storage::dense_f64), options(1, set));
    ASSERT_EQ(s.exemplars.size(), 1u);
    if (name == "covariance" || name == "q1") {
      EXPECT_EQ(s.exemplars[0], 3);  // the longest
    }
  }
}

TEST(EdgeCases, k_from_one_to_n_and_not_beyond) {
  const Index n = 9;
  for (const auto& [name, set] : ways) {
    SCOPED_TRACE(name);
    for (const Index d : {4, 12}) {
      const Data data(n, d, gaussian(n, d, 4), Storage::dense_f64);
      for (const Index k : {Index{1}, n}) checked(data, options(k, set));
      EXPECT_THROW(fwsr::select(data.view(), options(n + 1, set)), fwsr::Error);
      EXPECT_THROW(fwsr::select(data.view(), options(0, set)), fwsr::Error);
      EXPECT_THROW(fwsr::select(data.view(), options(-1, set)), fwsr::Error);
    }
  }
}

TEST(EdgeCases, no_points_is_refused) {
  EXPECT_THROW(fwsr::select(fwsr::MatrixView<const double>{nullptr, 0, 3, 3}, options(1)),
               fwsr::Error);
}

TEST(EdgeCases, options_that_make_no_sense_are_refused) {
  const Data data(5, 3, gaussian(5, 3, 1), Storage::dense_f64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(SelectOptions&)>> bad = {
      [](SelectOptions& o) { o.alpha = -1; },
      [nan](SelectOptions& o) { o.alpha = nan; },
      [](SelectOptions& o) { o.beta = 0; },
      [nan](SelectOptions& o) { o.beta = nan; },
      [](SelectOptions& o) { o.alpha = 2, o.beta = 3; },
      [](SelectOptions& o) { o.eta = -1; },
      [nan](SelectOptions& o) { o.eta = nan; },
      [](SelectOptions& o) { o.delta = -1; },
      [](SelectOptions& o) { o.max_iterations = 0; },
      [](SelectOptions& o) { o.lambda = 1; },  // without rho
      [](SelectOptions& o) { o.kernel.type = KernelType::rbf, o.kernel.gamma = -1; },
      [](SelectOptions& o) { o.kernel.type = KernelType::precomputed; },  // 5 x 3
  };
  for (std::size_t i = 0; i < bad.size(); ++i)
    EXPECT_THROW(fwsr::select(data.view(), options(2, bad[i])), fwsr::Error) << "case " << i;
  const Data square(5, 5, std::vector<double>(25, 1), Storage::dense_f64);
  EXPECT_THROW(fwsr::select(square.view(), options(2,
                                                   [](SelectOptions& o) {
                                                     o.kernel.type = KernelType::precomputed;
                                                     o.center = Center::feature;
                                                   })),
               fwsr::Error);
}

// ---- degenerate points -------------------------------------------------------------------------

TEST(EdgeCases, a_zero_point_is_never_an_exemplar) {
  auto values = gaussian(8, 3, 9);
  for (Index j = 0; j < 3; ++j) values[at(2 * 3 + j)] = 0;
  for (const auto& [name, set] : ways) {
    if (name == "rbf") continue;  // there zero is a point like any other
    SCOPED_TRACE(name);
    for (const Storage storage : {Storage::dense_f64, Storage::csr_f64_i32}) {
      const Selection s = checked(Data(8, 3, values, storage), options(6, set));
      for (const Index e : s.exemplars) EXPECT_NE(e, 2);
    }
  }
}

TEST(EdgeCases, no_energy_at_all) {
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f64_i64}) {
    const Data zeros(6, 4, std::vector<double>(24), storage);
    for (const auto& [name, set] : ways) {
      if (name == "rbf") continue;
      SCOPED_TRACE(name);
      const Selection s = checked(zeros, options(3, set));
      EXPECT_TRUE(s.exemplars.empty());
      EXPECT_EQ(s.f_at_zero, 0);
      EXPECT_TRUE(s.trace.empty());
      EXPECT_EQ(s.status, name == "pursuit" ? Status::converged : Status::exhausted);
      EXPECT_FALSE(s.warnings.empty()) << "a short answer says so";
    }
  }
}

TEST(EdgeCases, constant_points_vanish_under_point_centring) {
  std::vector<double> values;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 3; ++j) values.push_back(0.1 * (i + 1));
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64, Storage::csr_f32_i64}) {
    const Selection s = checked(Data(7, 3, values, storage), options(2));
    EXPECT_TRUE(s.exemplars.empty());
    EXPECT_EQ(s.status, Status::exhausted);
  }
  // beside real points they are zero points
  const auto more = gaussian(5, 3, 3);
  values.insert(values.end(), more.begin(), more.end());
  const Selection s = checked(Data(12, 3, values, Storage::dense_f64), options(2));
  for (const Index e : s.exemplars) EXPECT_GE(e, 7);
}

TEST(EdgeCases, features_that_scaling_makes_equal_vanish_under_point_centring) {
  // One point only is not 0: scaled by their deviations all of its features are the same but for rounding.
  for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32})
    for (const double alpha : {0.0, 1.0}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(storage) << ", alpha " << alpha);
      std::vector<double> values(24 * 7);
      for (std::size_t l = 0; l < 7; ++l)
        values[15 * 7 + l] = -6.25 + 0.1875 * static_cast<double>(l);
      const Data data(24, 7, values, storage);
      const Selection s = fwsr::select(data.view(), options(3, [&](SelectOptions& o) {
                                         o.center = Center::point;
                                         o.scale = fwsr::Scale::standard;
                                         o.alpha = alpha;
                                       }));
      EXPECT_EQ(s.f_at_zero, 0);
      EXPECT_TRUE(s.exemplars.empty());
    }
}

TEST(EdgeCases, rank_one_is_represented_by_its_longest_point) {
  std::vector<double> values;
  const auto direction = gaussian(1, 6, 2), length = gaussian(20, 1, 7);
  for (const double l : length)
    for (const double v : direction) values.push_back(l * v);
  Index longest = 0;
  for (Index i = 0; i < 20; ++i)
    if (std::abs(length[at(i)]) > std::abs(length[at(longest)])) longest = i;
  for (const char* name : {"covariance", "pursuit", "nonneg"}) {
    SCOPED_TRACE(name);
    for (const auto& [other, set] : ways)
      if (other == name) {
        const Selection s =
            fwsr::select(Data(20, 6, values, Storage::dense_f64).view(), options(1, set));
        EXPECT_EQ(s.exemplars, (std::vector<Index>{longest}));
      }
  }
}

TEST(EdgeCases, steps_along_rounding_do_not_lead_out_of_the_ball) {
  // One feature, taken away by centring: all that is left is eta, and one point has all of it.
  for (const Index n : {3, 40})
    for (const Storage storage : {Storage::dense_f64, Storage::dense_f32, Storage::csr_f64_i32})
      for (const double eta : {1e-8, 1e-4, 1.0, 1e4})
        for (const double over : {1.05, 1.16, 2.0, 20.0}) {
          SCOPED_TRACE(testing::Message() << n << " points, eta " << eta << ", beta " << over);
          std::vector<double> values(at(n));
          values.back() = 0.875;
          const Data data(n, 1, values, storage);
          const double beta = over * std::sqrt(static_cast<double>(n));  // of the best X: sqrt(n)
          const Selection s = fwsr::select(data.view(), options(2, [&](SelectOptions& o) {
                                             o.beta = beta;
                                             o.eta = eta;
                                             o.delta = 0;
                                             o.max_iterations = 500;
                                             o.when_converged = WhenConverged::stop;
                                           }));
          EXPECT_EQ(s.status, Status::converged);
          EXPECT_TRUE(s.certificate->feasible);
          EXPECT_LE(s.certificate->radius_used, beta * (1 + 1e-12));
          for (const double x : s.codes) EXPECT_NEAR(x, 1, 1e-12);
        }
}

TEST(EdgeCases, extreme_scales) {
  for (const auto& [name, set] : ways) {
    if (name == "rbf") continue;
    const auto base = gaussian(20, 5, 6);
    const Selection plain =
        fwsr::select(Data(20, 5, base, Storage::dense_f64).view(), options(6, set));
    for (const double factor : {1e-150, 1e-75, 1e75, 1e150}) {
      SCOPED_TRACE(name + " " + std::to_string(std::log10(factor)));
      auto values = base;
      for (double& v : values) v *= factor;
      for (const Storage storage : {Storage::dense_f64, Storage::csr_f64_i64}) {
        const Selection s = checked(Data(20, 5, values, storage), options(6, set));
        EXPECT_EQ(s.exemplars, plain.exemplars);
      }
    }
    for (const double factor : {1e-18, 1e18}) {
      SCOPED_TRACE(name + " float32 " + std::to_string(std::log10(factor)));
      auto values = base;
      for (double& v : values) v *= factor;
      for (const Storage storage : {Storage::dense_f32, Storage::csr_f32_i32}) {
        const Selection s = checked(Data(20, 5, values, storage), options(6, set), compare::coarse);
        EXPECT_EQ(s.exemplars, plain.exemplars);
      }
    }
  }
}

// ---- numbers that are none ---------------------------------------------------------------------

std::string complaint(const fwsr::PointsView& view, const SelectOptions& o) {
  try {
    fwsr::select(view, o);
  } catch (const fwsr::Error& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(EdgeCases, the_first_number_that_is_none_is_named) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Index n = 3000, d = 7;
  auto values = gaussian(n, d, 5);
  values[at(2500 * d + 1)] = nan;
  values[at(1234 * d + 6)] = infinity;
  values[at(1234 * d + 3)] = -infinity;
  values[at(1235 * d + 0)] = nan;
  for (const Storage storage :
       {Storage::dense_f32, Storage::dense_f64, Storage::csr_f32_i32, Storage::csr_f64_i64}) {
    const Data data(n, d, values, storage);
    for (const int threads : {1, 4}) {
      for (const bool rbf : {false, true}) {
        const auto message = complaint(data.view(), options(3, [&](SelectOptions& o) {
                                         o.threads = threads;
                                         if (rbf) o.kernel.type = KernelType::rbf;
                                       }));
        EXPECT_NE(message.find("1234"), std::string::npos) << message;
        EXPECT_NE(message.find("feature 3"), std::string::npos) << message;
        EXPECT_NE(message.find("inf"), std::string::npos) << message;
      }
    }
  }
}

TEST(EdgeCases, a_kernel_matrix_with_faults_is_refused) {
  const auto message_of = [](const std::function<void(std::vector<double>&)>& spoil) {
    std::vector<double> k = {2, 0, 0, 0, 2, 1, 0, 1, 2};
    spoil(k);
    return complaint(Data(3, 3, k, Storage::dense_f64).view(),
                     options(1, [](SelectOptions& o) { o.kernel.type = KernelType::precomputed; }));
  };
  EXPECT_EQ(message_of([](auto&) {}), "no complaint");
  const auto nan = message_of([](auto& k) {
    k[5] = std::numeric_limits<double>::quiet_NaN();
    k[7] = k[5];
  });
  EXPECT_NE(nan.find("row 1, column 2"), std::string::npos) << nan;
  EXPECT_NE(message_of([](auto& k) { k[5] = 3; }), "no complaint");
  EXPECT_NE(message_of([](auto& k) { k[4] = -1; }), "no complaint");
}

// ---- runs that must end by themselves ----------------------------------------------------------

std::vector<double> repeated(const std::vector<double>& once, int times) {
  std::vector<double> all;
  for (int t = 0; t < times; ++t) all.insert(all.end(), once.begin(), once.end());
  return all;
}

TEST(EdgeCases, grow_ends_when_there_is_no_more_to_represent) {
  struct Case {
    const char* name;
    Index n, d, k;
    std::vector<double> values;
    double alpha;  // 0: the default radius
    Index at_most;
  };
  std::vector<double> rank3(at(40 * 9));
  const auto left = gaussian(40, 3, 1), right = gaussian(3, 9, 2);
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 9; ++j)
      for (Index r = 0; r < 3; ++r)
        rank3[at(i * 9 + j)] += left[at(i * 3 + r)] * right[at(r * 9 + j)];
  const std::vector<Case> cases = {
      {"all points equal", 12, 4, 3, repeated(gaussian(1, 4, 3), 12), 0, 1},
      {"rank 3, k = 10", 40, 9, 10, rank3, 0, 10},
      {"10 distinct points, k = 20", 50, 6, 20, repeated(gaussian(10, 6, 4), 5), 0, 10},
      {"10 distinct points in 30 features", 50, 30, 20, repeated(gaussian(10, 30, 5), 5), 0, 10},
      {"alpha = 1.2 n", 30, 5, 8, gaussian(30, 5, 6), 36, 8},
  };
  for (const Case& c : cases) {
    for (const auto& [name, set] : ways) {
      if (name == "pursuit") continue;
      SCOPED_TRACE(std::string(c.name) + ", " + name);
      const auto& set_way = set;  // clang 14 does not capture structured bindings
      const SelectOptions o = options(c.k, [&](SelectOptions& other) {
        set_way(other);
        if (c.alpha > 0) other.alpha = c.alpha;
      });
      const Selection s = checked(Data(c.n, c.d, c.values, Storage::dense_f64), o);
      EXPECT_LE(static_cast<Index>(s.exemplars.size()), c.at_most);
      EXPECT_EQ(s.status == Status::exemplars_reached,
                static_cast<Index>(s.exemplars.size()) == c.k);
      if (static_cast<Index>(s.exemplars.size()) < c.k) {
        EXPECT_FALSE(s.warnings.empty()) << "a short answer says so";
      }
    }
  }
}

TEST(EdgeCases, what_is_constant_is_constant_in_sparse_points_too) {
  const Index n = 1000, d = 3;
  std::vector<double> features = gaussian(n, d, 9), rows(at(n * d));
  for (Index i = 0; i < n; ++i) features[at(i * d)] = 0.1;  // its sum is not 100
  for (Index i = 0; i < n * d; ++i) rows[at(i)] = 0.1 * static_cast<double>(1 + i / d);
  const auto energy = [&](const std::vector<double>& values, Storage storage, auto&& set) {
    const Data data(n, d, values, storage);
    return fwsr::select(data.view(), options(2, set)).f_at_zero;
  };
  const auto standard = [](SelectOptions& o) {
    o.scale = fwsr::Scale::standard;
    o.center = Center::none;
  };
  const double dense = energy(features, Storage::dense_f64, standard);
  EXPECT_NEAR(energy(features, Storage::csr_f64_i32, standard), dense, 1e-10 * dense);
  const auto cosine = [](SelectOptions& o) {
    o.kernel.type = KernelType::cosine;
    o.center = Center::point;
  };
  for (const Storage storage : {Storage::dense_f64, Storage::csr_f64_i32})
    EXPECT_EQ(energy(rows, storage, cosine), 0);
}

TEST(EdgeCases, fill_adds_points_and_marks_them) {
  const Data data(50, 6, repeated(gaussian(10, 6, 4), 5), Storage::dense_f64);
  const auto run = [&](bool fill) {
    return fwsr::select(data.view(), options(20, [&](SelectOptions& o) {
                          o.fill = fill;
                          o.center = Center::none;
                        }));
  };
  const Selection plain = run(false), filled = run(true);
  ASSERT_LT(plain.exemplars.size(), 20u);
  ASSERT_EQ(filled.exemplars.size(), 20u);
  ASSERT_EQ(filled.filled.size(), 20u);
  EXPECT_EQ(filled.status, plain.status);
  std::vector<bool> seen(50);
  for (std::size_t t = 0; t < 20; ++t) {
    EXPECT_EQ(filled.filled[t], t >= plain.exemplars.size()) << "exemplar " << t;
    if (t < plain.exemplars.size()) {
      EXPECT_EQ(filled.exemplars[t], plain.exemplars[t]);
    }
    EXPECT_FALSE(seen[at(filled.exemplars[t])]);
    seen[at(filled.exemplars[t])] = true;
  }
  double sum = 0;
  for (const double w : filled.weights) sum += w;
  EXPECT_EQ(sum, 50);
}

TEST(EdgeCases, fill_takes_the_farthest_point_first) {
  // Two directions: matching pursuit ends with f = 0 before four points are chosen.
  const Data data(6, 2, {4, 0, 0, 3, 1, 0, -4, 0.5, 0, 1, 0, -2.5}, Storage::dense_f64);
  const Selection s = fwsr::select(data.view(), options(4, [](SelectOptions& o) {
                                     o.center = Center::none;
                                     o.alpha = 0;
                                     o.fill = true;
                                   }));
  ASSERT_EQ(s.exemplars.size(), 4u);
  // greedily: whichever remains farthest from all taken so far
  const auto exact = data.exact();
  std::vector<Index> taken;
  for (std::size_t t = 0; t < 4; ++t) {
    const auto away = [&](Index i) {
      oracle::Real nearest = std::numeric_limits<oracle::Real>::infinity();
      for (const Index e : taken) {
        oracle::Real sum = 0;
        for (Index j = 0; j < 2; ++j)
          sum += (exact(i, j) - exact(e, j)) * (exact(i, j) - exact(e, j));
        nearest = std::min(nearest, sum);
      }
      return nearest;
    };
    if (s.filled[t]) {
      for (Index i = 0; i < 6; ++i)
        if (std::find(taken.begin(), taken.end(), i) == taken.end()) {
          EXPECT_LE(away(i), away(s.exemplars[t]) + 1e-12L) << "point " << i;
        }
    }
    taken.push_back(s.exemplars[t]);
  }
}

// ---- kernels of points whose distances are no numbers any more -------------------------------------

TEST(EdgeCases, points_beyond_a_kernels_range_are_refused_or_answered) {
  for (const double scale : {5e-324, 1e-200, 1e200, 1e300})
    for (const auto type : {KernelType::rbf, KernelType::laplacian, KernelType::polynomial})
      for (const auto q : {Norm::one, Norm::two, Norm::infinity})
        for (const bool given : {false, true}) {
          SCOPED_TRACE(testing::Message() << scale << " " << fwsr::name_of(type) << " "
                                          << fwsr::name_of(q) << " " << given);
          std::vector<double> x = gaussian(12, 4, 1);
          for (double& v : x) v = std::round(2 * v) * scale;
          const Data data(12, 4, x, Storage::csr_f64_i32);
          SelectOptions o{.exemplars = 3, .q = q};
          o.kernel.type = type;
          if (given) o.kernel.gamma = 1.0;
          try {
            const Selection s = fwsr::select(data.view(), o);
            EXPECT_LE(s.exemplars.size(), 3u);
            for (const Index e : s.exemplars) EXPECT_TRUE(e >= 0 && e < 12) << e;
            if (given && type != KernelType::polynomial && scale > 1) {
              EXPECT_EQ(s.exemplars.size(), 3u);  // K = I: all points are alike
            }
          } catch (const fwsr::Error& e) {
            EXPECT_NE(std::string(e.what()).find("kernel"), std::string::npos) << e.what();
          }
        }
}

// ---- sparse points far from the origin --------------------------------------------------------------

/// Ten features that are 0 or 1 and a date: near the origin and dense all is well, sparse and far away the
/// differences are rounding.
TEST(EdgeCases, sparse_points_too_far_from_the_origin_are_refused) {
  Rng rng(1);
  for (const double offset : {0.0, 1e3, 2.023e7, 1.7e12})
    for (const auto& [type, center] :
         {std::pair(KernelType::rbf, Center::none), std::pair(KernelType::linear, Center::point),
          std::pair(KernelType::linear, Center::feature)}) {
      SCOPED_TRACE(testing::Message()
                   << offset << " " << fwsr::name_of(type) << " " << fwsr::name_of(center));
      std::vector<double> x(at(300 * 11));
      for (Index i = 0; i < 300; ++i) {
        x[at(i * 11 + static_cast<Index>(rng.below(10)))] = 1;
        x[at(i * 11 + 10)] = offset + 10 * rng.normal();
      }
      // Centring each point moves the date to all features: what is far away stays so, in the data.
      const bool far = offset > 1e6 && center != Center::point;
      SelectOptions o{.exemplars = 4, .center = center};
      o.kernel.type = type;
      const Data dense(300, 11, x, Storage::dense_f64), sparse(300, 11, x, Storage::csr_f64_i32);
      const Selection right = fwsr::select(dense.view(), o);
      if (far) {
        EXPECT_THROW(fwsr::select(sparse.view(), o), fwsr::Error);
      } else {
        EXPECT_EQ(fwsr::select(sparse.view(), o).exemplars, right.exemplars);
      }
    }
}

// ---- observers ---------------------------------------------------------------------------------

TEST(EdgeCases, an_observer_sees_every_step_and_may_stop) {
  for (const auto& [name, set] : ways) {
    SCOPED_TRACE(name);
    const Data data(30, 6, gaussian(30, 6, 1), Storage::dense_f64);
    std::vector<Index> seen;
    const Selection whole =
        fwsr::select(data.view(), options(6, set), [&](const fwsr::Progress& p) {
          if (p.step > 0 && (seen.empty() || seen.back() != p.step)) seen.push_back(p.step);
          return true;
        });
    ASSERT_EQ(seen.size(), whole.trace.size());  // the last step too
    seen.clear();
    const Selection stopped =
        fwsr::select(data.view(), options(6, set), [&](const fwsr::Progress& p) {
          if (p.step > 0) seen.push_back(p.step);
          EXPECT_EQ(p.wanted, 6);
          return p.step < 3;
        });
    EXPECT_EQ(stopped.status, Status::interrupted);
    EXPECT_EQ(seen, (std::vector<Index>{1, 2, 3}));
    ASSERT_EQ(stopped.trace.size(), 3u);
    for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(stopped.trace[t].pick, whole.trace[t].pick);
    EXPECT_LE(stopped.exemplars.size(), 3u);
    EXPECT_FALSE(stopped.exemplars.empty());
  }
}

/// One direction and a little noise: the first step takes f below what float32 products can tell from
/// nothing, and the run must not end on their rounding.
TEST(EdgeCases, float32_points_are_not_exhausted_by_rounding) {
  for (const Index d : {8, 400}) {  // covariance and representer form
    Rng rng(4);
    const Index n = 300;
    std::vector<double> direction(at(d)), values;
    for (double& v : direction) v = rng.normal();
    for (Index i = 0; i < n; ++i) {
      const double size = rng.normal();
      for (Index l = 0; l < d; ++l) values.push_back(size * direction[at(l)] + 1e-4 * rng.normal());
    }
    const Data data(n, d, values, Storage::dense_f32);
    SelectOptions o = options(2, [](SelectOptions& s) { s.center = Center::none; });
    const Selection quick = fwsr::select(data.view(), o);
    o.precise = true;
    const Selection precise = fwsr::select(data.view(), o);
    EXPECT_EQ(precise.status, Status::exemplars_reached);
    EXPECT_EQ(quick.status, precise.status) << d;
    EXPECT_EQ(quick.exemplars, precise.exemplars) << d;
  }
}

/// A mean that dwarfs what the points differ by: the gap of the certificate keeps its digits.
TEST(EdgeCases, the_gap_of_float32_points_with_a_large_mean_is_right) {
  for (const double mean : {1.0, 10.0, 30.0}) {
    Rng rng(7);
    const Index n = 300, d = 40;
    std::vector<double> common(at(d)), values;
    for (double& v : common) v = mean * rng.normal();
    for (Index i = 0; i < n; ++i)
      for (Index l = 0; l < d; ++l) values.push_back(common[at(l)] + rng.normal());
    const Data data(n, d, values, Storage::dense_f32);
    SelectOptions o = options(6);
    const Selection s = fwsr::select(data.view(), o);
    const auto reference = problems::reference_of(data.exact(), o, 0);
    compare::expect_consistent(s, o, reference, compare::coarse);
  }
}

}  // namespace
