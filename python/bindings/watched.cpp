#include "python/bindings/watched.hpp"

#include <array>

namespace fwsr::python {

bool Watched::tell(const CompareProgress& progress) {
  std::unique_lock lock(mutex_);
  if (watch_.every_step) {
    // Long set-up tells the same step again and again, to be asked whether to stop.
    const std::array here = {static_cast<Index>(progress.method), progress.trial,
                             progress.run.step};
    const bool fresh = here != last_ && progress.run.step > 0;
    if (fresh && !stopped_) {
      changed_.wait(lock, [&] { return !news_ || stopped_; });  // another class's news
      last_ = here;
      news_ = progress;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !news_ || stopped_; });
    }
  } else {
    news_ = progress;
  }
  return !stopped_;
}

void Watched::look_after_python() {
  using namespace std::chrono_literals;
  auto told = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!done_) {
    changed_.wait_for(lock, 50ms, [&] { return done_ || (watch_.every_step && news_); });
    const auto now = std::chrono::steady_clock::now();
    const bool time_to_tell = watch_.every_step || now - told > 100ms || done_;
    const std::optional<CompareProgress> news = time_to_tell ? news_ : std::nullopt;
    if (stopped_) continue;
    lock.unlock();
    ask_python(news);
    lock.lock();
    if (!news) continue;
    told = now;
    news_.reset();
    changed_.notify_all();
  }
}

void Watched::ask_python(const std::optional<CompareProgress>& news) {
  const nb::gil_scoped_acquire acquired;
  bool stop = false;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (news && !watch_.callback.is_none()) {
      const Progress& p = news->run;
      const nb::object answer = watch_.callback(p.step, p.exemplars, p.wanted, p.f, p.gap,
                                                p.f_at_zero, news->method, news->trial);
      stop = answer.is(nb::borrow(Py_False));
    }
  } catch (...) {
    raised_ = std::current_exception();
    stop = true;
  }
  if (!stop) return;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace fwsr::python
