// Shards that are lost at any moment are made anew from their points and the journal: the run goes on with the same bits.
#include "fwsr/solver/journal.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "fwsr/base/random.hpp"
#include "fwsr/base/row_pieces.hpp"
#include "fwsr/solver/prepared_problem.hpp"
#include "fwsr/solver/sharded_points.hpp"
#include "fwsr/solver/sweep_points.hpp"
#include "problems.hpp"
#include "same.hpp"

namespace {

using fwsr::Bytes;
using fwsr::Index;

constexpr Index n = 4200, d = 6;

/// Float32 points in pieces of any length, which shards borrow where they stand.
class Pieces {
 public:
  explicit Pieces(std::uint64_t seed) {
    fwsr::Rng random(seed);
    for (Index i = 0; i < n * d; ++i) all_.push_back(static_cast<float>(random.normal() + 3));
    for (Index first = 0; first < n;) {
      const auto some = std::min<Index>(n - first, 1 + static_cast<Index>(random.uniform() * 700));
      borders_.push_back(first);
      first += some;
    }
    borders_.push_back(n);
    for (std::size_t p = 0; p + 1 < borders_.size(); ++p)
      apart_.emplace_back(all_.begin() + borders_[p] * d, all_.begin() + borders_[p + 1] * d);
  }

  fwsr::PointsView whole() const { return fwsr::MatrixView<const float>(all_.data(), n, d); }

  fwsr::RowPieces<float> rows(Index first, Index last) const {
    std::vector<fwsr::MatrixView<const float>> some;
    for (std::size_t p = 0; p < apart_.size(); ++p) {
      const Index from = std::max(first, borders_[p]), to = std::min(last, borders_[p + 1]);
      some.emplace_back(apart_[p].data() + (from - borders_[p]) * d, std::max<Index>(0, to - from),
                        d);
    }
    return fwsr::RowPieces<float>(some);
  }

 private:
  std::vector<float> all_;
  std::vector<Index> borders_;
  std::vector<std::vector<float>> apart_;
};

/// Loses a shard now and then, before it is asked or after it has answered.
class Losing final : public fwsr::Transport {
 public:
  Losing(const Pieces& pieces, fwsr::Preprocessing prep, double how_often, std::uint64_t seed)
      : pieces_(pieces), prep_(prep), how_often_(how_often), random_(seed) {
    for (const Index first : {0, 1024, 3072})
      portions_.emplace_back(first, (first == 0 ? 1024 : first == 1024 ? 3072 : n) - first, n);
    for (const auto& p : portions_) rows_.push_back(pieces_.rows(p.first, p.first + p.size));
    for (std::size_t s = 0; s < portions_.size(); ++s) shards_.push_back(made(s));
  }

  std::vector<Bytes> ask(const Bytes& question) override {
    std::vector<Bytes> answers;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      lose(s);
      answers.push_back(fwsr::answer(*shards_[s], question));
    }
    journal_.add(question);
    for (std::size_t s = 0; s < shards_.size(); ++s) lose(s);
    ++asked;
    return answers;
  }

  Index asked = 0, lost = 0;
  const fwsr::Journal& journal() const { return journal_; }

 private:
  std::unique_ptr<fwsr::PointShard> made(std::size_t s) const {
    auto shard = std::make_unique<fwsr::PointShard>(1);
    const fwsr::StreamView<float> view{.source = &rows_[s], .rows = rows_[s].rows(), .cols = d};
    shard->add(0, std::make_unique<fwsr::Points>(view, std::span<const Index>{}, prep_,
                                                 portions_[s], portions_[s].first));
    return shard;
  }
  void lose(std::size_t s) {
    if (random_.uniform() >= how_often_) return;
    ++lost;
    shards_[s] = made(s);
    for (const fwsr::Journal::Entry& e : journal_.entries()) {
      const Bytes reply = fwsr::answer(*shards_[s], e.question);
      fwsr::BytesReader reader(reply);
      fwsr::Outcome outcome{};
      reader(outcome);
      ASSERT_EQ(outcome, fwsr::Outcome::answered);
    }
  }

  const Pieces& pieces_;
  fwsr::Preprocessing prep_;
  double how_often_;
  fwsr::Rng random_;
  std::vector<fwsr::Portion> portions_;
  std::vector<fwsr::RowPieces<float>> rows_;
  std::vector<std::unique_ptr<fwsr::PointShard>> shards_;
  fwsr::Journal journal_;
};

const fwsr::PointsShape shape{.size = n, .features = d, .sparse = false, .single = true};

/// run(shards) with shards that are never lost, and with shards that often are.
template <class Run, class Same>
void compare(const Pieces& pieces, const fwsr::Preprocessing& prep, Run&& run, Same&& same,
             Index lists = 0) {
  const auto with = [&](double how_often, std::uint64_t seed) {
    auto transport = std::make_unique<Losing>(pieces, prep, how_often, seed);
    const Losing& there = *transport;
    auto shards = std::make_shared<fwsr::RemoteShards>(std::move(transport));
    auto found = run(shards);
    EXPECT_GE(there.lost, how_often > 0 ? there.asked / 20 : 0);
    // What no longer matters is struck out; lists are of all points.
    EXPECT_LT(there.journal().bytes(), 20000 + lists * 8 * n);
    return found;
  };
  const auto kept = with(0, 1);
  for (const std::uint64_t seed : {2U, 3U}) same(with(0.05, seed), kept);
}

