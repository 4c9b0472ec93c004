// On a card: the same picks as on the processor wherever these lead by more than rounding, and the same certificate.
// Without a card these tests are skipped.
#include <gtest/gtest.h>

#include <cmath>

#include "card_tests.hpp"
#include "fwsr/solver/sweep.hpp"
#include "narrow_points.hpp"

namespace {

using fwsr::Index;
using fwsr::MatrixView;
using fwsr::Selection;
using fwsr::SelectOptions;

using card_tests::expect_same;
using card_tests::random_points;

class Cuda : public card_tests::CardTest {};

template <class T>
void compare(Index n, Index d, SelectOptions options, unsigned seed, double offset = 0) {
  const std::vector<T> x = random_points<T>(n, d, seed, offset);
  const MatrixView<const T> view{x.data(), n, d};
  options.assignment = true;
  options.precise = true;
  SelectOptions on_card = options;
  on_card.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  const Selection cpu = fwsr::select(view, options), card = fwsr::select(view, on_card);
  EXPECT_EQ(card.plan.device, "cuda");
  expect_same(card, cpu, 1e-9);
}

TEST_F(Cuda, every_preprocessing_gives_the_picks_of_the_processor) {
  unsigned seed = 1;
  for (const auto center : {fwsr::Center::point, fwsr::Center::feature, fwsr::Center::none})
    for (const auto scale : {fwsr::Scale::none, fwsr::Scale::standard, fwsr::Scale::unit})
      for (const double eta : {0.0, 0.5})
        for (const auto kernel : {fwsr::KernelType::linear, fwsr::KernelType::cosine}) {
          SCOPED_TRACE(testing::Message() << "center " << static_cast<int>(center) << " scale "
                                          << static_cast<int>(scale) << " eta " << eta << " kernel "
                                          << static_cast<int>(kernel) << " seed " << seed);
          SelectOptions o{.exemplars = 12, .eta = eta};
          o.center = center;
          o.scale = scale;
          o.kernel.type = kernel;
          compare<float>(700, 33, o, seed, 3);
          compare<double>(700, 33, o, seed, 3);
          ++seed;
        }
}

TEST_F(Cuda, every_shape_gives_the_picks_of_the_processor) {
  unsigned seed = 100;
  for (const auto& [n, d] : {std::pair<Index, Index>{1, 3},
                             {2, 1},
                             {31, 5},
                             {32, 4},
                             {33, 8},
                             {1000, 16},
                             {999, 129},
                             {3000, 200},
                             {5000, 784},
                             {257, 1000},
                             {20000, 64}})
    for (const Index k : {Index{1}, Index{7}, Index{40}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", k = " << k);
      SelectOptions o{.exemplars = std::min(k, n)};
      compare<float>(n, d, o, seed++);
      compare<double>(n, d, o, seed++);
    }
}

TEST_F(Cuda, radius_growth_and_endings_are_those_of_the_processor) {
  unsigned seed = 200;
  for (const double alpha : {0.0, 0.5, 5.0, 50.0, 500.0})
    for (const auto when : {fwsr::WhenConverged::grow, fwsr::WhenConverged::stop}) {
      SCOPED_TRACE(testing::Message() << "alpha " << alpha << " when " << static_cast<int>(when));
      SelectOptions o{.exemplars = 20, .alpha = alpha};
      o.when_converged = when;
      compare<float>(600, 24, o, seed++);
      compare<double>(600, 24, o, seed++);
    }
}

TEST_F(Cuda, more_exemplars_than_dimensions_end_as_on_the_processor) {
  SelectOptions o{.exemplars = 30};
  compare<double>(400, 12, o, 300);
  compare<float>(400, 12, o, 301);
}

TEST_F(Cuda, exchange_gives_the_exemplars_of_the_processor) {
  for (unsigned seed = 400; seed < 410; ++seed) {
    SelectOptions o{.exemplars = 15};
    o.refine = fwsr::Refine::exchange;
    compare<float>(2000, 40, o, seed);
  }
}

SelectOptions rbf(Index k, Index rank) {
  SelectOptions o{.exemplars = k};
  o.kernel.type = fwsr::KernelType::rbf;
  o.rank = rank;
  return o;
}

TEST_F(Cuda, a_factor_of_rbf_gives_the_picks_of_the_processor) {
  unsigned seed = 420;
  for (const auto& [n, d] : {std::pair<Index, Index>{700, 5}, {3000, 24}, {20000, 100}})
    for (const Index rank : {Index{16}, Index{65}, Index{256}})
      for (const double eta : {0.0, 0.3})
        for (const double width : {0.5, 0.9}) {
          SCOPED_TRACE(testing::Message() << n << " x " << d << ", rank " << rank << ", eta " << eta
                                          << ", quantile " << width << ", seed " << seed);
          SelectOptions o = rbf(12, rank);
          o.eta = eta;
          o.kernel.width = {.times = 2, .quantile = width};
          compare<float>(n, d, o, seed, 2);
          compare<double>(n, d, o, seed++, 2);
        }
}

TEST_F(Cuda, a_factor_leaves_out_what_it_leaves_out_on_the_processor) {
  const std::vector<double> x = random_points<double>(2000, 12, 450);
  const MatrixView<const double> view{x.data(), 2000, 12};
  for (const Index rank : {Index{4}, Index{40}, Index{400}}) {
    SelectOptions o = rbf(3, rank);
    const Selection cpu = fwsr::select(view, o);
    o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
    const Selection card = fwsr::select(view, o);
    EXPECT_EQ(card.kernel_rank, cpu.kernel_rank);
    EXPECT_NEAR(*card.kernel_error, *cpu.kernel_error, 1e-9);
    EXPECT_EQ(card.gamma, cpu.gamma);
    ASSERT_EQ(card.coefficients->basis, cpu.coefficients->basis);
    for (std::size_t l = 0; l < cpu.coefficients->theta.size(); ++l)
      EXPECT_NEAR(card.coefficients->theta[l], cpu.coefficients->theta[l],
                  1e-6 * (1 + std::abs(cpu.coefficients->theta[l])));
  }
}

TEST_F(Cuda, exemplars_move_to_the_middle_as_on_the_processor) {
  for (unsigned seed = 460; seed < 470; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    SelectOptions linear{.exemplars = 9};
    linear.refine = fwsr::Refine::middle;
    compare<double>(1500, 20, linear, seed);
    SelectOptions o = rbf(15, 60);
    o.refine = seed % 2 ? fwsr::Refine::middle : fwsr::Refine::exchange;
    compare<float>(2000, 10, o, seed, 1);
  }
}

TEST_F(Cuda, classes_are_chosen_from_as_on_the_processor) {
  const Index n = 6000, d = 20;
  const std::vector<float> x = random_points<float>(n, d, 480);
  const MatrixView<const float> view{x.data(), n, d};
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.push_back(std::to_string(i * i % 37));
  const fwsr::Labels labels(names);
  const fwsr::ClassCounts counts{.kind = fwsr::ClassCounts::Kind::each, .number = 7};
  for (const Index rank : {Index{0}, Index{20}})
    for (const int threads : {1, 8}) {
      SelectOptions o = rank > 0 ? rbf(1, rank) : SelectOptions{};
      o.threads = threads;
      o.precise = true;
      const auto cpu = fwsr::select_per_class(view, labels, counts, o);
      o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
      const auto card = fwsr::select_per_class(view, labels, counts, o);
      ASSERT_EQ(card.size(), cpu.size());
      for (std::size_t c = 0; c < cpu.size(); ++c) {
        EXPECT_EQ(card[c].name, cpu[c].name);
        EXPECT_EQ(card[c].selection.exemplars, cpu[c].selection.exemplars);
        EXPECT_EQ(card[c].selection.weights, cpu[c].selection.weights);
      }
    }
}

TEST_F(Cuda, settings_of_a_sweep_are_those_of_the_processor) {
  const Index n = 1500, d = 20;
  const std::vector<float> x = random_points<float>(n, d, 490);
  const MatrixView<const float> view{x.data(), n, d};
  for (const Index rank : {Index{0}, Index{30}}) {
    SelectOptions o = rank > 0 ? rbf(6, rank) : SelectOptions{.exemplars = 6};
    o.assignment = o.precise = true;
    const std::vector<fwsr::NumberOrAuto> alphas{fwsr::NumberOrAuto{}, 2.0, 10.0};
    const std::vector<double> etas{0.0, 0.3};
    const auto cpu = fwsr::sweep(view, o, alphas, etas);
    o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
    const auto card = fwsr::sweep(view, o, alphas, etas);
    ASSERT_EQ(card.size(), cpu.size());
    for (std::size_t s = 0; s < cpu.size(); ++s) {
      SCOPED_TRACE(testing::Message() << "rank " << rank << ", setting " << s);
      EXPECT_EQ(card[s].selection.plan.device, "cuda");
      expect_same(card[s].selection, cpu[s].selection, 1e-9);
    }
  }
}

TEST_F(Cuda, a_run_gives_the_same_bits_again) {
  const std::vector<float> x = random_points<float>(20000, 96, 500);
  const MatrixView<const float> view{x.data(), 20000, 96};
  SelectOptions o{.exemplars = 40};
  o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  const Selection one = fwsr::select(view, o), two = fwsr::select(view, o);
  ASSERT_EQ(one.trace.size(), two.trace.size());
  for (std::size_t t = 0; t < one.trace.size(); ++t) {
    EXPECT_EQ(one.trace[t].pick, two.trace[t].pick);
    EXPECT_EQ(one.trace[t].f, two.trace[t].f);
    EXPECT_EQ(one.trace[t].gap, two.trace[t].gap);
  }
  EXPECT_EQ(one.certificate->gap, two.certificate->gap);
  EXPECT_EQ(one.certificate->f, two.certificate->f);
}

TEST_F(Cuda, what_is_not_a_number_is_named) {
  std::vector<float> x = random_points<float>(5000, 20, 600);
  x[4321 * 20 + 7] = std::nanf("");
  const MatrixView<const float> view{x.data(), 5000, 20};
  SelectOptions o{.exemplars = 4};
  o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  try {
    fwsr::select(view, o);
    FAIL() << "was taken";
  } catch (const fwsr::Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 4321 has NaN in feature 7"), std::string::npos)
        << e.what();
  }
}

TEST_F(Cuda, short_answers_are_filled_and_floors_met_with_the_same_points) {
  const Index n = 3000, d = 17;
  for (const Index rank : {Index{0}, Index{40}})
    for (const double eta : {0.0, 0.5})
      for (const bool floors : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << "rank " << rank << ", eta " << eta << ", floors " << floors);
        SelectOptions o = rank > 0 ? rbf(12, rank) : SelectOptions{.exemplars = 12};
        o.eta = eta;
        o.max_iterations = 3;
        o.fill = !floors;
        for (Index i = 0; i < n && floors; ++i) {
          o.conditions.groups.add(i % 4 == 0 ? "a" : i % 4 == 1 ? "b" : "c");
          o.conditions.candidates.push_back(i % 5 != 0);
        }
        if (floors) o.conditions.at_least.each = 3;
        compare<double>(n, d, o, 900);
        compare<float>(n, d, o, 901);
      }
}

