// A time limit inside long work: where it counts, who asks whether to go on hears no when the time is over.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "fwsr/base/keep_going.hpp"
#include "fwsr/solver/clock.hpp"

namespace fwsr {

class TimeLimit {
 public:
  enum class Counts {
    never,  // who works looks at the clock himself, or may take all the time it takes
    at_once,
    after_second,  // work that takes less than a second is worth its end
  };

  TimeLimit(std::optional<double> seconds, Clock::time_point start)
      : seconds_(seconds), start_(start) {}
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  bool over() const { return seconds_ && seconds_since(start_) >= *seconds_; }
  /// Whether work in progress ends when the time is over; never at first.
  void count(Counts counts) { counts_ = counts; }
  /// `other`, and no when the time is over and counts. The limit must outlive it.
  KeepGoing beside(KeepGoing other) const {
    if (!seconds_) return other;
    return [this, other = std::move(other)] { return !ends_work() && (!other || other()); };
  }

 private:
  bool ends_work() const {
    const Counts counts = counts_;
    return counts != Counts::never && over() &&
           (counts == Counts::at_once || seconds_since(start_) >= 1);
  }

  std::optional<double> seconds_;
  Clock::time_point start_;
  std::atomic<Counts> counts_ = Counts::never;
};

}  // namespace fwsr
