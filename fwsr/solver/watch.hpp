// Watching a run: one observer, asked from any thread, one at a time. Who has said stop, or has thrown, is never asked
// again: everybody who asks after that hears the same answer. Who has said finish is not asked again until the
// exchanges have ended.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

#include "fwsr/base/blocks.hpp"
#include "fwsr/base/index.hpp"
#include "fwsr/solver/exchange.hpp"
#include "fwsr/solver/selection.hpp"

namespace fwsr {

class Watch {
 public:
  Watch(Observer observer, Index wanted) : observer_(std::move(observer)) {
    latest_.wanted = wanted;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Brings what is told up to date by change(progress), and asks. Throws what the observer threw.
  template <class Change>
  Reply tell(Change&& change) {
    if (!observer_) return true;
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    change(latest_);
    try {
      if (!stopped_ && !finishes()) ask();
    } catch (...) {
      error_ = std::current_exception();
      stopped_ = true;
      throw;
    }
    return stopped_ ? Reply::stop : finishes() ? Reply::finish : Reply::go_on;
  }
  /// From now on this is what is told; nobody is asked.
  void enter(Progress::Stage stage) {
    const std::lock_guard lock(mutex_);
    latest_.stage = stage;
  }
  bool go_on() {
    return tell([](Progress&) {}).kind() == Reply::go_on;
  }
  /// For long work to ask; exchanges are told to end when they are to finish. The watch must outlive it.
  KeepGoing keep_going() {
    return observer_ ? KeepGoing([this] { return go_on(); }) : KeepGoing{};
  }
  /// Told how many exchanges there were, and asked. The watch must outlive it.
  WatchExchange exchanges() {
    return [this](Index, Index made, double) {
      return tell([made](Progress& told) { told.exchanges = made; }).kind() == Reply::go_on;
    };
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  bool in_exchanges() const { return latest_.stage == Progress::Stage::exchange; }
  bool finishes() const { return told_to_finish_ && in_exchanges(); }
  void ask() {
    const Reply reply = observer_(latest_);
    stopped_ = !reply;
    told_to_finish_ = reply.kind() == Reply::finish && in_exchanges();
  }

  const Observer observer_;
  mutable std::mutex mutex_;
  Progress latest_;
  bool stopped_ = false, told_to_finish_ = false;
  std::exception_ptr error_;
};

/// The numbers of a step in the user's units.
inline Progress in_units(Progress p, double unit) {
  for (double* v : {&p.f, &p.gap, &p.f_at_zero}) *v = *v / unit / unit;
  return p;
}

}  // namespace fwsr
