// The first of those whose score is the largest but for a width, from scores that are told one after the other.
#pragma once

#include <vector>

#include "fwsr/base/index.hpp"

namespace fwsr {

/// As first_largest (ties.hpp), without all scores at hand: only a score above all before it can come to be the first.
class FirstBest {
 public:
  explicit FirstBest(double width) : width_(width) {}
  /// @pre indices come in ascending order
  void tell(Index i, double score) {
    if (!(score > most_)) return;
    most_ = score;
    rising_.push_back({i, score});
    const double enough = most_ - width_ * most_;
    std::size_t gone = 0;
    while (rising_[gone].score < enough) ++gone;
    rising_.erase(rising_.begin(), rising_.begin() + static_cast<Index>(gone));
  }
  double most() const { return most_; }
  /// -1 when none was positive.
  Index index() const { return rising_.empty() ? -1 : rising_.front().index; }

 private:
  struct Told {
    Index index;
    double score;
  };
  double width_, most_ = 0;
  std::vector<Told> rising_;  // all within the width of the last
};

}  // namespace fwsr
