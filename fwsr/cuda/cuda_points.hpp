// Points on a card: the PointSet whose one shard is a CudaShard, asked directly.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fwsr/cuda/cuda_shard.hpp"
#include "fwsr/solver/learnt_points.hpp"

namespace fwsr::cuda {

class OneCard {
 public:
  OneCard(std::shared_ptr<Device> device, KeepGoing keep_going)
      : shard_(std::move(device), std::move(keep_going)) {}
  CudaShard& shard() { return shard_; }

  template <class Question>
  std::vector<typename Question::Reply> ask(const Question& question) {
    std::vector<typename Question::Reply> replies;
    replies.push_back(shard_.answer(question));
    return replies;
  }

 private:
  CudaShard shard_;
};

class CudaPoints final : public LearntPoints<OneCard> {
 public:
  using LearntPoints::LearntPoints;
  /// All products on a card are in double.
  std::shared_ptr<const Covariance> covariance(bool) override {
    return LearntPoints::covariance(false);
  }
};

}  // namespace fwsr::cuda