TEST_F(Cuda, points_that_do_not_fit_are_read_where_they_are) {
  unsigned seed = 800;
  for (const auto& [n, d] : {std::pair<Index, Index>{20000, 64}, {20000, 61}, {7001, 200}})
    for (const Index rank : {Index{0}, Index{30}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", rank " << rank);
      const std::vector<float> x = random_points<float>(n, d, seed++, 1);
      const MatrixView<const float> view{x.data(), n, d};
      SelectOptions o = rank > 0 ? rbf(12, rank) : SelectOptions{.exemplars = 12};
      o.assignment = o.precise = true;
      o.refine = fwsr::Refine::exchange;
      const Selection cpu = fwsr::select(view, o);
      o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
      // What is beside the points fits; with them it would not.
      const fwsr::Plan whole = fwsr::plan(view, o);
      EXPECT_FALSE(whole.device_reads_host);
      o.device_memory = Index{n * d * 4} + 8 * n * (rank > 0 ? rank + 12 : 12) / 2;
      const fwsr::Plan plan = fwsr::plan(view, o);
      ASSERT_TRUE(plan.device_reads_host);
      EXPECT_LT(plan.device_bytes, whole.device_bytes);
      expect_same(fwsr::select(view, o), cpu, 1e-9);
    }
}

TEST_F(Cuda, numbers_of_one_and_two_bytes_are_used_as_they_are) {
  unsigned seed = 850;
  for (const fwsr::NarrowNumber number : fwsr::all_numbers)
    for (const auto& [n, d] : {std::pair<Index, Index>{3000, 64}, {2000, 61}, {300, 784}, {500, 7}})
      for (const auto scale : {fwsr::Scale::none, fwsr::Scale::standard, fwsr::Scale::unit}) {
        SCOPED_TRACE(testing::Message() << fwsr::name_of(number) << ", " << n << " x " << d
                                        << ", scale " << static_cast<int>(scale));
        const fwsr::Twin twin(number, n, d, seed++);
        SelectOptions o{.exemplars = std::min(d, Index{9})};
        o.scale = scale;
        o.assignment = o.precise = true;
        const Selection cpu = fwsr::select(twin.wide(), o);
        o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
        EXPECT_LT(fwsr::plan(twin.narrow(), o).device_bytes,
                  fwsr::plan(twin.wide(), o).device_bytes);
        expect_same(fwsr::select(twin.narrow(), o), cpu, 1e-9);
      }
}

