#include "python/bindings/watched.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <utility>

#include "python/bindings/options.hpp"

namespace fwsr::python {

namespace {

std::atomic<Index> live = 0;
std::atomic<bool> closing = false;
std::thread::id ending_thread;  // the thread that ends Python, once `closing`

}  // namespace

Live::Live() {
  if (closing && ending_thread == std::this_thread::get_id())
    throw Stopped("Python is about to exit");
  ++live;
  if (!closing) return;
  const nb::gil_scoped_release released;
  stay_if_ending();
}
Live::~Live() {
  --live;
}

bool Live::ending() {
  return closing;
}

void Live::stay_if_ending() {
  if (!closing) return;
  --live;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void stop_all() {
  ending_thread = std::this_thread::get_id();
  closing = true;
  const nb::gil_scoped_release released;
  while (live > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void stop_all_at_exit() {
  pthread_atfork(nullptr, nullptr, [] { live = 0; });
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(stop_all));
}

bool Watched::tell(const CompareProgress& progress) {
  std::unique_lock lock(mutex_);
  const auto heard = [&] { return !waiting_ || stopped_; };
  changed_.wait(lock, heard);  // the news of another class
  news_ = progress;
  // Long work tells the same step again and again, to be asked whether to stop.
  const std::array here = {static_cast<Index>(progress.method), progress.trial, progress.run.step,
                           static_cast<Index>(progress.run.stage)};
  if (!watch_.every_step || stopped_ || here == last_ || progress.run.step == 0) return !stopped_;
  last_ = here;
  waiting_ = true;
  changed_.notify_all();
  changed_.wait(lock, heard);
  return !stopped_;
}

void Watched::look_after_python() {
  using namespace std::chrono_literals;
  auto told = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!done_ && !stopped_) {
    changed_.wait_for(lock, 20ms, [&] { return done_ || waiting_; });
    const auto now = std::chrono::steady_clock::now();
    std::optional<CompareProgress> news;
    const bool waited = waiting_;  // steps that come while Python is asked are told next
    if (waited || now - told > 100ms) {
      news = std::exchange(news_, std::nullopt);
      told = now;
    }
    lock.unlock();
    const bool go_on = ask_python(news);
    lock.lock();
    stopped_ = !go_on;
    if (waited) waiting_ = false;
    changed_.notify_all();
  }
}

bool Watched::ask_python(const std::optional<CompareProgress>& news) {
  if (closing) return false;
  const nb::gil_scoped_acquire acquired;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!news || watch_.callback.is_none()) return true;
    const Progress& p = news->run;
    const nb::object answer =
        watch_.callback(p.step, p.exemplars, p.wanted, p.f, p.gap, p.f_at_zero, news->method,
                        news->trial, name_of(p.stage));
    return truth(answer).value_or(true);  // None goes on
  } catch (...) {
    raised_ = std::current_exception();
    broken_off_ = true;
    return false;
  }
}

}  // namespace fwsr::python
