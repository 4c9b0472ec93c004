// How far points are from all exemplars, wherever they live: every shard keeps that of its own (distances.hpp).
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "fwsr/solver/asked_rows.hpp"
#include "fwsr/solver/point_set.hpp"

namespace fwsr {

template <class Shards>
class GatheredDistances final : public PointDistances {
 public:
  /// Of set number `set`, whose points have `dim` numbers. `run`: a number that nothing else has had.
  GatheredDistances(std::shared_ptr<Shards> shards, Index set, Index dim, Index run)
      : shards_(std::move(shards)), set_(set), dim_(dim), run_(run) {}
  ~GatheredDistances() override { forget(*shards_, Forget::What::run, run_); }

  void lower(std::span<const Index> exemplars) override {
    const AskedRows found = ask_rows(*shards_, set_, {exemplars.begin(), exemplars.end()}, dim_);
    shards_->ask(LowerDistances{.set = set_,
                                .run = run_,
                                .exemplars = {exemplars.begin(), exemplars.end()},
                                .rows = found.rows,
                                .squares = found.squares});
  }
  void permit(std::span<const double> prices) override {
    shards_->ask(SetPrices{.run = run_, .prices = prices});
  }
  Index farthest() override {
    double most = -std::numeric_limits<double>::infinity();
    for (const double s : shards_->ask(LargestScore{.run = run_})) most = std::max(most, s);
    if (most == -std::numeric_limits<double>::infinity()) return -1;
    for (const auto& found : shards_->ask(FirstScore{.run = run_, .enough = most}))
      if (found.point >= 0) return found.point;
    return -1;
  }

 private:
  std::shared_ptr<Shards> shards_;
  Index set_, dim_, run_;
};

}  // namespace fwsr
