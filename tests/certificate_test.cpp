// Certificates of points that are hard on floating-point numbers: marks for missing values among them, or
// far from the origin. Objective, gap and radius are computed once more in extended precision, from the raw
// numbers and the codes alone, and must be within the errors that the certificate itself states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/solver/select.hpp"
#include "hard_points.hpp"

namespace {

using namespace hard;

void try_all(const fwsr::SelectOptions& base, const std::string& name) {
  for (const bool single : {false, true})
    for (const Set& set : hard_sets(single))
      for (const Center center : {Center::point, Center::none, Center::feature})
        for (const double alpha : {0.0, 2.0})
          for (const bool precise : {false, true}) {
            if (precise && !single) continue;
            SCOPED_TRACE(testing::Message()
                         << name << ", " << set.name << (single ? ", float32" : ", float64")
                         << (precise ? ", precise" : "") << ", centre " << static_cast<int>(center)
                         << ", alpha " << alpha);
            fwsr::SelectOptions o = base;
            o.exemplars = 5;
            o.codes = true;
            o.center = center;
            o.precise = precise;
            if (alpha > 0) o.alpha = alpha;
            expect_true_certificate(set, single, o);
          }
}

TEST(Certificate, is_right_beside_marks_and_far_away_linear) {
  try_all({}, "linear");
}
TEST(Certificate, is_right_beside_marks_and_far_away_cosine) {
  try_all({.kernel = {.type = KernelType::cosine}}, "cosine");
}
TEST(Certificate, is_right_beside_marks_and_far_away_rbf) {
  try_all({.kernel = {.type = KernelType::rbf}}, "rbf");
}
TEST(Certificate, is_right_beside_marks_and_far_away_laplacian) {
  try_all({.kernel = {.type = KernelType::laplacian}}, "laplacian");
}
TEST(Certificate, is_right_beside_marks_and_far_away_polynomial) {
  try_all({.kernel = {.type = KernelType::polynomial}}, "polynomial");
}
TEST(Certificate, is_right_beside_marks_and_far_away_factor) {
  try_all({.kernel = {.type = KernelType::rbf}, .rank = 16}, "factor");
}
TEST(Certificate, is_right_beside_marks_and_far_away_other_norms) {
  try_all({.q = fwsr::Norm::one}, "q = 1");
  try_all({.q = fwsr::Norm::infinity}, "q = infinity");
  try_all({.nonneg = true}, "X >= 0");
}
TEST(Certificate, is_right_for_more_exemplars_than_dimensions_far_away) {
  for (const double offset : {0.0, 1e9, 1e15}) {
    SCOPED_TRACE(offset);
    expect_true_certificate(normal_points(200, 8, offset), false, {.exemplars = 40, .codes = true});
  }
}

// The terms of the codes are much larger than their sums: rounding may hide who has the largest score.
TEST(Certificate, is_right_near_a_line) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Set set = points_near_a_line(120, seed);
    for (const std::int64_t iterations : {20, 60, 61})
      expect_true_certificate(set, false,
                              {.exemplars = 4, .max_iterations = iterations, .codes = true});
  }
}

TEST(Certificate, is_right_for_points_that_leave_few_digits) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    fwsr::Rng rng(seed);
    const Set set = hard_points(rng);
    fwsr::SelectOptions o{.exemplars = 1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(
                                               std::min<Index>(set.n, 20))))};
    o.codes = true;
    o.center = std::vector{Center::none, Center::point, Center::feature}[rng.below(3)];
    o.kernel.type = std::vector{KernelType::linear, KernelType::linear, KernelType::rbf,
                                KernelType::cosine, KernelType::polynomial}[rng.below(5)];
    o.kernel.degree = 2;
    if (rng.below(3) == 0) o.max_iterations = 5 + static_cast<std::int64_t>(rng.below(200));
    if (rng.below(3) == 0) o.alpha = std::pow(10.0, 2 * rng.uniform() - 1);
    if (rng.below(4) == 0) o.refine = fwsr::Refine::exchange;
    if (rng.below(4) == 0)
      for (Index i = 0; i < set.n; ++i) o.conditions.costs.push_back(1e-3 * (0.5 + rng.uniform()));
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", n " << set.n << ", d " << set.d << ", kernel "
                 << fwsr::name_of(o.kernel.type) << ", k " << o.exemplars);
    try {
      expect_true_certificate(set, false, o);
    } catch (const fwsr::Error& e) {  // alpha beside a polynomial may be beyond all numbers
      ADD_FAILURE() << e.what();
    }
  }
}

