// Points cut among several cards, here one card several times: the picks of one card and of the processor, however they are
// cut. Without a card these tests are skipped.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "card_tests.hpp"
#include "fwsr/solver/on_card.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "sharded.hpp"

namespace {

using namespace card_tests;
using fwsr::MatrixView;
using sharding::at;

class CardShards : public CardTest {};

std::shared_ptr<fwsr::RemoteShards> on_cards(const fwsr::PointsView& view,
                                             const fwsr::Preprocessing& prep,
                                             const std::vector<fwsr::Portion>& portions) {
  std::vector<std::unique_ptr<fwsr::ByteShard>> shards;
  for (const fwsr::Portion& p : portions)
    shards.push_back(fwsr::shard_on_card(sharding::slice(view, p.first, p.size), {}, prep, p,
                                         p.first, {.number = 0, .memory = 0}, 1));
  return std::make_shared<fwsr::RemoteShards>(std::make_unique<fwsr::InProcess>(std::move(shards)));
}

/// Even, uneven, with a short last one, and with some that hold nothing.
std::vector<std::vector<fwsr::Portion>> cuts(Index n) {
  const auto cut = [&](const std::vector<Index>& borders) {
    std::vector<fwsr::Portion> portions;
    for (std::size_t s = 0; s + 1 < borders.size(); ++s) {
      const Index first = std::min(n, borders[s] * 1024), last = std::min(n, borders[s + 1] * 1024);
      portions.emplace_back(first, last - first, n);
    }
    return portions;
  };
  const Index all = fwsr::block_count(n, 1024);
  return {cut({0, all}), cut({0, all / 2, all}), cut({0, 1, all}), cut({0, all - 1, all}),
          cut({0, 0, 1, 1, all})};
}

Selection sharded(const fwsr::PointsView& view, const SelectOptions& o,
                  const std::vector<fwsr::Portion>& portions) {
  return fwsr::select_sharded(on_cards(view, fwsr::preprocessing_of(o), portions),
                              sharding::shape_of(view, fwsr::rows_of(view)), o);
}

SelectOptions rbf(Index k, Index rank) {
  SelectOptions o{.exemplars = k, .kernel = {.type = fwsr::KernelType::rbf}, .rank = rank};
  return o;
}

/// As the processor chooses where it works in double, and as one card does.
template <class T>
void compare(Index n, Index d, SelectOptions o, unsigned seed) {
  const std::vector<T> x = random_points<T>(n, d, seed, 2);
  const MatrixView<const T> view{x.data(), n, d};
  o.assignment = true;
  o.precise = o.rank > 0;  // rows of a factor in float32 round by how the points are cut
  const Selection card = fwsr::select(view, on_card(o));
  SelectOptions wide = o;
  wide.precise = true;
  const Selection cpu = fwsr::select(view, wide);
  for (const auto& portions : cuts(n)) {
    SCOPED_TRACE(testing::Message()
                 << portions.size() << " shards, the first with " << portions.front().size);
    const Selection found = sharded(view, o, portions);
    expect_same(found, card, 1e-9);
    expect_same(found, cpu, 1e-9);
    if (found.refinement) {
      EXPECT_NEAR(found.refinement->after, card.refinement->after, 1e-9 * card.refinement->after);
    }
  }
}

TEST_F(CardShards, give_the_picks_of_one_card_and_of_the_processor_however_prepared) {
  unsigned seed = 1;
  for (const auto center : {fwsr::Center::point, fwsr::Center::feature, fwsr::Center::none})
    for (const auto scale : {fwsr::Scale::none, fwsr::Scale::standard, fwsr::Scale::unit})
      for (const double eta : {0.0, 0.5})
        for (const auto kernel : {fwsr::KernelType::linear, fwsr::KernelType::cosine}) {
          SCOPED_TRACE(testing::Message() << "seed " << seed);
          SelectOptions o{.exemplars = 8, .eta = eta};
          o.center = center;
          o.scale = scale;
          o.kernel.type = kernel;
          compare<float>(4200, 17, o, seed);
          compare<double>(4200, 17, o, seed);
          ++seed;
        }
}

TEST_F(CardShards, choose_by_a_factor) {
  for (const auto refine : {fwsr::Refine::none, fwsr::Refine::exchange, fwsr::Refine::middle})
    for (const double eta : {0.0, 0.3}) {
      SelectOptions o = rbf(9, 40);
      o.refine = refine;
      o.eta = eta;
      compare<float>(4200, 12, o, 50);
      compare<double>(4200, 12, o, 51);
    }
}

TEST_F(CardShards, exchange_and_move_the_same_exemplars) {
  for (const auto refine : {fwsr::Refine::exchange, fwsr::Refine::middle}) {
    SelectOptions o{.exemplars = 9};
    o.refine = refine;
    compare<float>(4200, 12, o, 60);
    compare<double>(5000, 30, o, 61);
  }
}

TEST_F(CardShards, keep_all_conditions_and_fill_short_answers) {
  const Index n = 4200;
  for (const bool fill : {false, true}) {
    SelectOptions o{.exemplars = 8};
    o.max_iterations = fill ? std::optional<Index>(3) : std::nullopt;
    o.fill = fill;
    if (!fill) o.refine = fwsr::Refine::exchange;
    for (Index i = 0; i < n; ++i) {
      o.conditions.candidates.push_back(i > 1100 && i % 3 != 0);  // a shard may have none
      o.conditions.weights.push_back(0.5 + static_cast<double>(i % 7));
      o.conditions.costs.push_back(1 + static_cast<double>(i % 2));
      o.conditions.groups.add(i % 4 == 0 ? "a" : i % 4 == 1 ? "b" : "c");
    }
    o.conditions.included = {0, 2000};
    o.conditions.at_least.each = 2;
    o.conditions.at_most.each = 4;
    compare<float>(n, 15, o, 70);
    compare<double>(n, 15, o, 71);
  }
  SelectOptions o = rbf(9, 40);
  o.max_iterations = 3;
  o.fill = true;
  compare<double>(n, 7, o, 72);
}

TEST_F(CardShards, choose_more_than_there_are_dimensions) {
  // Scores and the certificate are computed anew.
  SelectOptions o{.exemplars = 12, .alpha = 0};
  o.center = fwsr::Center::none;
  const Index n = 2100, d = 4;
  const std::vector<double> x = random_points<double>(n, d, 80);
  const MatrixView<const double> view{x.data(), n, d};
  const Selection cpu = fwsr::select(view, o);
  for (const auto& portions : cuts(n)) {
    const Selection found = sharded(view, o, portions);
    const Parting where = parting(found, cpu, 1e-6);
    EXPECT_TRUE(where.same || where.by_rounding || where.step >= 4) << "step " << where.step;
    EXPECT_NEAR(found.certificate->f, cpu.certificate->f, 1e-9 * cpu.f_at_zero);
  }
}

TEST_F(CardShards, share_the_passes_of_a_sweep) {
  const Index n = 4200, d = 9;
  const std::vector<float> x = random_points<float>(n, d, 90);
  const MatrixView<const float> view{x.data(), n, d};
  SelectOptions o{.exemplars = 5, .eta_relative = true};
  o.assignment = true;
  const std::vector<fwsr::NumberOrAuto> alphas{fwsr::NumberOrAuto{}, 2.0};
  const std::vector<double> etas{0, 0.5};
  SelectOptions wide = o;
  wide.precise = true;
  const auto cpu = fwsr::sweep(view, wide, alphas, etas);
  for (const auto& portions : cuts(n)) {
    const auto found = fwsr::sweep_sharded(on_cards(view, fwsr::without_eta(o), portions),
                                           sharding::shape_of(view, n), o, alphas, etas);
    ASSERT_EQ(found.size(), cpu.size());
    for (std::size_t s = 0; s < cpu.size(); ++s)
      expect_same(found[s].selection, cpu[s].selection, 1e-9);
  }
}

TEST_F(CardShards, give_the_same_bits_again) {
  const Index n = 20000, d = 40;
  const std::vector<float> x = random_points<float>(n, d, 95);
  const MatrixView<const float> view{x.data(), n, d};
  SelectOptions o{.exemplars = 20};
  o.refine = fwsr::Refine::exchange;
  const auto portions = cuts(n)[1];
  const Selection one = sharded(view, o, portions), two = sharded(view, o, portions);
  ASSERT_EQ(one.trace.size(), two.trace.size());
  for (std::size_t t = 0; t < one.trace.size(); ++t) {
    EXPECT_EQ(one.trace[t].pick, two.trace[t].pick);
    EXPECT_EQ(one.trace[t].f, two.trace[t].f);
    EXPECT_EQ(one.trace[t].gap, two.trace[t].gap);
  }
  EXPECT_EQ(one.exemplars, two.exemplars);
  EXPECT_EQ(one.certificate->gap, two.certificate->gap);
  EXPECT_EQ(one.certificate->f, two.certificate->f);
}

TEST_F(CardShards, name_what_is_not_a_number_by_its_place_among_all) {
  const Index n = 5000, d = 3;
  std::vector<double> x = random_points<double>(n, d, 97);
  x[at(4321 * d + 1)] = std::nan("");
  const MatrixView<const double> view{x.data(), n, d};
  try {
    sharded(view, {.exemplars = 2}, cuts(n)[1]);
    FAIL() << "nothing was refused";
  } catch (const fwsr::Error& e) {
    EXPECT_NE(std::string(e.what()).find("point 4321 has NaN in feature 1"), std::string::npos)
        << e.what();
  }
}

TEST(CardShardsWithoutCard, say_what_is_missing) {
  if (!fwsr::find_cards().names.empty()) GTEST_SKIP() << "there is a card";
  const std::vector<double> x(8, 1.0);
  EXPECT_THROW(fwsr::shard_on_card(MatrixView<const double>{x.data(), 4, 2}, {}, {}, 4, 0, {}, 1),
               fwsr::Error);
}

}  // namespace