TEST(Journal, brings_back_shards_that_are_lost_while_exemplars_are_chosen) {
  const Pieces pieces(1);
  for (const auto center : {fwsr::Center::point, fwsr::Center::feature})
    for (const double eta : {0.0, 0.7}) {
      const fwsr::SelectOptions options{.exemplars = 8,
                                        .alpha = 0,
                                        .eta = eta,
                                        .center = center,
                                        .scale = fwsr::Scale::standard,
                                        .codes = true,
                                        .assignment = true,
                                        .threads = 1};
      compare(
          pieces, fwsr::preprocessing_of(options),
          [&](const auto& shards) { return fwsr::select_sharded(shards, shape, options); },
          [](const auto& found, const auto& kept) { same::expect_same(found, kept); });
    }
}

TEST(Journal, brings_back_shards_that_are_lost_while_exemplars_are_exchanged_and_moved) {
  const Pieces pieces(2);
  fwsr::SelectOptions options{
      .exemplars = 5, .refine = fwsr::Refine::middle, .assignment = true, .threads = 1};
  for (const bool conditions : {false, true}) {
    if (conditions) {
      options.refine = fwsr::Refine::exchange;
      options.conditions.included = {5, 2000};
      options.conditions.costs.assign(static_cast<std::size_t>(n), 1.0);
      options.conditions.costs[7] = 2;
    }
    compare(
        pieces, fwsr::preprocessing_of(options),
        [&](const auto& shards) { return fwsr::select_sharded(shards, shape, options); },
        [](const auto& found, const auto& kept) {
          same::expect_same(found, kept);
          EXPECT_EQ(found.refinement->after, kept.refinement->after);
        },
        conditions ? 2 : 0);
  }
}

TEST(Journal, brings_back_shards_that_are_lost_while_an_answer_is_filled) {
  const Pieces pieces(5);
  for (const bool floors : {false, true}) {
    fwsr::SelectOptions options{
        .exemplars = 12, .fill = !floors, .max_iterations = 3, .assignment = true, .threads = 1};
    for (Index i = 0; i < n && floors; ++i) options.conditions.groups.add(i % 3 == 0 ? "a" : "b");
    if (floors) options.conditions.at_least.each = 5;
    compare(
        pieces, fwsr::preprocessing_of(options),
        [&](const auto& shards) { return fwsr::select_sharded(shards, shape, options); },
        [](const auto& found, const auto& kept) {
          same::expect_same(found, kept);
          EXPECT_TRUE(found.filled.back());
        },
        floors ? 2 : 0);
  }
}

TEST(Journal, brings_back_shards_that_are_lost_in_a_sweep) {
  const Pieces pieces(3);
  const fwsr::SelectOptions options{.exemplars = 4, .assignment = true, .threads = 1};
  compare(
      pieces, fwsr::without_eta(options),
      [&](const auto& shards) {
        return fwsr::sweep_sharded(shards, shape, options, {fwsr::NumberOrAuto{}, 2.0}, {0, 0.5});
      },
      [](const auto& found, const auto& kept) {
        ASSERT_EQ(found.size(), kept.size());
        for (std::size_t e = 0; e < found.size(); ++e)
          same::expect_same(found[e].selection, kept[e].selection);
      });
}

TEST(Journal, strikes_out_a_run_that_is_forgotten) {
  const auto bytes = [](auto question) {
    fwsr::BytesWriter writer;
    std::int32_t number = fwsr::Questions::number<decltype(question)>();
    writer(number, question);
    return writer.take();
  };
  fwsr::Journal journal;
  EXPECT_EQ(journal.add(bytes(fwsr::LargestScore{.run = 1})), -1);
  EXPECT_GE(journal.add(bytes(fwsr::BeginRun{.set = 0, .covariance = 9, .run = 1})), 0);
  fwsr::Advance::Step step;
  step.run = 1;
  step.covariance = 9;
  EXPECT_GE(journal.add(bytes(fwsr::Advance{.set = 0, .steps = {step}})), 0);
  EXPECT_GE(journal.add(bytes(fwsr::Rescore{.run = 1, .c = {}, .e = {}})), 0);
  EXPECT_EQ(journal.entries().size(), 2u);  // the step is in the scores
  const fwsr::Forget of_covariance{.what = fwsr::Forget::What::covariance, .id = 9};
  EXPECT_GE(journal.add(bytes(of_covariance)), 0);  // the run was begun with it
  EXPECT_EQ(journal.add(bytes(fwsr::Forget{.what = fwsr::Forget::What::run, .id = 1})), -1);
  EXPECT_EQ(journal.entries().size(), 1u);
}

TEST(Journal, knows_what_a_question_does_from_its_bytes) {
  const auto facts = [](auto question) {
    fwsr::BytesWriter writer;
    std::int32_t number = fwsr::Questions::number<decltype(question)>();
    writer(number, question);
    return fwsr::facts_of_question(writer.take());
  };
  EXPECT_TRUE(facts(fwsr::Advance{}).changes);
  EXPECT_TRUE(facts(fwsr::Advance{}).tells);
  EXPECT_FALSE(facts(fwsr::LargestScore{}).changes);
  EXPECT_FALSE(facts(fwsr::LargestScore{}).tells);
  EXPECT_FALSE(facts(fwsr::Lead{}).changes);
  EXPECT_FALSE(facts(fwsr::Lead{}).tells);
  EXPECT_TRUE(facts(fwsr::OfSet<fwsr::ScanPoints>{}).changes);
  EXPECT_FALSE(fwsr::facts_of_question(Bytes(4, std::byte{0x7f})).known);
}

TEST(Points, in_pieces_are_those_in_one_piece) {
  const Pieces pieces(4);
  const fwsr::RowPieces<float> rows = pieces.rows(0, n);
  const fwsr::PointsView apart = fwsr::StreamView<float>{.source = &rows, .rows = n, .cols = d};
  const fwsr::SelectOptions options{
      .exemplars = 6, .codes = true, .assignment = true, .threads = 2};
  same::expect_same(fwsr::select(apart, options), fwsr::select(pieces.whole(), options));
}

}  // namespace
