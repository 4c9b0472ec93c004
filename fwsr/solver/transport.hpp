// Questions (questions.hpp) to shards that may live anywhere, as bytes. A Transport carries them, and knows nothing of
// what they say; another way to reach shards is another Transport.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fwsr/base/archive.hpp"
#include "fwsr/base/result.hpp"
#include "fwsr/solver/messages.hpp"
#include "fwsr/solver/point_shard.hpp"

namespace fwsr {

class Transport {
 public:
  virtual ~Transport() = default;
  /// Every shard answers every question; the answers come in the order of the shards. Throws Error when one cannot be
  /// reached.
  virtual std::vector<Bytes> ask(const Bytes& question) = 0;
};

/// What a shard says to a question (answer.hpp). Never throws: what went wrong is part of the answer.
Bytes answer(PointShard& shard, std::span<const std::byte> question) noexcept;

/// A shard of any kind, asked in bytes.
class ByteShard {
 public:
  virtual ~ByteShard() = default;
  virtual Bytes answer(std::span<const std::byte> question) noexcept = 0;
};
std::unique_ptr<ByteShard> in_bytes(std::unique_ptr<PointShard> shard);

/// Shards in this process, reached by bytes as others are: for tests, and as the oracle of other transports. One thread
/// asks at a time.
class InProcess final : public Transport {
 public:
  explicit InProcess(std::vector<std::unique_ptr<ByteShard>> shards) : shards_(std::move(shards)) {}
  std::vector<Bytes> ask(const Bytes& question) override;

 private:
  std::vector<std::unique_ptr<ByteShard>> shards_;
};

/// Asks all shards of a transport. Throws what the first of them threw.
class RemoteShards {
 public:
  /// Every question takes its time to get there: few are better (GatheredPoints).
  static constexpr bool far = true;

  explicit RemoteShards(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}
  template <class Question>
  std::vector<typename Question::Reply> ask(const Question& question);

 private:
  std::unique_ptr<Transport> transport_;
  std::mutex mutex_;
};

template <class Question>
std::vector<typename Question::Reply> RemoteShards::ask(const Question& question) {
  const std::lock_guard lock(mutex_);
  BytesWriter writer;
  std::int32_t number = Questions::number<Question>();
  writer(number, const_cast<Question&>(question));  // NOLINT: writing changes nothing
  std::vector<typename Question::Reply> replies;
  for (const Bytes& bytes : transport_->ask(writer.take())) {
    BytesReader reader(bytes);
    Outcome outcome = Outcome::error;
    reader(outcome);
    if (outcome == Outcome::answered) {
      replies.emplace_back();
      reader(replies.back());
      continue;
    }
    std::string what;
    reader(what);
    if (outcome == Outcome::interrupted) throw Interrupted{};
    if (outcome == Outcome::memory_error) throw MemoryError(what);
    throw Error(what);
  }
  return replies;
}

}  // namespace fwsr
