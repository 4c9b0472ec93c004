// One shard that is asked directly: all shards of points that lie in one place.
#pragma once

#include <utility>
#include <vector>

namespace fwsr {

template <class Shard>
class AskedShard {
 public:
  template <class... Arguments>
  explicit AskedShard(Arguments&&... arguments) : shard_(std::forward<Arguments>(arguments)...) {}
  Shard& shard() { return shard_; }
  const Shard& shard() const { return shard_; }

  template <class Question>
  std::vector<typename Question::Reply> ask(const Question& question) {
    std::vector<typename Question::Reply> replies;
    replies.push_back(shard_.answer(question));
    return replies;
  }

 private:
  Shard shard_;
};

}  // namespace fwsr
