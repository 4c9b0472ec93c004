// Points on a card: the PointSet whose one shard is a CudaShard, asked directly.
#pragma once

#include <memory>

#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/solver/asked_shard.hpp"
#include "fwsr/solver/learnt_points.hpp"

namespace fwsr::cuda {

class OneCard : public AskedShard<CudaShard> {
 public:
  using AskedShard::AskedShard;
  static constexpr bool holds_covariance = true;
  std::vector<double> products(Index set, const std::vector<Index>& points) {
    return shard().products(set, points);
  }
};

class CudaPoints final : public LearntPoints<OneCard> {
 public:
  using LearntPoints::LearntPoints;
  /// All products on a card are in double.
  std::shared_ptr<const Covariance> covariance(bool) override {
    std::shared_ptr<const Covariance> found = LearntPoints::covariance(false);
    shards()->shard().keep(*found);
    return found;
  }
  std::optional<Among> among(const Covariance& covariance,
                             std::span<const Index> points) const override {
    if (!included().empty()) return std::nullopt;  // the card has the points as they are
    return shards()->shard().among(set(), covariance.id, points);
  }
};

}  // namespace fwsr::cuda
