// Watching a run: one observer, asked from any thread, one at a time. Who has said stop, or has thrown, is never asked
// again: everybody who asks after that hears the same answer.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

class Watch {
 public:
  Watch(Observer observer, Index wanted) : observer_(std::move(observer)) {
    latest_.wanted = wanted;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Brings what is told up to date by change(progress), and asks. False: stop. Throws what the observer threw.
  template <class Change>
  bool tell(Change&& change) {
    if (!observer_) return true;
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    change(latest_);
    try {
      stopped_ = stopped_ || !observer_(latest_);
    } catch (...) {
      error_ = std::current_exception();
      stopped_ = true;
      throw;
    }
    return !stopped_;
  }
  /// From now on this is what is told; nobody is asked.
  void enter(Progress::Stage stage) {
    const std::lock_guard lock(mutex_);
    latest_.stage = stage;
  }
  bool go_on() {
    return tell([](Progress&) {});
  }
  /// For long work to ask. The watch must outlive it.
  KeepGoing keep_going() {
    return observer_ ? KeepGoing([this] { return go_on(); }) : KeepGoing{};
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  const Observer observer_;
  mutable std::mutex mutex_;
  Progress latest_;
  bool stopped_ = false;
  std::exception_ptr error_;
};

/// The numbers of a step in the user's units.
inline Progress in_units(Progress p, double unit) {
  for (double* v : {&p.f, &p.gap, &p.f_at_zero}) *v = *v / unit / unit;
  return p;
}

}  // namespace fwsr
