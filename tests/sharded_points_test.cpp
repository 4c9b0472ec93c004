// Points cut into shards that speak through bytes give the same bits as all points in one place.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/kernel/factor.hpp"
#include "fwsr/solver/covariance_form.hpp"
#include "fwsr/solver/frank_wolfe.hpp"
#include "fwsr/solver/local_points.hpp"
#include "fwsr/solver/planner.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/scores.hpp"
#include "fwsr/solver/select_points.hpp"
#include "fwsr/solver/sharded_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "problems.hpp"
#include "same.hpp"
#include "sharded.hpp"

namespace {

using namespace sharding;

struct Preparation {
  fwsr::KernelType kernel;
  fwsr::Center center;
  fwsr::Scale scale;
  double eta;
  bool eta_relative;
};

std::vector<Preparation> preparations() {
  using fwsr::Center, fwsr::Scale, fwsr::KernelType;
  std::vector<Preparation> all;
  for (const auto kernel : {KernelType::linear, KernelType::cosine})
    for (const auto center : {Center::point, Center::feature, Center::none})
      for (const auto scale : {Scale::none, Scale::standard, Scale::unit})
        for (const double eta : {0.0, 0.7}) all.push_back({kernel, center, scale, eta, eta > 0});
  all.push_back({KernelType::linear, Center::feature, Scale::none, 2.5, false});
  return all;
}

fwsr::SelectOptions options_of(const Preparation& p, Index k) {
  return {.exemplars = k,
          .eta = p.eta,
          .eta_relative = p.eta_relative,
          .kernel = {.type = p.kernel},
          .center = p.center,
          .scale = p.scale,
          .codes = true,
          .assignment = true,
          .threads = 2};
}

class AnyStorage : public testing::TestWithParam<Storage> {};

TEST_P(AnyStorage, give_the_same_bits_however_the_points_are_cut_and_prepared) {
  const Index n = 4200, d = 6, k = 5;
  const problems::Data data = points_like(n, d, GetParam(), 1);
  std::uint64_t seed = 0;
  for (const Preparation& p : preparations()) {
    SCOPED_TRACE(testing::Message() << "preparation after cut " << seed);
    const fwsr::SelectOptions options = options_of(p, k);
    const fwsr::Selection alone = whole(data.view(), {}, options);
    ASSERT_EQ(alone.exemplars.size(), at(k));
    for (int twice = 0; twice < 2; ++twice) {  // all of them in turn
      const Index count = counts[seed % std::size(counts)];
      SCOPED_TRACE(testing::Message() << count << " shards");
      same::expect_same(sharded(data, options, count, ++seed), alone);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(AnyStorage, exchange_and_move_the_same_exemplars) {
  const Index n = 4200, d = 6;
  const problems::Data data = points_like(n, d, GetParam(), 13);
  for (const double eta : {0.0, 0.7}) {
    const fwsr::SelectOptions options{.exemplars = 7,
                                      .eta = eta,
                                      .refine = fwsr::Refine::middle,
                                      .codes = true,
                                      .assignment = true,
                                      .threads = 2};
    const fwsr::Selection alone = whole(data.view(), {}, options);
    ASSERT_GT(alone.refinement->exchanges, 0);
    ASSERT_GT(alone.refinement->moves, 0);
    for (const Index count : counts) {
      const fwsr::Selection found = sharded(data, options, count, 5);
      same::expect_same(found, alone);
      EXPECT_EQ(found.refinement->after, alone.refinement->after);
      EXPECT_EQ(found.refinement->rounds, alone.refinement->rounds);
      EXPECT_EQ(found.refinement->moves, alone.refinement->moves);
    }
  }
}

TEST_P(AnyStorage, choose_and_exchange_the_same_exemplars_under_conditions) {
  const Index n = 4200, d = 9;
  const problems::Data data = points_like(n, d, GetParam(), 14);
  fwsr::SelectOptions options{.exemplars = 6,
                              .refine = fwsr::Refine::exchange,
                              .codes = true,
                              .assignment = true,
                              .threads = 2};
  fwsr::Rng random(3);
  fwsr::Conditions& c = options.conditions;
  for (Index i = 0; i < n; ++i) {
    c.candidates.push_back(i > 1000 && random.uniform() < 0.2);  // a shard may have none
    c.weights.push_back(random.uniform());
    c.costs.push_back(0.5 + random.uniform());
    c.groups.add(random.uniform() < 0.5 ? "a" : "b");
  }
  c.included = {0, 2000};
  c.at_most.each = 4;
  for (const double eta : {0.0, 0.7}) {
    options.eta = eta;
    const fwsr::Selection alone = whole(data.view(), {}, options);
    ASSERT_GT(alone.refinement->exchanges, 0);
    for (const Index count : counts) {
      const fwsr::Selection found = sharded(data, options, count, 5);
      same::expect_same(found, alone);
      EXPECT_EQ(found.refinement->after, alone.refinement->after);
    }
  }
}

TEST_P(AnyStorage, choose_the_same_beside_exemplars_that_leave_few_directions) {
  const Index n = 4200, d = 9;
  const problems::Data data = points_like(n, d, GetParam(), 15);
  fwsr::SelectOptions options{
      .exemplars = 3, .center = fwsr::Center::none, .assignment = true, .threads = 2};
  for (const Index many : {5, 8, 70}) {  // 70 span everything
    options.conditions.included.clear();
    for (Index i = 0; i < many; ++i) options.conditions.included.push_back(i * (n / many));
    for (const double eta : {0.0, 0.7}) {
      options.eta = eta;
      const fwsr::Selection alone = whole(data.view(), {}, options);
      for (const Index count : counts) same::expect_same(sharded(data, options, count, 5), alone);
    }
  }
}

TEST_P(AnyStorage, give_the_same_bits_until_nothing_is_left) {
  // More exemplars than dimensions: scores and C are computed anew, and the certificate from residuals.
  const Index n = 2100, d = 4;
  const problems::Data data = points_like(n, d, GetParam(), 2);
  fwsr::SelectOptions options{
      .exemplars = 12, .alpha = 0, .center = fwsr::Center::none, .codes = true, .threads = 2};
  for (const bool precise : {false, true}) {
    options.precise = precise;
    const fwsr::Selection alone = whole(data.view(), {}, options);
    for (const Index count : counts) same::expect_same(sharded(data, options, count, 5), alone);
  }
}

TEST_P(AnyStorage, share_the_passes_of_a_sweep) {
  const Index n = 3000, d = 5;
  const problems::Data data = points_like(n, d, GetParam(), 3);
  const fwsr::SelectOptions options{
      .exemplars = 4, .eta_relative = true, .assignment = true, .threads = 2};
  const std::vector<fwsr::NumberOrAuto> alphas{fwsr::NumberOrAuto{}, 2.0, 20.0};
  const std::vector<double> etas{0, 0.3, 2};
  const fwsr::Grid grid = fwsr::make_grid(options, alphas, etas);
  fwsr::Plan each = fwsr::make_plan(fwsr::facts_of(data.view(), 2), options);
  each.form = fwsr::FormKind::covariance;
  each.kernel_by = fwsr::KernelBy::none;
  const auto alone =
      fwsr::sweep_points(data.view(), {}, options, fwsr::plan_settings(each, options, grid, 1), {});
  for (const Index count : counts) {
    const auto entries =
        fwsr::sweep_sharded(shards_of(data.view(), fwsr::without_eta(options), count, 7),
                            shape_of(data.view(), n), options, alphas, etas);
    ASSERT_EQ(entries.size(), alone.size());
    for (std::size_t e = 0; e < entries.size(); ++e)
      same::expect_same(entries[e].selection, alone[e].selection);
  }
}

TEST_P(AnyStorage, hold_some_points_of_one_class) {
  const Index n = 6000, d = 5;
  const problems::Data data = points_like(n, d, GetParam(), 4);
  std::vector<Index> members;  // of a class, wherever they stand
  fwsr::Rng random(9);
  for (Index i = 0; i < n; ++i)
    if (random.uniform() < 0.5) members.push_back(i);
  const fwsr::SelectOptions options{.exemplars = 4, .assignment = true, .threads = 2};
  const fwsr::Selection alone = whole(data.view(), members, options);
  const auto size = static_cast<Index>(members.size());
  for (const Index count : counts) {
    std::vector<std::unique_ptr<fwsr::PointShard>> shards;
    for (const fwsr::Portion& p : cut(size, count, random)) {
      shards.push_back(std::make_unique<fwsr::PointShard>(1));
      shards.back()->add(
          0, std::make_unique<fwsr::Points>(
                 data.view(), std::span<const Index>(members).subspan(at(p.first), at(p.size)),
                 fwsr::preprocessing_of(options), p, 0));
    }
    fwsr::Selection found =
        fwsr::select_sharded(connect(std::move(shards)), shape_of(data.view(), size), options);
    fwsr::to_global_indices(members, found);
    same::expect_same(found, alone);
  }
}

TEST_P(AnyStorage, with_so_many_features_that_a_product_rounds_by_the_place_of_a_row) {
  const Index n = 4200, d = 40;
  const problems::Data data = points_like(n, d, GetParam(), 15);
  fwsr::SelectOptions options{.exemplars = 6, .codes = true, .assignment = true, .threads = 2};
  fwsr::Rng random(4);
  for (const bool some : {false, true}) {  // that may be chosen
    for (Index i = 0; i < n && some; ++i)
      options.conditions.candidates.push_back(random.uniform() < 0.4);
    const fwsr::Selection alone = whole(data.view(), {}, options);
    for (const Index count : counts) {
      SCOPED_TRACE(testing::Message() << count << " shards");
      const fwsr::Selection found = sharded(data, options, count, 5);
      same::expect_same(found, alone);
      EXPECT_EQ(found.certificate->gap_error, alone.certificate->gap_error);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, AnyStorage,
                         testing::Values(Storage::dense_f32, Storage::dense_f64,
                                         Storage::csr_f32_i32, Storage::csr_f64_i64));

// ---- by a factor of the kernel ----------------------------------------------------------------------

class DenseStorage : public testing::TestWithParam<Storage> {};

void expect_same_by_factor(const problems::Data& data, const fwsr::SelectOptions& options,
                           const fwsr::Selection& alone, Index count, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << count << " shards");
  const fwsr::Selection found =
      fwsr::select_sharded(shards_of(data.view(), fwsr::preprocessing_of(options), count, seed),
                           shape_of(data.view(), fwsr::rows_of(data.view())), options);
  same::expect_same(found, alone);
  EXPECT_EQ(found.kernel_rank, alone.kernel_rank);
  EXPECT_EQ(found.kernel_error, alone.kernel_error);
  EXPECT_EQ(found.gamma, alone.gamma);
  ASSERT_EQ(found.refinement.has_value(), alone.refinement.has_value());
  if (found.refinement) {
    EXPECT_EQ(found.refinement->after, alone.refinement->after);
    EXPECT_EQ(found.refinement->moves, alone.refinement->moves);
  }
}

TEST_P(DenseStorage, choose_by_a_factor_as_people_get_who_give_only_k) {
  const Index n = 4200, d = 6;
  const problems::Data data = points_like(n, d, GetParam(), 21);
  fwsr::SelectOptions options = by_factor(7, 40);
  options.refine = fwsr::Refine::middle;
  options.kernel.width = {.times = 2, .quantile = 0.9};
  const fwsr::Selection alone = whole_by_factor(data.view(), options);
  ASSERT_EQ(alone.exemplars.size(), 7u);
  ASSERT_GT(alone.refinement->exchanges, 0);
  ASSERT_GT(alone.refinement->moves, 0);
  for (const Index count : counts) expect_same_by_factor(data, options, alone, count, 5);
}

TEST_P(DenseStorage, choose_by_a_factor_of_many_columns_from_many_features) {
  const Index n = 4200, d = 40;
  const problems::Data data = points_like(n, d, GetParam(), 25);
  fwsr::SelectOptions options = by_factor(7, 150);
  options.refine = fwsr::Refine::middle;
  const fwsr::Selection alone = whole_by_factor(data.view(), options);
  for (const Index count : counts) expect_same_by_factor(data, options, alone, count, 5);
}

TEST_P(DenseStorage, choose_by_a_factor_however_the_points_are_prepared) {
  const Index n = 3100, d = 5;
  const problems::Data data = points_like(n, d, GetParam(), 22);
  std::uint64_t seed = 0;
  for (const fwsr::Center center : {fwsr::Center::none, fwsr::Center::feature})
    for (const fwsr::Scale scale : {fwsr::Scale::none, fwsr::Scale::standard, fwsr::Scale::unit})
      for (const double eta : {0.0, 0.3})
        for (const double gamma : {0.0, 20.0}) {  // 20: far points, products in double
          fwsr::SelectOptions options = by_factor(5, 30);
          options.center = center;
          options.scale = scale;
          options.eta = eta;
          options.eta_relative = eta > 0;
          options.precise = seed % 3 == 0;
          if (gamma > 0) options.kernel.gamma = gamma;
          expect_same_by_factor(data, options, whole_by_factor(data.view(), options),
                                counts[seed % std::size(counts)], seed);
          ++seed;
        }
}

TEST_P(DenseStorage, choose_by_a_factor_of_the_laplacian_kernel) {
  const Index n = 3100, d = 7;
  const problems::Data data = points_like(n, d, GetParam(), 26);
  for (const fwsr::Refine refine : {fwsr::Refine::none, fwsr::Refine::exchange})
    for (const fwsr::Center center : {fwsr::Center::none, fwsr::Center::feature}) {
      fwsr::SelectOptions options = by_factor(6, 30);
      options.kernel.type = fwsr::KernelType::laplacian;
      options.center = center;
      options.refine = refine;
      const fwsr::Selection alone = whole_by_factor(data.view(), options);
      ASSERT_EQ(alone.exemplars.size(), 6u);
      for (const Index count : counts) expect_same_by_factor(data, options, alone, count, 5);
      // Nearly the factor that a run makes which has all points in one place, and picks as it does.
      options.until_error = 1e-9;
      const fwsr::Selection other = whole_by_factor(data.view(), options);
      EXPECT_EQ(other.kernel_rank, alone.kernel_rank);
      EXPECT_NEAR(*other.kernel_error, *alone.kernel_error, 1e-6);
      if (refine == fwsr::Refine::none) {
        EXPECT_EQ(other.exemplars, alone.exemplars);
      }
    }
}

TEST_P(DenseStorage, choose_by_a_factor_under_conditions) {
  const Index n = 4200, d = 5;
  const problems::Data data = points_like(n, d, GetParam(), 23);
  fwsr::SelectOptions options = by_factor(6, 40);
  options.refine = fwsr::Refine::exchange;
  fwsr::Rng random(3);
  fwsr::Conditions& c = options.conditions;
  for (Index i = 0; i < n; ++i) {
    c.candidates.push_back(i > 1000 && random.uniform() < 0.2);
    c.weights.push_back(random.uniform());
    c.costs.push_back(0.5 + random.uniform());
    c.groups.add(random.uniform() < 0.5 ? "a" : "b");
  }
  c.included = {0, 2000};
  c.at_most.each = 4;
  const fwsr::Selection alone = whole_by_factor(data.view(), options);
  ASSERT_EQ(alone.exemplars.size(), 8u);
  for (const Index count : counts) expect_same_by_factor(data, options, alone, count, 6);
}

TEST_P(DenseStorage, sweep_by_a_factor) {
  const Index n = 2300, d = 4;
  const problems::Data data = points_like(n, d, GetParam(), 24);
  fwsr::SelectOptions options = by_factor(4, 20);
  options.codes = false;
  options.eta_relative = true;
  const std::vector<fwsr::NumberOrAuto> alphas{fwsr::NumberOrAuto{}, 2.0};
  const std::vector<double> etas{0, 0.3};
  const auto alone = fwsr::sweep(data.view(), options, alphas, etas);
  for (const Index count : counts) {
    const auto entries =
        fwsr::sweep_sharded(shards_of(data.view(), fwsr::preprocessing_of(options), count, 7),
                            shape_of(data.view(), n), options, alphas, etas);
    ASSERT_EQ(entries.size(), alone.size());
    for (std::size_t e = 0; e < entries.size(); ++e)
      same::expect_same(entries[e].selection, alone[e].selection);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, DenseStorage,
                         testing::Values(Storage::dense_f32, Storage::dense_f64));

TEST(Shards, say_what_to_do_instead_of_what_they_do_not_serve) {
  const fwsr::PointsShape dense{.size = 5000, .features = 10, .sparse = false, .single = true};
  fwsr::PointsShape sparse = dense;
  sparse.sparse = true;
  const auto refused = [](const fwsr::PointsShape& shape, const fwsr::SelectOptions& o,
                          const char* with) {
    try {
      fwsr::plan_sharded(shape, o);
      ADD_FAILURE() << "nothing was refused: " << with;
    } catch (const fwsr::OptionError& e) {
      EXPECT_NE(std::string(e.what()).find(with), std::string::npos) << e.what();
    }
  };
  const fwsr::Kernel rbf{.type = fwsr::KernelType::rbf};
  refused(dense, {.exemplars = 2, .q = fwsr::Norm::one}, "leave q and nonneg out");
  refused(dense, {.exemplars = 2, .nonneg = true}, "leave q and nonneg out");
  refused(dense, {.exemplars = 2, .kernel = rbf}, "5000 x 5000 kernel values; give a rank");
  const fwsr::Kernel laplacian{.type = fwsr::KernelType::laplacian};
  refused(dense, {.exemplars = 2, .kernel = {.type = fwsr::KernelType::polynomial}, .rank = 9},
          "use rbf with a rank");
  refused(dense, {.exemplars = 2, .kernel = laplacian, .rank = 9, .refine = fwsr::Refine::middle},
          "use refine exchange, or rbf");
  refused(sparse, {.exemplars = 2, .kernel = rbf, .rank = 9}, "use kernel linear");
  refused(dense, {.exemplars = 2, .kernel = rbf, .rank = 9, .until_error = 0.1},
          "leave until_error out");
  sparse.features = 100'000;
  refused(sparse, {.exemplars = 2, .memory = Index{1} << 30}, "give fewer features");
}

TEST(Shards, with_sums_too_large_to_hold_one_of_per_segment) {
  const Index n = 6100, d = 520;  // six segments, five of them in the second shard
  for (const Storage storage : {Storage::dense_f32, Storage::dense_f64}) {
    const problems::Data data = points_like(n, d, storage, 12);
    const fwsr::SelectOptions options{.exemplars = 2, .threads = 2};
    const fwsr::Selection alone = whole(data.view(), {}, options);
    same::expect_same(fwsr::select_sharded(shards_of(data.view(), fwsr::preprocessing_of(options),
                                                     {{0, 1024, n}, {1024, n - 1024, n}}),
                                           shape_of(data.view(), n), options),
                      alone);
  }
}

TEST(Shards, that_are_near_the_best_are_asked_again_for_the_first_who_is_near_enough) {
  // Of the first shard 5 is within a tie of 700, 700 of 1500 in the second, and 5 not of 1500.
  const Index n = 2048, d = 2;
  fwsr::Rng random(8);
  std::vector<double> values(at(n * d));
  for (Index i = 0; i < n; ++i) values[at(i * d)] = random.uniform() / 2;
  const auto score = [&](Index i, double less) {  // a part of the largest
    values[at(i * d)] = std::sqrt(1 - less * fwsr::tie_double);
  };
  score(5, 1.4), score(700, 0.6), score(1500, 0);
  const problems::Data data(n, d, values, Storage::dense_f64);
  const fwsr::SelectOptions options{.exemplars = 1, .center = fwsr::Center::none, .threads = 1};
  const fwsr::Selection alone = whole(data.view(), {}, options);
  ASSERT_EQ(alone.exemplars, std::vector<Index>{700});
  same::expect_same(fwsr::select_sharded(shards_of(data.view(), fwsr::preprocessing_of(options),
                                                   {{0, 1024, n}, {1024, 1024, n}}),
                                         shape_of(data.view(), n), options),
                    alone);
}

TEST(Shards, larger_than_256_segments_of_1024_points) {
  const Index n = 300'000;
  const problems::Data data = points_like(n, 2, Storage::dense_f32, 6);
  const fwsr::SelectOptions options{.exemplars = 2, .threads = 2};
  const fwsr::Selection alone = whole(data.view(), {}, options);
  for (const Index count : {2, 64}) same::expect_same(sharded(data, options, count, 3), alone);
}

TEST(Shards, refuse_what_is_not_finite_with_its_place_among_all_points) {
  const Index n = 5000, d = 3;
  std::vector<double> values(at(n * d), 1.0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(i % 17);
  values[at(4321 * d + 1)] = std::numeric_limits<double>::quiet_NaN();
  const problems::Data data(n, d, values, Storage::dense_f64);
  const fwsr::SelectOptions options{.exemplars = 2};
  try {
    fwsr::select_sharded(shards_of(data.view(), fwsr::preprocessing_of(options), 3, 1),
                         shape_of(data.view(), n), options);
    FAIL() << "nothing was refused";
  } catch (const fwsr::Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 4321 has NaN in feature 1"), std::string::npos)
        << e.what();
  }
}

TEST(Shards, warn_of_marks_as_one_place_does) {
  const Index n = 3000, d = 5;
  for (const double mark : {-999.0, 1e20}) {
    fwsr::Rng random(8);
    std::vector<double> values;
    for (Index i = 0; i < n * d; ++i) values.push_back(random.normal());
    for (Index l = 0; l < d; ++l) values[at(2500 * d + l)] = mark;
    values[at(1700 * d)] = mark == 1e20 ? 1e15 : 0;
    const problems::Data data(n, d, values, Storage::dense_f64);
    const fwsr::SelectOptions options{
        .exemplars = 3, .center = fwsr::Center::none, .assignment = true, .threads = 2};
    const fwsr::Selection alone = whole(data.view(), {}, options);
    ASSERT_FALSE(alone.warnings.empty());
    for (const Index count : counts) same::expect_same(sharded(data, options, count, 2), alone);
  }
}

TEST(Shards, that_do_not_make_up_all_points_are_refused) {
  const Index n = 5000;
  const problems::Data data = points_like(n, 3, Storage::dense_f32, 3);
  const fwsr::SelectOptions options{.exemplars = 2};
  const auto refused = [&](const std::vector<fwsr::Portion>& portions, Index size, Index features,
                           const char* with) {
    fwsr::PointsShape shape = shape_of(data.view(), size);
    shape.features = features;
    try {
      fwsr::select_sharded(shards_of(data.view(), fwsr::preprocessing_of(options), portions), shape,
                           options);
      ADD_FAILURE() << "nothing was refused";
    } catch (const fwsr::Error& e) {
      EXPECT_NE(std::string(e.what()).find(with), std::string::npos) << e.what();
    }
  };
  refused({{0, 2048, n}}, n, 3, "the shards hold 2048 points, of 5000");
  refused({}, n, 3, "the shards hold 0 points");
  refused({{0, 2048, n}, {0, 2048, n}}, n, 3, "begins with point 0 where 2048");
  refused({{2048, n - 2048, n}, {0, 2048, n}}, n, 3, "begins with point 2048 where 0");
  refused({{0, n, n}}, n, 4, "of 4 were announced");
  refused({{0, n, n}}, n - 1, 3, "4999 of 3 were announced");
}

TEST(Shards, have_segments_as_long_as_those_of_all_points) {
  // Of 300,000 points a segment has 2048: two products, in a shard of few segments too.
  const Index d = 400, size = 20480;
  const fwsr::FillRows<double> ones = [&](Index first, Index last, double* out) {
    std::fill_n(out, (last - first) * d, 1.0);
  };
  for (const Index first : {Index{0}, size}) {
    const auto sums = fwsr::gram_in_segments<double>({first, size, 300'000}, d, 2, ones);
    double products = 0, rows = 0;
    for (const fwsr::Gram& sum : sums) products += sum.products[0], rows += sum.rows[0];
    EXPECT_EQ(products, static_cast<double>(size));
    EXPECT_EQ(rows, static_cast<double>(size));
  }
}

TEST(Shards, answer_a_broken_question_with_a_sentence) {
  fwsr::PointShard shard(1);
  for (const fwsr::Bytes& question :
       {fwsr::Bytes{}, fwsr::Bytes(3), fwsr::Bytes(4, std::byte{0x7f}), fwsr::Bytes(40)}) {
    const fwsr::Bytes reply = fwsr::answer(shard, question);
    fwsr::BytesReader reader(reply);
    fwsr::Outcome outcome{};
    std::string what;
    reader(outcome, what);
    EXPECT_EQ(outcome, fwsr::Outcome::error);
    EXPECT_FALSE(what.empty());
  }
}

TEST(Portion, is_whole_segments) {
  EXPECT_NO_THROW(fwsr::Portion(1024, 1024, 5000));
  EXPECT_NO_THROW(fwsr::Portion(4096, 904, 5000));
  EXPECT_THROW(fwsr::Portion(1000, 1024, 5000), fwsr::Error);
  EXPECT_THROW(fwsr::Portion(0, 1000, 5000), fwsr::Error);
  EXPECT_THROW(fwsr::Portion(4096, 1024, 5000), fwsr::Error);
}

}  // namespace