TEST_F(Cuda, numbers_of_one_and_two_bytes_that_do_not_fit_are_read_where_they_are) {
  const Index n = 30000, d = 100;
  for (const fwsr::NarrowNumber number : fwsr::all_numbers) {
    SCOPED_TRACE(fwsr::name_of(number));
    const fwsr::Twin twin(number, n, d, 900);
    SelectOptions o{.exemplars = 9};
    o.assignment = o.precise = true;
    const Selection cpu = fwsr::select(twin.wide(), o);
    o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
    o.device_memory = n * d * fwsr::bytes_of(number) + 8 * n * 6;
    ASSERT_TRUE(fwsr::plan(twin.narrow(), o).device_reads_host);
    expect_same(fwsr::select(twin.narrow(), o), cpu, 1e-9);
  }
}

TEST_F(Cuda, too_little_memory_is_said_before_it_is_taken) {
  const std::vector<float> x = random_points<float>(50000, 64, 700);
  const MatrixView<const float> view{x.data(), 50000, 64};
  SelectOptions o{.exemplars = 4};
  o.device = {.kind = fwsr::DeviceChoice::Kind::cuda};
  const Selection whole = fwsr::select(view, o);
  const Index points = Index{50000} * 64 * 4;
  for (const Index memory : {Index{1} << 10, points / 16}) {
    o.device_memory = memory;
    EXPECT_THROW(fwsr::select(view, o), fwsr::MemoryError) << memory;
  }
  for (Index memory = points / 8; memory < 4 * points;
       memory += points / 8) {  // wherever it runs out
    o.device_memory = memory;
    try {
      EXPECT_EQ(fwsr::select(view, o).exemplars, whole.exemplars);
    } catch (const fwsr::MemoryError& e) {
      EXPECT_NE(std::string(e.what()).find("card"), std::string::npos) << e.what();
    }
  }
  o.device_memory = Index{4} << 30;
  EXPECT_EQ(fwsr::select(view, o).exemplars, whole.exemplars);
}

}  // namespace