// Many features and few points in float32: K in float32, and a radius that makes much of its rounding.
TEST(Certificate, is_right_whatever_the_radius_in_float32) {
  for (const double alpha : {0.5, 5e-3, 5e-6})
    expect_true_certificate(normal_points(60, 70), true,
                            {.exemplars = 5, .alpha = alpha, .codes = true});
}

// Where little is left of the points beside rounding of K in float32, the certificate is found once more in double.
TEST(Certificate, of_k_in_float32_is_settled_in_double) {
  Index settled = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    fwsr::Rng rng(seed);
    const auto below = [&](std::uint64_t many) { return static_cast<Index>(rng.below(many)); };
    const Set set = normal_points(80 + below(120), 1 + below(6), seed % 3 == 0 ? 100 : 0);
    fwsr::SelectOptions o{.exemplars = set.n / (2 + below(6)), .codes = true};
    o.kernel.type = std::vector{KernelType::rbf, KernelType::rbf, KernelType::laplacian,
                                KernelType::polynomial}[rng.below(4)];
    o.kernel.degree = 2;
    o.center = std::vector{Center::none, Center::point, Center::feature}[rng.below(3)];
    if (rng.below(2) == 0) o.refine = fwsr::Refine::exchange;
    if (rng.below(3) == 0) o.alpha = std::pow(10.0, 2 * rng.uniform() - 1);
    if (rng.below(4) == 0)
      for (Index i = 0; i < set.n; ++i) o.conditions.costs.push_back(0.5 + rng.uniform());
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", n " << set.n << ", d " << set.d << ", kernel "
                 << fwsr::name_of(o.kernel.type) << ", k " << o.exemplars);
    const auto choose = [&](const fwsr::PointsView& view, const fwsr::SelectOptions& options) {
      const fwsr::Selection s = fwsr::select(view, options);
      EXPECT_TRUE(s.certificate->trusted || o.kernel.type == KernelType::polynomial);
      settled += s.certificate->gap_error < 1e-6 * s.certificate->gap;
      return s;
    };
    expect_true_certificate(set, true, o, choose);
  }
  EXPECT_GT(settled, 10);
}

TEST(Certificate, tells_what_is_left_of_points_beside_a_huge_eta) {
  for (const double size : {1.0, 1e-4, 1e-6, 1e-8}) {
    SCOPED_TRACE(size);
    const Index n = 200, d = 3;
    Set set = normal_points(n, d);
    for (double& v : set.values) v *= size;
    const fwsr::Selection s =
        fwsr::select(fwsr::MatrixView<const double>{set.values.data(), n, d, d},
                     {.exemplars = 1, .eta = 100, .center = Center::none});
    const double* const a = set.values.data() + s.exemplars.at(0) * d;
    Real left = 0, all = 0, own = 0;
    for (Index l = 0; l < d; ++l) own += Real(a[l]) * a[l];
    for (Index i = 0; i < n; ++i) {
      Real square = 0, along = 0;
      for (Index l = 0; l < d; ++l) {
        square += Real(set.values[at(i * d + l)]) * set.values[at(i * d + l)];
        along += Real(set.values[at(i * d + l)]) * a[l];
      }
      all += square;
      left += square - along * along / own;
    }
    EXPECT_NEAR(s.certificate->reconstruction_error, static_cast<double>(left / all), 1e-9);
  }
}

TEST(Certificate, codes_that_cannot_tell_what_is_included_are_warned_of) {
  for (const double offset : {0.0, 1e6}) {
    const Set set = normal_points(100, 4, offset);
    fwsr::SelectOptions o{.exemplars = 2, .center = Center::none};
    o.conditions.included = {0, 1, 2, 3, 4, 5};
    const fwsr::Selection s =
        fwsr::select(fwsr::MatrixView<const double>{set.values.data(), 100, 4, 4}, o);
    EXPECT_EQ(std::any_of(s.warnings.begin(), s.warnings.end(),
                          [](const std::string& w) { return w.find("codes tell") == 0; }),
              offset > 0);
  }
}

