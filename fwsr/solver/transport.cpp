#include "fwsr/solver/transport.hpp"

#include "fwsr/solver/answer.hpp"

namespace fwsr {

namespace {

class PointsInBytes final : public ByteShard {
 public:
  explicit PointsInBytes(std::unique_ptr<PointShard> shard) : shard_(std::move(shard)) {}
  Bytes answer(std::span<const std::byte> question) noexcept override {
    return answer_in_bytes(*shard_, question);
  }

 private:
  std::unique_ptr<PointShard> shard_;
};

}  // namespace

Bytes answer(PointShard& shard, std::span<const std::byte> question) noexcept {
  return answer_in_bytes(shard, question);
}

std::unique_ptr<ByteShard> in_bytes(std::unique_ptr<PointShard> shard) {
  return std::make_unique<PointsInBytes>(std::move(shard));
}

std::vector<Bytes> InProcess::ask(const Bytes& question) {
  std::vector<Bytes> answers;
  for (const auto& shard : shards_) answers.push_back(shard->answer(question));
  return answers;
}

}  // namespace fwsr