TEST(Certificate, says_when_double_does_not_suffice) {
  const auto select = [](const Set& set) {
    return fwsr::select(fwsr::MatrixView<const double>{set.values.data(), set.n, set.d, set.d},
                        {.exemplars = 5, .center = Center::none});
  };
  EXPECT_TRUE(select(normal_points(60, 8)).certificate->trusted);
  const fwsr::Selection s = select(with_marks(normal_points(60, 8), 1e20, false));
  EXPECT_FALSE(s.certificate->trusted);
  EXPECT_GT(s.certificate->gap_error, 1e-3 * s.certificate->f);
  EXPECT_TRUE(std::any_of(s.warnings.begin(), s.warnings.end(), [](const std::string& w) {
    return w.find("certificate") != std::string::npos;
  }));
}

// ---- marks

std::string warning_about_marks(const Set& set) {
  const fwsr::Selection s = fwsr::select(
      fwsr::MatrixView<const double>{set.values.data(), set.n, set.d, set.d}, {.exemplars = 3});
  for (const std::string& w : s.warnings)
    if (w.find("missing value") != std::string::npos) return w;
  return "";
}

TEST(Certificate, of_points_that_are_all_equal_is_trusted) {
  for (const double value : {0.0, 1.5, -1e12}) {
    const std::vector<double> x(40 * 3, value);
    const auto s =
        fwsr::select(fwsr::MatrixView<const double>{x.data(), 40, 3, 3}, {.exemplars = 2});
    ASSERT_TRUE(s.certificate) << value;
    EXPECT_TRUE(s.certificate->trusted) << value;
    EXPECT_GE(s.certificate->gap, 0) << value;
  }
}

TEST(Certificate, is_refused_where_no_number_could_tell_the_objective) {
  for (const double size : {1e-200, 1e200}) {
    std::vector<double> x;
    for (int i = 0; i < 60; ++i) x.push_back(size * (1 + i % 7 + 0.1 * (i % 11)));
    try {
      fwsr::select(fwsr::MatrixView<const double>{x.data(), 20, 3, 3}, {.exemplars = 2});
      ADD_FAILURE() << "points of size " << size << " were answered";
    } catch (const fwsr::Error& e) {
      EXPECT_NE(std::string(e.what()).find("too large or too small"), std::string::npos)
          << e.what();
    }
  }
}

TEST(Marks, of_missing_values_are_named) {
  for (const double mark : {-999.0, 1e10, 1e20, 9.97e36}) {
    const std::string w = warning_about_marks(with_marks(normal_points(60, 8), mark, true));
    EXPECT_NE(w.find("point 7 "), std::string::npos) << mark << ": " << w;
  }
  EXPECT_NE(warning_about_marks(with_marks(normal_points(60, 8), 1e20, false))
                .find("point 7 has 1e+20 in feature 3"),
            std::string::npos);
}

TEST(Marks, ordinary_points_are_none) {
  EXPECT_EQ(warning_about_marks(normal_points(60, 8)), "");
  EXPECT_EQ(warning_about_marks(normal_points(60, 8, 1e9)), "");
  Set zeros = with_marks(normal_points(60, 8), 0, true);
  EXPECT_EQ(warning_about_marks(zeros), "");
  Set one_hot{.name = "one-hot", .n = 40, .d = 10, .values = std::vector<double>(400)};
  for (Index i = 0; i < 40; ++i) one_hot.values[at(i * 10 + i % 10)] = 1;
  EXPECT_EQ(warning_about_marks(one_hot), "");
  Set images = normal_points(60, 16);
  for (double& v : images.values) v = std::clamp(std::round(128 + 60 * v), 0.0, 255.0);
  for (const double white : {255.0, 128.0, 0.0})
    EXPECT_EQ(warning_about_marks(with_marks(images, white, true)), "");
  Set heavy = normal_points(60, 8);
  for (double& v : heavy.values) v = std::exp(4 * v);
  EXPECT_EQ(warning_about_marks(heavy), "");
  Set signs = normal_points(60, 8);
  for (double& v : signs.values) v = v > 0 ? 1 : -1;
  EXPECT_EQ(warning_about_marks(signs), "");
}

}  // namespace
